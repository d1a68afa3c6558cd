import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { parseDecimal } from '../../lib/base/decimal.ts';
import { limit } from '../../lib/exchange/endpoints/limit.ts';
import { type Aftermath, minuteMs, openAftermath } from '../support/aftermath.ts';
import { buyAlert } from '../support/alerts.ts';
import { override } from '../support/override.ts';

let relay: Aftermath;

beforeEach(async () => {
  relay = await openAftermath();
  const client = await relay.services.exchangeFor('main');
  await client.call(limit, {
    market: 'BTC_USDT',
    side: 'buy',
    amount: parseDecimal('0.01'),
    price: parseDecimal('40000'),
    clientOrderId: 'by-hand',
  });
});
afterEach(() => relay.close());

const cancelAll = JSON.stringify({ id: 'all', ticker: 'BTCUSDT', action: 'cancel_all', scope: 'market' });
const statuses = () => relay.paper.control.state().orders.map(({ status }) => status);

describe('a cancel_all of the whole market, whose open orders cannot be read', () => {
  test('cancels them all by one request, and is unknown until a lookup has read that none is open', async () => {
    const entry = await relay.send(cancelAll, {
      fault: 'error_before',
      endpoint: 'open-order',
      probability: 1,
    });

    expect(entry).toMatchObject({ status: 'unknown' });
    expect(statuses()).toEqual(['cancelled']);

    relay.paper.control.clearFaults();
    relay.clock.advance(minuteMs);
    await relay.reconcile();
    expect(await relay.entry('all')).toMatchObject({ status: 'cancelled' });
  });

  test('never counts as cancelled while an order that the relay did not place is open', async () => {
    for (const endpoint of ['open-order', 'cancel-all'] as const)
      relay.paper.control.addFault({ fault: 'error_before', endpoint, probability: 1 });

    expect(await relay.send(cancelAll)).toMatchObject({ status: 'unknown' });

    relay.paper.control.clearFaults();
    await relay.reconcileFor(10);
    expect(await relay.entry('all')).toMatchObject({ status: 'rejected' });
    expect(statuses()).toEqual(['open']);
  });
});

test('an order whose response was lost is not reported as left open by a list that lags behind its cancellation', async () => {
  await relay.send(buyAlert(), { fault: 'drop_after', endpoint: 'stop-limit' });
  const client = await relay.services.exchangeFor('main');
  let before: unknown;
  const call: typeof client.call = async (endpoint, params, options) => {
    const result = await client.call(endpoint, params, options);
    if (endpoint.name !== 'open-order') return result;
    before ??= result;
    return before as typeof result;
  };
  await relay.receive(JSON.stringify({ id: 'own', ticker: 'BTCUSDT', action: 'cancel_all' }));

  await relay.executeWith({ ...relay.services, exchangeFor: async () => override(client, { call }) }, 'own');

  expect(statuses()).toEqual(['open', 'cancelled']);
  expect(await relay.entry('own')).toMatchObject({ status: 'cancelled' });
  expect(relay.alarms.map(({ name }) => name)).not.toContain('orders_left_open');
});
