import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { readLambdaCredentials } from '../../lib/host/lambda-credentials.ts';

const names = ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY', 'AWS_SESSION_TOKEN'] as const;
const before = names.map((name) => [name, process.env[name]] as const);

beforeEach(() => {
  for (const name of names) process.env[name] = `value of ${name}`;
});
afterEach(() => {
  for (const [name, value] of before)
    if (value === undefined) delete process.env[name];
    else process.env[name] = value;
});

test('The credentials of a function come from its environment', async () => {
  expect(await readLambdaCredentials()).toEqual({
    accessKeyId: 'value of AWS_ACCESS_KEY_ID',
    secretAccessKey: 'value of AWS_SECRET_ACCESS_KEY',
    sessionToken: 'value of AWS_SESSION_TOKEN',
  });
});

test.each(names)('Without %s there are no credentials, and the error names it', async (name) => {
  delete process.env[name];

  await expect(readLambdaCredentials()).rejects.toThrow(`${name} is not in the environment`);
});
