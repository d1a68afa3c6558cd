import type { AwsAccess } from '../base/aws-client.ts';
import { createTransport } from '../base/transport.ts';
import { type Environment, readVariable } from './environment.ts';

/** AWS responds within tens of milliseconds, so a request that takes a hundred times as long is sent again. */
const awsTimes = { connectTimeoutMs: 1000, timeoutMs: 2000 } as const;
const awsAttempts = 3;

/**
 * How a function reaches AWS, with its own role, whose credentials Lambda puts into its environment.
 *
 * @see https://docs.aws.amazon.com/lambda/latest/dg/configuration-envvars.html#configuration-envvars-runtime
 * @throws RelayError `config_invalid` when an environment variable is
 */
export function accessOf(environment: Environment): AwsAccess {
  return {
    // One for the exchange and for AWS.
    transport: createTransport(),
    region: readVariable(environment, 'AWS_REGION'),
    // Set by tests only.
    endpoint: environment['AWS_ENDPOINT_URL'],
    credentials: async () => ({
      accessKeyId: readCredential(environment, 'AWS_ACCESS_KEY_ID'),
      secretAccessKey: readCredential(environment, 'AWS_SECRET_ACCESS_KEY'),
      sessionToken: readCredential(environment, 'AWS_SESSION_TOKEN'),
    }),
    maximumAttempts: awsAttempts,
    ...awsTimes,
  };
}

/** An emulator of AWS may give an empty session token. */
function readCredential(environment: Environment, name: string): string {
  return environment[name] === '' ? '' : readVariable(environment, name);
}
