/** The credentials of a function's role. */
export interface LambdaCredentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken: string;
}

/**
 * Where a function has its credentials from: Lambda puts them into its environment.
 *
 * Bundles have this in place of `@aws-sdk/credential-provider-node`, under whose name for it. That one would go on
 * looking in files, in single sign-on and in the machine's metadata, none of which a function has, with a quarter
 * of the bundle.
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
  if (value === undefined) throw new Error(`${name} is not in the environment: this runs on Lambda only`);
  return value;
}
