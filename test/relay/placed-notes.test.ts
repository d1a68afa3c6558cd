import { afterEach, describe, expect, test } from '@jest/globals';
import { parseDecimal } from '../../lib/base/decimal.ts';
import type { Order } from '../../lib/model/order.ts';
import { buyAlert } from '../support/alerts.ts';
import { type Functions, openFunctions } from '../support/functions.ts';
import { override } from '../support/override.ts';

let functions: Functions;
afterEach(() => functions.close());

/** Alerts of the kinds that may rest. */
const alerts = {
  stop_limit: buyAlert(),
  limit: buyAlert({ orderType: 'limit', stopPrice: undefined, limitPrice: '49900' }),
};

/** What the ledger says of an order that stood so when the exchange answered. */
async function noteOf(kind: keyof typeof alerts, state: Partial<Order>): Promise<string> {
  functions = await openFunctions(({ exchangeFor }) => ({
    exchangeFor: async (account) => {
      const client = await exchangeFor(account);
      return override(client, {
        prepare: (endpoint, params) => {
          const request = client.prepare(endpoint, params);
          return {
            ...request,
            send: async (options) => Object.assign(Object(await request.send(options)), state),
          };
        },
      });
    },
  }));
  await functions.receive(alerts[kind]);
  await functions.execute('buy-1');
  const entry = await functions.ledger.read({ account: 'main', signalId: 'buy-1' });
  return entry?.steps.at(-1)?.note ?? '';
}

describe.each(['stop_limit', 'limit'] as const)('an order of kind %s', (kind) => {
  const amounts = (filled: string, remaining: string) => ({
    filled: parseDecimal(filled),
    remaining: parseDecimal(remaining),
  });

  test.each<readonly [Order['status'], Partial<Order>, string]>([
    ['open', {}, ', held by the exchange as order 10000000001'],
    [
      'partially_filled',
      amounts('0.004', '0.006'),
      ', held by the exchange, 0.004 of it filled at once, as order 10000000001',
    ],
    ['filled', amounts('0.01', '0'), ', filled at once by the exchange as order 10000000001'],
    [
      'cancelled',
      { ...amounts('0', '0.01'), endReason: 'expired' },
      ', accepted by the exchange and ended at once (expired, 0 of it filled) as order 10000000001',
    ],
  ])('that was %s when the exchange responded is noted so', async (status, state, said) => {
    expect((await noteOf(kind, { status, ...state })).endsWith(said)).toBe(true);
  });
});
