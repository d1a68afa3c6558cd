import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { parseDecimal } from '../../lib/base/decimal.ts';
import { openOrder } from '../../lib/exchange/endpoints/open-order.ts';
import { prepareOrder } from '../../lib/orders/order-types.ts';
import { type Aftermath, openAftermath } from '../support/aftermath.ts';

let relay: Aftermath;

beforeEach(async () => {
  relay = await openAftermath();
});

afterEach(async () => {
  await relay.close();
});

/** An order that the relay did not place. */
async function placeByHand(): Promise<number> {
  const client = await relay.services.exchangeFor('main');
  const order = await prepareOrder(client, {
    type: 'limit',
    market: 'BTC_USDT',
    side: 'buy',
    amount: parseDecimal('0.01'),
    price: parseDecimal('40000'),
    clientOrderId: 'by-hand',
  }).send();
  return order.orderId;
}

function isOpen(orderId: number): boolean {
  return relay.paper.control
    .state()
    .orders.some((order) => order.orderId === orderId && order.status === 'open');
}

const cancelMarket = JSON.stringify({ id: 'c1', ticker: 'BTCUSDT', action: 'cancel_all', scope: 'market' });

test('a cancel_all of the whole market cancels orders that the relay did not place', async () => {
  const orderId = await placeByHand();

  const { status } = await relay.send(cancelMarket);

  expect(status).toBe('cancelled');
  expect(isOpen(orderId)).toBe(false);
});

test('while no list of open orders can be read, a cancel_all of the whole market cancels blindly and is unknown until a lookup reads the list', async () => {
  const orderId = await placeByHand();

  const sent = await relay.send(cancelMarket, {
    fault: 'drop_before',
    endpoint: openOrder.name,
    probability: 1,
  });
  const wasOpen = isOpen(orderId);
  relay.paper.control.clearFaults();
  await relay.reconcileFor(10);

  expect(sent.status).toBe('unknown');
  expect(relay.alarms.map(({ name }) => name)).toContain('outcome_unknown');
  expect(wasOpen).toBe(false);
  expect((await relay.entry('c1')).status).toBe('cancelled');
});

test('a cancel_all of the orders of this relay is done when its own cancellations are, whatever cannot be listed', async () => {
  const own = JSON.stringify({ id: 'c1', ticker: 'BTCUSDT', action: 'cancel_all' });

  const { status } = await relay.send(own, {
    fault: 'drop_before',
    endpoint: openOrder.name,
    probability: 1,
  });

  expect(status).toBe('cancelled');
});
