import { hash } from 'node:crypto';
import type { Clock } from '../base/clock.ts';
import { RelayError } from '../base/errors.ts';
import type { Random } from '../base/random.ts';
import { createTransport } from '../base/transport.ts';
import type { Transport } from '../base/wire.ts';
import { type Credentials, createExchangeClient, type ExchangeClient } from '../exchange/client.ts';
import type { Dialect } from '../exchange/dialect.ts';
import { createRateBudgets } from '../exchange/rate-limit.ts';
import { createRenewingClient } from './renewing-client.ts';
import type { SecretStore } from './secrets.ts';

/** One client for each account, all sharing connections and rate budgets. */
export interface ExchangeClients {
  /** Sends unsigned requests, for public endpoints. */
  readonly anonymous: ExchangeClient;
  /**
   * A client with the account's key. If the exchange refuses the key, the client reads the newest key once
   * and, if it is another one, sends the request again with it. A new key therefore takes effect at once.
   *
   * @throws RelayError `secrets_missing` when the account has no key
   */
  forAccount(account: string): Promise<ExchangeClient>;
  /**
   * A name for the account's newest key that does not reveal it; another key has another name.
   *
   * @throws RelayError `secrets_missing` when the account has no key
   */
  keyNameOf(account: string): Promise<string>;
  close(): void;
}

export function createExchangeClients(options: {
  readonly address: string;
  readonly dialect: Dialect;
  readonly secrets: Pick<SecretStore, 'exchangeKeys'>;
  readonly clock: Clock;
  /** Absent: a new transport over the network. */
  readonly transport?: Transport;
  /** Randomises the pauses before retries. */
  readonly random?: Random;
}): ExchangeClients {
  const { secrets, clock, transport = createTransport(), ...exchange } = options;
  const shared = { ...exchange, clock, transport, budgets: createRateBudgets(clock) };
  const known = new Map<string, Keyed>();

  function keyedOf(account: string, keys: Credentials): Keyed {
    const last = known.get(account);
    if (last !== undefined && isSameKey(last.keys, keys)) return last;
    const signing = createExchangeClient({ ...shared, credentials: keys });
    const client = createRenewingClient(signing, clock, () => renew(account, keys));
    const keyed: Keyed = { keys, signing, client };
    known.set(account, keyed);
    return keyed;
  }

  /** Returns null when the newest key is the refused one. */
  async function renew(account: string, refused: Credentials): Promise<ExchangeClient | null> {
    const keys = await secrets.exchangeKeys(account, 'newest');
    return keys === null || isSameKey(keys, refused) ? null : keyedOf(account, keys).signing;
  }

  return {
    anonymous: createExchangeClient({ ...shared, credentials: null }),
    async forAccount(account) {
      // The cache may still say "no key" after the first key of an account was stored.
      const keys = (await secrets.exchangeKeys(account)) ?? (await secrets.exchangeKeys(account, 'newest'));
      if (keys === null) throw createKeyMissing(account);
      return keyedOf(account, keys).client;
    },
    async keyNameOf(account) {
      const keys = await secrets.exchangeKeys(account, 'newest');
      if (keys === null) throw createKeyMissing(account);
      return hash('sha256', keys.apiKey, 'base64url').slice(0, 12);
    },
    close: () => shared.transport.close(),
  };
}

function createKeyMissing(account: string): RelayError {
  return new RelayError(
    'secrets_missing',
    `account ${account} has no exchange key stored: \`npx relay keys set ${account}\` stores it, with the --data or --stack of this relay`,
  );
}

interface Keyed {
  readonly keys: Credentials;
  /** Signs with these keys only and never renews them. */
  readonly signing: ExchangeClient;
  readonly client: ExchangeClient;
}

function isSameKey(one: Credentials, other: Credentials): boolean {
  return one.apiKey === other.apiKey && one.apiSecret === other.apiSecret;
}
