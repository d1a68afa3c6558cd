/** The credentials of a function's role. */
export interface LambdaCredentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken: string;
}

/**
 * Reads the credentials of a function from its environment, where Lambda puts them.
 *
 * Bundles contain this in place of `@aws-sdk/credential-provider-node`, whose export
 * has the same name. That package also looks in files, single sign-on and instance
 * metadata, which a function does not have, and takes a quarter of the bundle.
 *
 * @see https://docs.aws.amazon.com/lambda/latest/dg/configuration-envvars.html#configuration-envvars-runtime
 */
export function defaultProvider(): () => Promise<LambdaCredentials> {
  return async () => ({
    accessKeyId: readVariable('AWS_ACCESS_KEY_ID'),
    secretAccessKey: readVariable('AWS_SECRET_ACCESS_KEY'),
    sessionToken: readVariable('AWS_SESSION_TOKEN'),
  });
}

function readVariable(name: string): string {
  const value = process.env[name];
  if (value === undefined)
    throw new Error(`${name} is not in the environment: this code runs on Lambda only`);
  return value;
}
