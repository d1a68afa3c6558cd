import { GetSecretValueCommand, type SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import type { Clock } from '../base/clock.ts';
import { RelayError } from '../base/errors.ts';
import { createStoreFailure } from '../base/store-failure.ts';
import type { SecretAge } from '../relay/services.ts';
import { liveTokensOf, parseKeysContent, parseTokensContent } from './secret-contents.ts';
import type { SecretHolder } from './secrets.ts';

/** Secrets by account: the id or ARN of each. */
export type SecretIds = Readonly<Record<string, string>>;

/** How long a revoked token or key can still be used by a running function. */
const maximumAgeMs = 5 * 60_000;
/** Anybody can present wrong tokens; they must not be able to make us ask again and again. */
const tokenRestMs = 10_000;
/** An order waits no longer for the secrets of other accounts, which it needs for comparing alone. */
const longestWaitMs = 250;
/** Nor does it ask again and again for those that cannot be read. */
const failureRestMs = 60_000;

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
}): SecretHolder {
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
    async heldSecrets() {
      // All were asked for when the process started: as a rule nothing is waited for.
      const awaited = [...tokens.values(), ...keys.values()].flatMap((secret) => secret.refresh());
      if (awaited.length > 0) await Promise.race([Promise.all(awaited), clock.sleep(longestWaitMs)]);
      return [
        ...knownOf(tokens).flatMap((content) => liveTokensOf(content, clock.nowMs())),
        ...knownOf(keys).flatMap((content) => (content === null ? [] : [content.apiKey, content.apiSecret])),
      ];
    },
  };
}

function knownOf<T>(secrets: ReadonlyMap<string, RememberedSecret<T>>): readonly T[] {
  return [...secrets.values()].flatMap(({ known }) => known);
}

/** One secret; whoever asks while it is being read waits for the same response. */
class RememberedSecret<T> {
  readonly #clock: Clock;
  readonly #restMs: number;
  readonly #fetch: () => Promise<T>;
  #known: { readonly value: T; readonly readAtMs: number } | null = null;
  #reading: Promise<T> | null = null;
  #failedAtMs = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock, restMs: number, fetch: () => Promise<T>) {
    this.#clock = clock;
    this.#restMs = restMs;
    this.#fetch = fetch;
  }

  /** What was read last, however old; nothing before the first time. */
  get known(): readonly T[] {
    return this.#known === null ? [] : [this.#known.value];
  }

  /**
   * Has it asked for anew when it is old, and not a moment after a failure.
   *
   * @returns what to wait for, where nothing is known yet
   */
  refresh(): readonly Promise<unknown>[] {
    const isResting = this.#reading === null && this.#clock.nowMs() - this.#failedAtMs < failureRestMs;
    if (isResting) return [];
    const reading = this.read('remembered').catch(() => undefined);
    return this.#known === null ? [reading] : [];
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
    try {
      const value = await this.#fetch();
      this.#known = { value, readAtMs };
      return value;
    } catch (error) {
      this.#failedAtMs = readAtMs;
      throw error;
    }
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
