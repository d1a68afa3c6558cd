import { parseDecimal, zero } from '../../lib/base/decimal.ts';
import type { ExchangeClient, PreparedRequest, SendOptions } from '../../lib/exchange/client.ts';
import type { Endpoint, ParamsOf, ResultOf } from '../../lib/exchange/endpoint.ts';
import { cancelAll } from '../../lib/exchange/endpoints/cancel-all.ts';
import { cancelOrder } from '../../lib/exchange/endpoints/cancel-order.ts';
import { collateralSummary } from '../../lib/exchange/endpoints/collateral-summary.ts';
import { openOrder } from '../../lib/exchange/endpoints/open-order.ts';
import { openPositions } from '../../lib/exchange/endpoints/open-positions.ts';
import { tradeBalance } from '../../lib/exchange/endpoints/trade-balance.ts';
import type { Account } from '../../lib/model/account.ts';
import type { Order } from '../../lib/model/order.ts';
import type { Settings } from '../../lib/model/settings.ts';
import { override } from '../support/override.ts';
import type { Mutant, MutationTools } from './mutation.ts';

type Call = <E extends Endpoint>(
  endpoint: E,
  params: ParamsOf<E>,
  options?: SendOptions,
) => Promise<ResultOf<E>>;

const holdings: ReadonlySet<string> = new Set(
  [collateralSummary, tradeBalance, openPositions].map(({ name }) => name),
);

/** A client that answers the calls of some endpoints in another way; undefined: as the client does. */
function changeCalls(
  client: ExchangeClient,
  change: (name: string, params: object, ask: () => Promise<unknown>) => Promise<unknown> | undefined,
): ExchangeClient {
  const call: Call = async (endpoint, params, options) => {
    const ask = () => client.call(endpoint, params, options);
    return (await (change(endpoint.name, params as object, ask) ?? ask())) as ResultOf<typeof endpoint>;
  };
  return override(client, { call });
}

const keptReadings = new WeakMap<ExchangeClient, Map<string, unknown>>();

/** Reads each holding once, and never again. */
function keepReadings(client: ExchangeClient): ExchangeClient {
  const kept = keptReadings.get(client) ?? new Map<string, unknown>();
  keptReadings.set(client, kept);
  return changeCalls(client, (name, params, ask) => {
    if (!holdings.has(name)) return undefined;
    const key = `${name} ${JSON.stringify(params)}`;
    return kept.has(key)
      ? Promise.resolve(kept.get(key))
      : ask().then((result) => {
          kept.set(key, result);
          return result;
        });
  });
}

/** Reads the holdings of another account. */
function readElsewhere(client: ExchangeClient, { account, clientFor }: MutationTools): ExchangeClient {
  const call: Call = async (endpoint, params, options) => {
    const isElsewhere = holdings.has(endpoint.name) && account !== null;
    const reader = isElsewhere ? await clientFor(account === 'second' ? 'main' : 'second') : client;
    return await reader.call(endpoint, params, options);
  };
  return override(client, { call });
}

/** Changes the parameters of every order, and the options with which it is sent. */
function changeCreates(
  client: ExchangeClient,
  changeParams: (params: object) => object,
  changeOptions: (options: SendOptions) => SendOptions = (options) => options,
): ExchangeClient {
  return override(client, {
    prepare<E extends Endpoint>(endpoint: E, params: ParamsOf<E>): PreparedRequest<ResultOf<E>> {
      if (endpoint.repeatable) return client.prepare(endpoint, params);
      const request = client.prepare(endpoint, changeParams(params as object) as ParamsOf<E>);
      return override(request, { send: (options = {}) => request.send(changeOptions(options)) });
    },
  });
}

function changeAccounts(change: (account: Account) => Account): (settings: Settings) => Settings {
  return (settings) => {
    const accounts = Object.entries(settings.accounts).map(([name, account]) => [name, change(account)]);
    return { ...settings, accounts: Object.fromEntries(accounts) };
  };
}

function withoutMaxima({ markets, ...account }: Account): Account {
  const changed = Object.entries(markets).map(([name, limits]) => [
    name,
    { ...limits, maxAmount: null, maxNotional: null },
  ]);
  return { ...account, markets: Object.fromEntries(changed) };
}

