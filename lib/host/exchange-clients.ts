import type { Clock } from '../base/clock.ts';
import { RelayError } from '../base/errors.ts';
import { type Credentials, createExchangeClient, type ExchangeClient } from '../exchange/client.ts';
import type { Dialect } from '../exchange/dialect.ts';
import { createRateBudgets } from '../exchange/rate-limit.ts';
import { createTransport } from '../exchange/transport.ts';
import type { SecretStore } from './secrets.ts';

/** One client for each account, all sharing connections and rate budgets. */
export interface ExchangeClients {
  /** Signs nothing; for what anybody may ask. */
  readonly anonymous: ExchangeClient;
  /** @throws RelayError `secrets_missing` when the account has no key */
  forAccount(account: string): Promise<ExchangeClient>;
  close(): void;
}

export function createExchangeClients(options: {
  readonly address: string;
  readonly dialect: Dialect;
  readonly secrets: SecretStore;
  readonly clock: Clock;
}): ExchangeClients {
  const { secrets, ...exchange } = options;
  const shared = { ...exchange, transport: createTransport(), budgets: createRateBudgets(options.clock) };
  const clients = new Map<string, { readonly keys: Credentials; readonly client: ExchangeClient }>();

  return {
    anonymous: createExchangeClient({ ...shared, credentials: null }),
    async forAccount(account) {
      const keys = await secrets.exchangeKeys(account);
      if (keys === null)
        throw new RelayError('secrets_missing', `account ${account} has no exchange key stored`);
      const known = clients.get(account);
      if (known?.keys.apiKey === keys.apiKey && known.keys.apiSecret === keys.apiSecret) return known.client;
      const client = createExchangeClient({ ...shared, credentials: keys });
      clients.set(account, { keys, client });
      return client;
    },
    close: () => shared.transport.close(),
  };
}
