import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { dialects } from '../../lib/exchange/dialect.ts';
import { buyAlert } from '../support/alerts.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { openWorld, type World } from '../support/world.ts';

describe.each(dialects)('cancelling, in the %s dialect', (dialect) => {
  let world: World;
  beforeEach(async () => {
    // Pauses before retries pass at once on the manual clock, so that the test does not wait until a request
    // fails.
    world = await openWorld({ dialect, clock: createManualClock(1_790_000_000_000) });
    world.setPrice('BTC_USDT', '50000');
    await world.post(buyAlert());
    await world.settled('buy-1');
  });
  afterEach(() => world.close());

  // Only the live dialect lists the open orders of a market.
  const readBack = (text: string) => (dialect === 'live' ? `; ${text}` : '');
  const orderStatuses = () => world.paper.control.state().orders.map(({ status }) => status);

  async function send(alert: Record<string, unknown>): Promise<{ status: string; note: string }> {
    const { body } = await world.post(JSON.stringify({ id: 'cancel-1', ticker: 'BTCUSDT', ...alert }));
    expect(body.error).toBeUndefined();
    const { status, steps } = await world.settled('cancel-1');
    return { status, note: steps.at(-1)?.note ?? '' };
  }

  test('an order is cancelled by the id of the signal that placed it', async () => {
    const { status } = await send({ action: 'cancel', signalId: 'buy-1' });

    expect(status).toBe('cancelled');
    expect(orderStatuses()).toEqual(['cancelled']);
    expect(await world.ledger.openOrders('main', 'BTC_USDT', 100)).toEqual([]);
  });

  test("an order is cancelled by the exchange's own id", async () => {
    const { orderId } = await world.settled('buy-1');
    expect(await send({ action: 'cancel', orderId })).toMatchObject({ status: 'cancelled' });
    expect(orderStatuses()).toEqual(['cancelled']);
  });

  test('an order is cancelled by its client order id', async () => {
    const { clientOrderId } = await world.settled('buy-1');
    expect(await send({ action: 'cancel', clientOrderId })).toMatchObject({ status: 'cancelled' });
    expect(orderStatuses()).toEqual(['cancelled']);
  });

  test('cancelling an order that is no longer open is rejected by the exchange', async () => {
    await send({ action: 'cancel', signalId: 'buy-1' });
    await world.post(
      JSON.stringify({ id: 'cancel-2', ticker: 'BTCUSDT', action: 'cancel', signalId: 'buy-1' }),
    );

    expect(await world.settled('cancel-2')).toMatchObject({ status: 'rejected' });
  });

  test('cancelling the order of an unknown signal is denied', async () => {
    expect(await send({ action: 'cancel', signalId: 'never-seen' })).toMatchObject({ status: 'denied' });
  });

  test('cancelling the order of a signal that was denied is denied', async () => {
    await world.post(buyAlert({ id: 'too-big', quantity: '5' }));
    await world.settled('too-big');

    expect(await send({ action: 'cancel', signalId: 'too-big' })).toMatchObject({ status: 'denied' });
  });

  test('cancel_all cancels the orders that the ledger has as open in that market, and no others', async () => {
    world.setPrice('ETH_USDT', '3000');
    await world.post(buyAlert({ id: 'buy-2' }));
    await world.post(
      buyAlert({
        id: 'eth-1',
        ticker: 'ETHUSDT',
        quantity: '1',
        stopPrice: '3100',
        limitPrice: '3110',
        stopLoss: '2900',
        takeProfit: '3500',
      }),
    );
    await world.settled('buy-2');
    await world.settled('eth-1');

    const { status, note } = await send({ action: 'cancel_all' });

    expect({ status, note }).toEqual({
      status: 'cancelled',
      note: `of 2 orders: 2 cancelled${readBack('none of them is open any more')}`,
    });
    expect(
      world.paper.control
        .state()
        .orders.map(({ market, status }) => [market, status])
        .sort(),
    ).toEqual([
      ['BTC_USDT', 'cancelled'],
      ['BTC_USDT', 'cancelled'],
      ['ETH_USDT', 'open'],
    ]);
  });

  test('cancel_all in an empty market succeeds', async () => {
    await send({ action: 'cancel_all' });
    await world.post(JSON.stringify({ id: 'again', ticker: 'BTCUSDT', action: 'cancel_all' }));

    expect(await world.settled('again')).toMatchObject({ status: 'cancelled' });
  });

  test('cancel_all counts an order that had already ended as done, and closes it in the ledger', async () => {
    await world.post(buyAlert({ id: 'buy-2', stopPrice: '51000', limitPrice: '51000' }));
    await world.settled('buy-2');
    world.setPrice('BTC_USDT', '50150');

    expect(await send({ action: 'cancel_all' })).toEqual({
      status: 'cancelled',
      note: `of 2 orders: 1 cancelled, 1 no longer open${readBack('none of them is open any more')}`,
    });
    expect(await world.ledger.openOrders('main', 'BTC_USDT', 100)).toEqual([]);
  });

  test('an array that cancels first and orders next is executed in that order', async () => {
    const { body, status } = await world.post(
      JSON.stringify([
        { id: 'step-1', ticker: 'BTCUSDT', action: 'cancel_all' },
        JSON.parse(buyAlert({ id: 'step-2' })),
      ]),
    );

    expect(status).toBe(202);
    expect(body).toEqual({
      signals: [
        { signalId: 'step-1', status: 'accepted' },
        { signalId: 'step-2', status: 'accepted' },
      ],
    });
    expect(await world.settled('step-2')).toMatchObject({ status: 'placed' });
    expect(orderStatuses()).toEqual(['cancelled', 'open']);
  });

  test('a cancellation whose response is lost is repeated; if the order is gone then, the reason stays unknown', async () => {
    world.paper.control.addFault({ fault: 'drop_after', endpoint: 'cancel-order', count: 1 });

    expect(await send({ action: 'cancel', signalId: 'buy-1' })).toMatchObject({ status: 'unknown' });
    expect(orderStatuses()).toEqual(['cancelled']);
  });

  test('a cancellation whose connection breaks before the exchange reads it is repeated until it succeeds', async () => {
    world.paper.control.addFault({ fault: 'drop_before', endpoint: 'cancel-order', count: 1 });

    expect(await send({ action: 'cancel', signalId: 'buy-1' })).toMatchObject({ status: 'cancelled' });
  });

  test.each([
    ['refuse', 'rejected', 'open'],
    ['rate_429', 'not_sent', 'open'],
    ['error_before', 'unknown', 'open'],
    ['error_after', 'unknown', 'cancelled'],
  ] as const)('a cancellation that meets %s throughout ends %s', async (fault, status, left) => {
    world.paper.control.addFault({ fault, endpoint: 'cancel-order', probability: 1 });

    expect(await send({ action: 'cancel', signalId: 'buy-1' })).toMatchObject({ status });
    expect(orderStatuses()).toEqual([left]);
  });

  test('cancel_all of several orders gets the outcome that needs most attention, and counts each outcome', async () => {
    await world.post(buyAlert({ id: 'buy-2' }));
    await world.settled('buy-2');
    world.paper.control.addFault({ fault: 'refuse', endpoint: 'cancel-order', count: 1 });

    const { status, note } = await send({ action: 'cancel_all' });

    expect({ status, note }).toEqual({
      status: 'rejected',
      note: `of 2 orders: 1 rejected, 1 cancelled${readBack('still open: 10000000003')}`,
    });
  });

  test('an order whose response was lost can still be cancelled, even while the exchange does not find it', async () => {
    world.paper.control.addFault({ fault: 'drop_before', endpoint: 'stop-limit' });
    await world.post(buyAlert({ id: 'lost' }));
    await world.settled('lost');

    await send({ action: 'cancel', signalId: 'lost' });

    const open = await world.ledger.openOrders('main', 'BTC_USDT', 100);
    expect(open.map(({ signalId }) => signalId)).toContain('lost');
  });
});
