import type { AwsAccess } from '../base/aws-client.ts';
import { createTransport } from '../base/transport.ts';
import { type Environment, readVariable } from './environment.ts';
import { readLambdaCredentials } from './lambda-credentials.ts';

/** AWS responds within tens of milliseconds, so a request that takes a hundred times as long is sent again. */
const awsTimes = { connectTimeoutMs: 1000, timeoutMs: 2000 } as const;
const awsAttempts = 3;

/**
 * How a function reaches AWS, with its own role.
 *
 * @throws RelayError `config_invalid` when an environment variable is
 */
export function accessOf(environment: Environment): AwsAccess {
  return {
    // One for the exchange and for AWS.
    transport: createTransport(),
    region: readVariable(environment, 'AWS_REGION'),
    // Set by tests only.
    endpoint: environment['AWS_ENDPOINT_URL'],
    credentials: readLambdaCredentials,
    maximumAttempts: awsAttempts,
    ...awsTimes,
  };
}
