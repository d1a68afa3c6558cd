import type { AwsCredentials } from '../base/aws-client.ts';

/**
 * Reads the credentials of a function from its environment, where Lambda puts them.
 *
 * @see https://docs.aws.amazon.com/lambda/latest/dg/configuration-envvars.html#configuration-envvars-runtime
 */
export async function readLambdaCredentials(): Promise<AwsCredentials> {
  return {
    accessKeyId: readVariable('AWS_ACCESS_KEY_ID'),
    secretAccessKey: readVariable('AWS_SECRET_ACCESS_KEY'),
    sessionToken: readVariable('AWS_SESSION_TOKEN'),
  };
}

function readVariable(name: string): string {
  const value = process.env[name];
  if (value === undefined)
    throw new Error(`${name} is not in the environment: this code runs on Lambda only`);
  return value;
}
