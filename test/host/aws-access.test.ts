import { expect, test } from '@jest/globals';
import { accessOf } from '../../lib/host/aws-access.ts';

const names = ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY', 'AWS_SESSION_TOKEN'] as const;
const environment = Object.fromEntries(['AWS_REGION', ...names].map((name) => [name, `value of ${name}`]));

test('The credentials of a function come from its environment', async () => {
  expect(await accessOf(environment).credentials()).toEqual({
    accessKeyId: 'value of AWS_ACCESS_KEY_ID',
    secretAccessKey: 'value of AWS_SECRET_ACCESS_KEY',
    sessionToken: 'value of AWS_SESSION_TOKEN',
  });
});

test.each(names)('Without %s there are no credentials, and the error names it', async (name) => {
  const { credentials } = accessOf({ ...environment, [name]: undefined });

  await expect(credentials()).rejects.toThrow(`${name} is not set`);
});

test('An emulator may give an empty session token', async () => {
  const { credentials } = accessOf({ ...environment, AWS_SESSION_TOKEN: '' });

  expect(await credentials()).toMatchObject({ sessionToken: '' });
});
