import { parseDecimal } from '../../lib/base/decimal.ts';
import type { ExchangeClient, PreparedRequest, SendOptions } from '../../lib/exchange/client.ts';
import type { Endpoint, ParamsOf, ResultOf } from '../../lib/exchange/endpoint.ts';
import { cancelOrder } from '../../lib/exchange/endpoints/cancel-order.ts';
import type { Order } from '../../lib/model/order.ts';
import { override } from '../support/override.ts';
import { cancelledOrder, changeAccounts, changeCalls, changeCreates } from './mutate.ts';
import type { Mutant } from './mutation.ts';

const two = parseDecimal('2');

/** Answers the cancellation of every order that this client has sent, and of no other, without sending it. */
function leaveRests(client: ExchangeClient): ExchangeClient {
  const sent = new Set<number>();
  const noting = override(client, {
    prepare<E extends Endpoint>(endpoint: E, params: ParamsOf<E>): PreparedRequest<ResultOf<E>> {
      const request = client.prepare(endpoint, params);
      if (endpoint.repeatable) return request;
      const send = async (options?: SendOptions) => {
        const order = await request.send(options);
        sent.add((order as Order).orderId);
        return order;
      };
      return override(request, { send });
    },
  });
  return changeCalls(noting, (name, params) =>
    name === cancelOrder.name && 'orderId' in params && sent.has(params.orderId as number)
      ? Promise.resolve({ ...cancelledOrder, ...params })
      : undefined,
  );
}

/** Broken variants of the relay that let a market order fill where it must not, or leave it in the book. */
export const boundMutants: readonly Mutant[] = [
  {
    name: 'old-prices',
    breaks: 'an order is sent again although the readings that it was sized on are older than 5 s',
    seeds: 1000,
    fromSeed: 283,
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
    fromSeed: 55,
    dialect: 'live',
    kinds: ['market'],
    mutation: { client: leaveRests },
  },
];
