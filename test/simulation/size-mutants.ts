import { parseDecimal } from '../../lib/base/decimal.ts';
import type { ExchangeClient, PreparedRequest } from '../../lib/exchange/client.ts';
import type { Endpoint, ParamsOf, ResultOf } from '../../lib/exchange/endpoint.ts';
import { cancelAll } from '../../lib/exchange/endpoints/cancel-all.ts';
import { collateralSummary } from '../../lib/exchange/endpoints/collateral-summary.ts';
import { openOrder } from '../../lib/exchange/endpoints/open-order.ts';
import { openPositions } from '../../lib/exchange/endpoints/open-positions.ts';
import { tradeBalance } from '../../lib/exchange/endpoints/trade-balance.ts';
import type { Account } from '../../lib/model/account.ts';
import type { Order, OrderRequest } from '../../lib/model/order.ts';
import { override } from '../support/override.ts';
import { changeEntries } from './ledger-mutants.ts';
import { type Call, changeAccounts, changeCalls, changeCreates, changeRecords } from './mutate.ts';
import type { Mutant, MutationTools } from './mutation.ts';

const two = parseDecimal('2');

const holdings: ReadonlySet<string> = new Set(
  [collateralSummary, tradeBalance, openPositions].map(({ name }) => name),
);

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

/** Reads the amount of a reduce-only order that was cut as one that nobody asked for. */
function mistakeCutOrders(client: ExchangeClient): ExchangeClient {
  return override(client, {
    prepare<E extends Endpoint>(endpoint: E, params: ParamsOf<E>): PreparedRequest<ResultOf<E>> {
      const request = client.prepare(endpoint, params);
      const { reduceOnly, amount } = params as Partial<OrderRequest>;
      if (endpoint.repeatable || reduceOnly !== true || amount === undefined) return request;
      return override(request, {
        async send(options) {
          const order = (await request.send(options)) as Order;
          const read = order.amount.lt(amount) ? { ...order, amount: amount.times(two) } : order;
          return read as ResultOf<E>;
        },
      });
    },
  });
}

function withoutMaxima({ markets, ...account }: Account): Account {
  const changed = Object.entries(markets).map(([name, limits]) => [
    name,
    { ...limits, maxAmount: null, maxNotional: null },
  ]);
  return { ...account, markets: Object.fromEntries(changed) };
}

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
    name: 'cut-is-other',
    breaks: 'a reduce-only order that the exchange has cut to the position is taken for another order',
    seeds: 3000,
    fromSeed: 28,
    dialect: 'live',
    // Of limit orders alone hardly one is cut.
    kinds: ['market', 'stop_limit', 'stop_market'],
    mutation: { client: mistakeCutOrders },
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
    fromSeed: 16,
    dialect: 'live',
    mutation: {
      ledger: (ledger, { handlerName }) =>
        handlerName !== 'execute'
          ? ledger
          : changeEntries(ledger, (entry) => {
              const { signal } = entry;
              if (signal?.action !== 'order' || signal.size.unit !== 'quote') return entry;
              const size = { unit: 'base', quantity: signal.size.quoteQuantity } as const;
              return { ...entry, signal: { ...signal, size } };
            }),
    },
  },
  {
    name: 'no-maximum',
    breaks: 'the largest amount and notional of an account are not checked',
    seeds: 100,
    fromSeed: 40,
    dialect: 'live',
    mutation: { settings: changeAccounts(withoutMaxima) },
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
          return ask().then((page) =>
            changeRecords<Order>(page, (orders) =>
              orders.filter(({ clientOrderId }) => clientOrderId.startsWith('tr-')),
            ),
          );
        }),
    },
  },
];
