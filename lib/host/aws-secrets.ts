import { GetSecretValueCommand, type SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import type { Clock } from '../base/clock.ts';
import { RelayError } from '../base/errors.ts';
import { createStoreFailure } from '../base/store-failure.ts';
import type { SecretAge } from '../relay/services.ts';
import { liveTokensOf, parseKeysContent, parseTokensContent } from './secret-contents.ts';
import type { SecretStore } from './secrets.ts';

/** Secrets by account: the id or ARN of each. */
export type SecretIds = Readonly<Record<string, string>>;

/** How long a revoked token or key can still be used by a running function. */
const maximumAgeMs = 5 * 60_000;
/** Anybody can present wrong tokens; they must not be able to make us ask again and again. */
const tokenRestMs = 10_000;

/**
 * Secrets Manager, remembered for at most five minutes.
 *
 * Reading begins at once, so that it runs while the rest of the function starts.
 */
export function createAwsSecrets(options: {
  readonly client: SecretsManagerClient;
  readonly clock: Clock;
  readonly webhookTokens: SecretIds;
  readonly exchangeKeys: SecretIds;
}): SecretStore {
  const { client, clock } = options;
  const remember = <T>(ids: SecretIds, parse: (text: string) => T, restMs: number) =>
    new Map(
      Object.entries(ids).map(([account, id]) => {
        const secret = new RememberedSecret(clock, restMs, async () => parse(await fetchSecret(client, id)));
        // Whoever needs it asks again, and meets the failure there.
        secret.read('remembered').catch(() => undefined);
        return [account, secret];
      }),
    );
  const tokens = remember(options.webhookTokens, parseTokensContent, tokenRestMs);
  const keys = remember(options.exchangeKeys, parseKeysContent, 0);

  return {
    async webhookTokens(account, age = 'remembered') {
      const content = await tokens.get(account)?.read(age);
      return content === undefined ? [] : liveTokensOf(content, clock.nowMs());
    },
    exchangeKeys: async (account, age = 'remembered') => (await keys.get(account)?.read(age)) ?? null,
  };
}

/** One secret; whoever asks while it is being read waits for the same answer. */
class RememberedSecret<T> {
  readonly #clock: Clock;
  readonly #restMs: number;
  readonly #fetch: () => Promise<T>;
  #known: { readonly value: T; readonly readAtMs: number } | null = null;
  #reading: Promise<T> | null = null;

  constructor(clock: Clock, restMs: number, fetch: () => Promise<T>) {
    this.#clock = clock;
    this.#restMs = restMs;
    this.#fetch = fetch;
  }

  read(age: SecretAge): Promise<T> {
    const usableMs = age === 'newest' ? this.#restMs : maximumAgeMs;
    if (this.#known !== null && this.#clock.nowMs() - this.#known.readAtMs < usableMs)
      return Promise.resolve(this.#known.value);
    this.#reading ??= this.#readAnew().finally(() => {
      this.#reading = null;
    });
    return this.#reading;
  }

  async #readAnew(): Promise<T> {
    // The age counts from the question: what changed while it was answered must not be taken for known.
    const readAtMs = this.#clock.nowMs();
    const value = await this.#fetch();
    this.#known = { value, readAtMs };
    return value;
  }
}

async function fetchSecret(client: SecretsManagerClient, id: string): Promise<string> {
  try {
    const { SecretString } = await client.send(new GetSecretValueCommand({ SecretId: id }));
    return SecretString ?? '';
  } catch (error) {
    if (error instanceof Error && error.name === 'ResourceNotFoundException')
      throw new RelayError('secrets_missing', 'the secret does not exist any more; deploy again', {
        cause: error,
      });
    throw createStoreFailure('the secret could not be read', error);
  }
}
