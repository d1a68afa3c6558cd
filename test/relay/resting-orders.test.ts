import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { parseDecimal } from '../../lib/base/decimal.ts';
import { limit } from '../../lib/exchange/endpoints/limit.ts';
import type { ListPage } from '../../lib/exchange/listed.ts';
import { reconcileSignals } from '../../lib/relay/settle/reconcile-signals.ts';
import { type Aftermath, minuteMs, openAftermath } from '../support/aftermath.ts';
import { override } from '../support/override.ts';

let relay: Aftermath;
beforeEach(async () => {
  relay = await openAftermath();
});
afterEach(() => relay.close());

/** More than the book offers up to 50,025, so that a part is left. */
const order = { id: 'buy-1', ticker: 'BTCUSDT', action: 'buy', quantity: '2' };
const immediateLimit = JSON.stringify({ ...order, orderType: 'limit', limitPrice: '50025', ioc: true });
const guarded = JSON.stringify({ ...order, orderType: 'market', maxSlippage: '0.05%' });
const orders = () => relay.paper.control.state().orders;
const refuseIoc = () =>
  relay.paper.control.addFault({ fault: 'refuse_ioc', endpoint: 'limit', probability: 1 });

const emptyPage: ListPage<never> = { records: [], count: 0, oddities: [] };

/** A partner's account, whose history does not hold its cancelled orders. */
async function openPartner() {
  const client = await relay.services.exchangeFor('main');
  const call: typeof client.call = async (endpoint, params, options) => {
    const result = await client.call(endpoint, params, options);
    return endpoint.name === 'ended-order' ? (emptyPage as typeof result) : result;
  };
  return { ...relay.services, exchangeFor: async () => override(client, { call }) };
}

describe('a limit order that is to fill at once or not at all', () => {
  test('leaves nothing in the book where the exchange refuses "immediate or cancel"', async () => {
    refuseIoc();

    const entry = await relay.send(immediateLimit);

    expect(orders()).toMatchObject([{ status: 'cancelled', filled: '1' }]);
    expect(entry).toMatchObject({ status: 'placed', orderOpen: false });
  });

  test('is cancelled by the reconciler when it rests and its response was lost', async () => {
    refuseIoc();
    await relay.send(immediateLimit, { fault: 'drop_after', endpoint: 'limit' });

    relay.clock.advance(minuteMs);
    await reconcileSignals(relay.services);

    expect(orders()).toMatchObject([{ status: 'cancelled', filled: '1' }]);
    expect(await relay.entry('buy-1')).toMatchObject({ status: 'placed', orderOpen: false });
  });
});

describe('an order whose fills are listed before the order itself is', () => {
  const lag = () => {
    for (const endpoint of ['open-order', 'ended-order'])
      relay.paper.control.addFault({ fault: 'read_lag', endpoint, delayMs: minuteMs, probability: 1 });
  };

  test('is cancelled when it must not rest, although no list shows its rest yet', async () => {
    refuseIoc();
    await relay.send(guarded, { fault: 'drop_after', endpoint: 'limit' });
    lag();

    relay.clock.advance(10_000);
    await reconcileSignals(relay.services);

    expect(orders()).toMatchObject([{ status: 'cancelled', filled: '1' }]);
    expect(await relay.entry('buy-1')).toMatchObject({ status: 'placed', orderOpen: false });
  });

  test('counts as open when it may rest, until a list of open orders proves that it is not', async () => {
    const resting = JSON.stringify({ ...order, orderType: 'limit', limitPrice: '50025' });
    await relay.send(resting, { fault: 'drop_after', endpoint: 'limit' });
    lag();

    relay.clock.advance(10_000);
    await relay.reconcile();

    expect(orders()).toMatchObject([{ status: 'partially_filled' }]);
    expect(await relay.entry('buy-1')).toMatchObject({ status: 'placed', orderOpen: true });
  });

  test('is not taken for cancelled by a cancellation whose response was lost', async () => {
    await relay.send(JSON.stringify({ ...order, orderType: 'limit', limitPrice: '50025' }));
    const undo = JSON.stringify({ id: 'undo', ticker: 'BTCUSDT', action: 'cancel', signalId: 'buy-1' });
    await relay.send(undo, { fault: 'error_before', endpoint: 'cancel-order', probability: 1 });
    relay.paper.control.clearFaults();
    lag();

    relay.clock.advance(10_000);
    await relay.reconcile();

    expect(await relay.entry('undo')).toMatchObject({ status: 'unknown' });
    expect(await relay.entry('buy-1')).toMatchObject({ orderOpen: true });

    relay.paper.control.clearFaults();
    await relay.reconcileFor(8);

    expect(await relay.entry('undo')).toMatchObject({ status: 'rejected' });
  });
});

