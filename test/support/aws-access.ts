import type { AwsAccess, AwsCredentials } from '../../lib/base/aws-client.ts';
import { createTransport } from '../../lib/base/transport.ts';

/** The options of an SDK client of AWS, as far as both kinds of client need them. */
interface SdkOptions {
  readonly endpoint: string;
  readonly region: string;
  readonly credentials: AwsCredentials;
}

/** What the relay's own clients need to call what an SDK client calls with these options. */
export function accessOf({ endpoint, region, credentials }: SdkOptions): AwsAccess {
  return openAccess(endpoint, { region, credentials: async () => credentials });
}

/** What a client needs to call services at another address than AWS's. Who opens it closes its transport. */
export function openAccess(endpoint: string, options: Partial<AwsAccess> = {}): AwsAccess {
  return {
    transport: createTransport(),
    region: 'eu-central-1',
    credentials: async () => ({ accessKeyId: 'a', secretAccessKey: 'b' }),
    endpoint,
    // Generous: nothing here is to fail because the machine is busy.
    connectTimeoutMs: 10_000,
    timeoutMs: 20_000,
    ...options,
  };
}
