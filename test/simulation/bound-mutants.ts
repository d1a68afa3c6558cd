import { parseDecimal, zero } from '../../lib/base/decimal.ts';
import { cancelOrder } from '../../lib/exchange/endpoints/cancel-order.ts';
import type { Order } from '../../lib/model/order.ts';
import { changeAccounts, changeCalls, changeCreates } from './mutate.ts';
import type { Mutant } from './mutation.ts';

const two = parseDecimal('2');

/** Broken variants of the relay that let a market order fill where it must not, or leave it in the book. */
export const boundMutants: readonly Mutant[] = [
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
];