test('an order that the relay itself cancelled existed, although the history of a partner does not hold it', async () => {
  refuseIoc();
  // It rests as a whole: the best offer is beyond its price.
  await relay.send(JSON.stringify({ ...order, orderType: 'limit', limitPrice: '49000', ioc: true }), {
    fault: 'drop_after',
    endpoint: 'limit',
  });
  const partner = await openPartner();

  for (let minute = 0; minute < 9; minute += 1) {
    relay.clock.advance(minuteMs);
    await reconcileSignals(partner);
  }

  expect(orders()).toMatchObject([{ status: 'cancelled', filled: '0' }]);
  expect(await relay.entry('buy-1')).toMatchObject({
    status: 'placed',
    orderOpen: false,
    orderId: 10_000_000_001,
  });
});

test('an order that the exchange confirmed was placed, although the cancellation of its rest was lost and no list holds it', async () => {
  refuseIoc();
  const lost = { fault: 'drop_after', endpoint: 'cancel-order', probability: 1 } as const;
  await relay.send(JSON.stringify({ ...order, orderType: 'limit', limitPrice: '49000', ioc: true }), lost);
  expect(orders()).toMatchObject([{ status: 'cancelled', filled: '0' }]);
  const partner = await openPartner();

  for (let minute = 0; minute < 9; minute += 1) {
    relay.clock.advance(minuteMs);
    await reconcileSignals(partner);
  }

  const entry = await relay.entry('buy-1');
  expect(entry).toMatchObject({ status: 'placed', orderOpen: false, orderId: 10_000_000_001 });
});

test('of two orders with one client order id neither is left to rest, and an alarm names them', async () => {
  refuseIoc();
  const resting = { market: 'BTC_USDT', side: 'buy', amount: parseDecimal('2') } as const;
  const lost = { fault: 'drop_after', endpoint: 'limit' } as const;
  const { clientOrderId } = await relay.send(
    JSON.stringify({ ...order, orderType: 'limit', limitPrice: '49000', ioc: true }),
    lost,
  );
  const client = await relay.services.exchangeFor('main');
  await client.call(limit, { ...resting, price: parseDecimal('48000'), clientOrderId: 'other' });
  // The lists show the other one under the same client order id, but under no other.
  // The lists show the other one under the same client order id.
  const call: typeof client.call = async (endpoint, params, options) => {
    if (endpoint.name !== 'open-order' && endpoint.name !== 'ended-order')
      return await client.call(endpoint, params, options);
    const other = { ...(params as object), clientOrderId: 'other' } as typeof params;
    const lists = [params, other].map((named) =>
      client.call(endpoint, named, options).catch(() => emptyPage),
    );
    const listed = (await Promise.all(lists)).flatMap((page) => (page as ListPage<object>).records);
    const records = listed.map((one) => ({ ...one, clientOrderId }));
    return { records, count: records.length, oddities: [] } as never;
  };
  const doubled = { ...relay.services, exchangeFor: async () => override(client, { call }) };

  for (let minute = 0; minute < 9; minute += 1) {
    relay.clock.advance(minuteMs);
    await reconcileSignals(doubled);
  }

  expect(orders()).toMatchObject([{ status: 'cancelled' }, { status: 'cancelled' }]);
  expect(await relay.entry('buy-1')).toMatchObject({ status: 'placed', orderOpen: false });
  expect(relay.alarms.map(({ name }) => name)).toContain('order_contradicted');
});