const two = parseDecimal('2');

/** Broken variants of the relay that size an order wrongly, or let it fill where it must not. */
export const sizeMutants: readonly Mutant[] = [
  {
    name: 'reduce-only-dropped',
    breaks: 'an order that may only reduce a position is sent without the flag',
    seeds: 100,
    dialect: 'live',
    mutation: {
      client: (client) => changeCreates(client, (params) => ({ ...params, reduceOnly: undefined })),
    },
  },
  {
    name: 'stale-balance',
    breaks: 'a balance or position is read once, and every later order is sized on it',
    seeds: 300,
    dialect: 'live',
    mutation: { client: keepReadings },
  },
  {
    name: 'wrong-account',
    breaks: 'a per cent size is a share of what another account holds',
    seeds: 100,
    dialect: 'live',
    mutation: { client: readElsewhere },
  },
  {
    name: 'old-prices',
    breaks: 'an order is sent again although the readings that it was sized on are older than 5 s',
    seeds: 1000,
    dialect: 'live',
    kinds: ['market'],
    mutation: {
      client: (client) =>
        changeCreates(
          client,
          (params) => params,
          ({ notAfterMs, ...options }) =>
            notAfterMs === undefined ? options : { ...options, notAfterMs: notAfterMs + 20_000 },
        ),
    },
  },
  {
    name: 'unsaid-size',
    breaks: 'the ledger does not say what an order was sized on',
    seeds: 100,
    dialect: 'live',
    mutation: {
      ledger: (ledger) =>
        override(ledger, {
          start: (key, { evidence: _, ...step }, limit) => ledger.start(key, step, limit),
        }),
    },
  },
  {
    name: 'quote-for-base',
    breaks: 'an amount of the quote currency is taken for base units',
    seeds: 100,
    dialect: 'live',
    mutation: {
      ledger: (ledger, { handlerName }) =>
        handlerName !== 'execute'
          ? ledger
          : override(ledger, {
              async read(key) {
                const entry = await ledger.read(key);
                const { signal = null } = entry ?? {};
                if (entry === null || signal?.action !== 'order' || signal.size.unit !== 'quote')
                  return entry;
                const size = { unit: 'base', quantity: signal.size.quoteQuantity } as const;
                return { ...entry, signal: { ...signal, size } };
              },
            }),
    },
  },
  {
    name: 'no-maximum',
    breaks: 'the largest amount and notional of an account are not checked',
    seeds: 100,
    dialect: 'live',
    mutation: { settings: changeAccounts(withoutMaxima) },
  },
  {
    name: 'unguarded-market',
    breaks: 'a market order is sent without the bound of its account',
    seeds: 100,
    dialect: 'live',
    kinds: ['market'],
    mutation: { settings: changeAccounts((account) => ({ ...account, maxSlippageRate: null })) },
  },
  {
    name: 'wide-bound',
    breaks: 'a market order may fill twice as far from the best price as its account allows',
    seeds: 100,
    dialect: 'live',
    kinds: ['market'],
    mutation: {
      settings: changeAccounts((account) => ({
        ...account,
        maxSlippageRate: account.maxSlippageRate?.times(two) ?? null,
      })),
    },
  },
  {
    name: 'resting-market',
    breaks: 'what a market order leaves in the book is not cancelled',
    seeds: 300,
    dialect: 'live',
    kinds: ['market'],
    mutation: {
      client: (client) =>
        changeCalls(client, (name, params) =>
          name === cancelOrder.name && 'orderId' in params
            ? Promise.resolve({ ...params, clientOrderId: '', filled: zero } as unknown as Order)
            : undefined,
        ),
    },
  },
  {
    name: 'own-scope',
    breaks: 'a cancel_all of the whole market leaves the orders that the relay did not place',
    seeds: 300,
    dialect: 'live',
    mutation: {
      client: (client) =>
        changeCalls(client, (name, _, ask) => {
          if (name === cancelAll.name) return Promise.resolve([]);
          if (name !== openOrder.name) return undefined;
          return ask().then((orders) =>
            (orders as readonly Order[]).filter(({ clientOrderId }) => clientOrderId.startsWith('tr-')),
          );
        }),
    },
  },
];
