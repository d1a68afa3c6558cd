import {
  GetSecretValueCommand,
  PutSecretValueCommand,
  type SecretsManagerClient,
} from '@aws-sdk/client-secrets-manager';
import type { Clock } from '../../lib/base/clock.ts';
import { RelayError } from '../../lib/base/errors.ts';
import type { Credentials } from '../../lib/exchange/client.ts';
import { createToken } from '../../lib/host/file-secrets.ts';
import {
  liveTokensOf,
  parseKeysContent,
  parseTokensContent,
  type TokensContent,
} from '../../lib/host/secret-contents.ts';
import type { SecretStore } from '../../lib/host/secrets.ts';

/** The secrets of a deployed relay, read and changed by the operator. */
export interface StackSecrets extends SecretStore {
  storeKeys(account: string, keys: Credentials): Promise<void>;
  rotateToken(account: string, validUntilMs: number): Promise<void>;
}

type SecretIds = Readonly<Record<string, string>>;

export function createStackSecrets(options: {
  readonly client: SecretsManagerClient;
  readonly clock: Clock;
  readonly webhookTokens: SecretIds;
  readonly exchangeKeys: SecretIds;
}): StackSecrets {
  const { client, clock, webhookTokens, exchangeKeys } = options;

  async function read(id: string): Promise<string> {
    const { SecretString } = await client.send(new GetSecretValueCommand({ SecretId: id }));
    return SecretString ?? '';
  }

  async function write(id: string, content: TokensContent | Credentials): Promise<void> {
    await client.send(new PutSecretValueCommand({ SecretId: id, SecretString: JSON.stringify(content) }));
  }

  return {
    webhookTokens: async (account) =>
      liveTokensOf(parseTokensContent(await read(idOf(webhookTokens, account))), clock.nowMs()),
    exchangeKeys: async (account) => parseKeysContent(await read(idOf(exchangeKeys, account))),
    storeKeys: async (account, keys) => write(idOf(exchangeKeys, account), keys),
    async rotateToken(account, validUntilMs) {
      const id = idOf(webhookTokens, account);
      const { current } = parseTokensContent(await read(id));
      await write(id, { current: createToken(), previous: { token: current, validUntilMs } });
    },
  };
}

function idOf(ids: SecretIds, account: string): string {
  const id = Object.hasOwn(ids, account) ? ids[account] : undefined;
  if (id === undefined)
    throw new RelayError(
      'secrets_missing',
      `the stack has no secrets for account ${account}: it was deployed with another configuration`,
    );
  return id;
}
