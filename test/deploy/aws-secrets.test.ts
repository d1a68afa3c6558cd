import { randomUUID } from 'node:crypto';
import {
  CreateSecretCommand,
  PutSecretValueCommand,
  SecretsManagerClient,
} from '@aws-sdk/client-secrets-manager';
import { afterAll, beforeAll } from '@jest/globals';
import { createAwsSecrets, createSecretsClient } from '../../lib/host/aws-secrets.ts';
import { describeSecrets } from '../host/secrets-contract.ts';
import { accessOf } from '../support/aws-access.ts';
import { type MiniStack, startMiniStack } from './ministack.ts';

let aws: MiniStack;
let client: SecretsManagerClient;

beforeAll(async () => {
  aws = await startMiniStack();
  client = new SecretsManagerClient(aws.clientOptions);
}, 180_000);

afterAll(async () => {
  client.destroy();
  await aws.close();
});

async function createSecret(content: unknown): Promise<string> {
  const SecretString = JSON.stringify(content);
  const { ARN } = await client.send(new CreateSecretCommand({ Name: randomUUID(), SecretString }));
  return ARN ?? '';
}

/** As the stack makes them: a generated token, and no key yet. */
async function createSecrets() {
  const tokens = { current: 'generated-0123456789', previous: null };
  const keys = { apiKey: '', apiSecret: '' };
  return {
    webhookTokens: { main: await createSecret(tokens), other: await createSecret(tokens) },
    exchangeKeys: { main: await createSecret(keys), other: await createSecret(keys) },
  };
}

describeSecrets('secrets in Secrets Manager', async () => {
  const ids = await createSecrets();

  async function write(id: string, SecretString: string): Promise<void> {
    await client.send(new PutSecretValueCommand({ SecretId: id, SecretString }));
  }

  return {
    open: (clock) =>
      createAwsSecrets({ client: createSecretsClient(accessOf(aws.clientOptions)), clock, ...ids }),
    async store(account, { token, replaced, keys }) {
      const tokens = { current: token, previous: replaced };
      await write(ids.webhookTokens[account], JSON.stringify(tokens));
      await write(ids.exchangeKeys[account], JSON.stringify(keys ?? { apiKey: '', apiSecret: '' }));
    },
    async spoil(account, text) {
      // Secrets Manager takes no empty text.
      await write(ids.webhookTokens[account], text === '' ? ' ' : text);
      await write(ids.exchangeKeys[account], text === '' ? ' ' : text);
    },
    close: async () => undefined,
  };
});
