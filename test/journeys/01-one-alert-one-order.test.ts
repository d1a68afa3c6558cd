import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { dialects } from '../../lib/exchange/dialect.ts';
import { buyAlert } from '../support/alerts.ts';
import { openWorld, type World } from '../support/world.ts';

describe.each(dialects)('an alert becomes an order, in the %s dialect', (dialect) => {
  let world: World;
  beforeEach(async () => {
    world = await openWorld({ dialect });
    world.setPrice('BTC_USDT', '50000');
  });
  afterEach(() => world.close());

  test('an accepted alert is placed with take-profit and stop-loss, and the ledger lists the steps', async () => {
    const posted = await world.post(buyAlert());
    const entry = await world.settled('buy-1');

    expect(posted).toEqual({ status: 202, body: { signalId: 'buy-1', status: 'accepted' } });
    expect(entry.steps.map(({ status }) => status)).toEqual(['accepted', 'sending', 'placed']);
    expect(world.paper.control.state().orders).toMatchObject([
      {
        orderId: entry.orderId,
        clientOrderId: entry.clientOrderId,
        market: 'BTC_USDT',
        side: 'buy',
        amount: '0.01',
        price: '50200',
        activationPrice: '50100',
        status: 'open',
      },
    ]);
  });

  test('the order is triggered, fills, and leaves take-profit and stop-loss open as one OCO', async () => {
    await world.post(buyAlert());
    await world.settled('buy-1');

    world.setPrice('BTC_USDT', '50150');

    const { orders, ocos } = world.paper.control.state();
    expect(orders[0]).toMatchObject({ status: 'filled', remaining: '0' });
    expect(ocos).toHaveLength(1);
    expect(orders.slice(1)).toMatchObject([
      { side: 'sell', amount: '0.01', activationPrice: '49000', status: 'open' },
      { side: 'sell', amount: '0.01', price: '52000', status: 'open' },
    ]);
  });

  test('the same alert posted 50 times at once is one order', async () => {
    const posts = await Promise.all(Array.from({ length: 50 }, () => world.post(buyAlert())));
    await world.settled('buy-1');

    expect(posts.filter(({ status }) => status === 202)).toHaveLength(1);
    expect(posts.filter(({ status, body }) => status === 200 && body.duplicate === true)).toHaveLength(49);
    expect(world.paper.control.state().orders).toHaveLength(1);
  });

  test('a resend after the order was placed gets the outcome', async () => {
    await world.post(buyAlert());
    await world.settled('buy-1');

    const again = await world.post(buyAlert());

    expect(again).toEqual({ status: 200, body: { signalId: 'buy-1', status: 'placed', duplicate: true } });
    expect(world.paper.control.state().orders).toHaveLength(1);
  });

  test('four alerts for one market reach the exchange in the order they were accepted', async () => {
    const ids = ['first', 'second', 'third', 'fourth'];
    for (const id of ids) await world.post(buyAlert({ id }));

    const entries = await Promise.all(ids.map((id) => world.settled(id)));

    const arrived = world.paper.control.state().orders.map(({ clientOrderId }) => clientOrderId);
    expect(arrived).toEqual(entries.map(({ clientOrderId }) => clientOrderId));
  });

  test('an alert without an id is identified by its bytes and their time', async () => {
    const time = new Date().toISOString();
    const first = await world.post(buyAlert({ id: undefined, time }));
    const resent = await world.post(buyAlert({ id: undefined, time }));
    const other = await world.post(buyAlert({ id: undefined, time, comment: 'second entry' }));

    expect([first.status, resent.status, other.status]).toEqual([202, 200, 202]);
    expect(resent.body.signalId).toBe(first.body.signalId);
    await world.settled(first.body.signalId ?? '');
    await world.settled(other.body.signalId ?? '');
    expect(world.paper.control.state().orders).toHaveLength(2);
  });

  test('an id used again by a different alert is refused and sends nothing', async () => {
    await world.post(buyAlert());
    await world.settled('buy-1');

    const reused = await world.post(buyAlert({ quantity: '0.02' }));

    expect(reused.status).toBe(400);
    expect(reused.body.error?.issues[0]?.path).toBe('id');
    expect(world.paper.control.state().orders).toHaveLength(1);
  });

  test('a perpetual is traded under its own name', async () => {
    world.setPrice('BTC_PERP', '50000');
    await world.post(buyAlert({ ticker: 'BTCUSDT.P', positionSide: 'BOTH' }));
    const entry = await world.settled('buy-1');

    expect(entry).toMatchObject({ status: 'placed' });
    expect(world.paper.control.state().orders).toMatchObject([{ market: 'BTC_PERP' }]);
  });
});
