import { type AwsAccess, type AwsService, createAwsClient } from '../base/aws-client.ts';
import { type Clock, hasPassed } from '../base/clock.ts';
import { RelayError } from '../base/errors.ts';
import { createStoreFailure } from '../base/store-failure.ts';
import type { SecretAge } from '../relay/services.ts';
import { liveTokensOf, parseKeysContent, parseTokensContent } from './secret-contents.ts';
import type { SecretHolder } from './secrets.ts';

/** Account → the id or ARN of its secret. */
export type SecretIds = Readonly<Record<string, string>>;

/** A running function uses a revoked token or key for this long at most. */
const maximumAgeMs = 5 * 60_000;
/** Anyone can send wrong tokens: they must not cause a request to Secrets Manager each time. */
const tokenRestMs = 10_000;
/**
 * An alert waits this long at most for the secrets of other accounts, which are only compared with its text.
 */
const longestWaitMs = 250;
/** After a failure, a secret is not requested for that comparison until this time has passed. */
const failureRestMs = 60_000;

/** The one operation that a function needs of Secrets Manager. */
export interface SecretsClient {
  call(operation: 'GetSecretValue', input: { readonly SecretId: string }): Promise<{ SecretString: string }>;
}

/** @see https://docs.aws.amazon.com/secretsmanager/latest/apireference/API_GetSecretValue.html */
const secretsManager: AwsService = {
  name: 'secretsmanager',
  target: 'secretsmanager',
  protocol: '1.1',
  promises: { GetSecretValue: { field: 'SecretString', type: 'text' } },
};

export function createSecretsClient(access: AwsAccess): SecretsClient {
  return createAwsClient(secretsManager, access) as SecretsClient;
}

/**
 * The secret store on AWS Secrets Manager. It caches each secret for at most five minutes.
 *
 * It requests all secrets at once when it is created, so that the requests run while the function starts.
 */
export function createAwsSecrets(options: {
  readonly client: SecretsClient;
  readonly clock: Clock;
  readonly webhookTokens: SecretIds;
  readonly exchangeKeys: SecretIds;
}): SecretHolder {
  const { client, clock } = options;
  const remember = <T>(ids: SecretIds, parse: (text: string) => T, restMs: number) =>
    new Map(
      Object.entries(ids).map(([account, id]) => {
        const secret = new RememberedSecret(clock, restMs, async () => parse(await fetchSecret(client, id)));
        // A failure is ignored here: the first caller that needs the secret requests it again.
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
      // All secrets were requested when the process started, so there is usually nothing to wait for.
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

/** One cached secret; concurrent reads share one request. */
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

  /** The value read last, however old; empty before the first read. */
  get known(): readonly T[] {
    return this.#known === null ? [] : [this.#known.value];
  }

  /**
   * Requests the secret again when its value is old, unless a request failed recently.
   *
   * @returns the request to wait for if no value is known yet
   */
  refresh(): readonly Promise<unknown>[] {
    const isResting = this.#reading === null && this.#isWithin(failureRestMs, this.#failedAtMs);
    if (isResting) return [];
    const reading = this.read('remembered').catch(() => undefined);
    return this.#known === null ? [reading] : [];
  }

  read(age: SecretAge): Promise<T> {
    const usableMs = age === 'newest' ? this.#restMs : maximumAgeMs;
    if (this.#known !== null && this.#isWithin(usableMs, this.#known.readAtMs))
      return Promise.resolve(this.#known.value);
    this.#reading ??= this.#readAnew().finally(() => {
      this.#reading = null;
    });
    return this.#reading;
  }

  #isWithin(durationMs: number, sinceMs: number): boolean {
    return !hasPassed(sinceMs, durationMs, this.#clock.nowMs());
  }

  async #readAnew(): Promise<T> {
    // The age counts from the request: a change during the request must not be missed for longer.
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

async function fetchSecret(client: SecretsClient, id: string): Promise<string> {
  try {
    return (await client.call('GetSecretValue', { SecretId: id })).SecretString;
  } catch (error) {
    if (error instanceof Error && error.name === 'ResourceNotFoundException')
      throw new RelayError('secrets_missing', 'the secret no longer exists; deploy again', {
        cause: error,
      });
    throw createStoreFailure('the secret could not be read', error);
  }
}
