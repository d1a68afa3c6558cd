import { afterEach, describe, expect, test } from '@jest/globals';
import { dialects } from '../../lib/exchange/dialect.ts';
import type { FaultRequest } from '../../lib/paper/faults.ts';
import { buyAlert } from '../support/alerts.ts';
import { openWorld, type World } from '../support/world.ts';

/** The README's outcome table, row by row: the fault, what the ledger shows, how many orders the exchange holds. */
const rows: readonly {
  readonly name: string;
  readonly fault: FaultRequest;
  readonly status: string;
  readonly orders: number;
}[] = [
  { name: 'refuse', fault: { fault: 'refuse' }, status: 'rejected', orders: 0 },
  { name: 'drop_before', fault: { fault: 'drop_before' }, status: 'unknown', orders: 0 },
  { name: 'drop_after', fault: { fault: 'drop_after' }, status: 'unknown', orders: 1 },
  { name: 'delay, within the deadline', fault: { fault: 'delay', delayMs: 5 }, status: 'placed', orders: 1 },
  {
    name: 'delay, beyond the deadline',
    fault: { fault: 'delay', delayMs: 3_600_000 },
    status: 'unknown',
    orders: 1,
  },
  { name: 'error_before', fault: { fault: 'error_before' }, status: 'unknown', orders: 0 },
  { name: 'error_after', fault: { fault: 'error_after' }, status: 'unknown', orders: 1 },
  { name: 'garbage', fault: { fault: 'garbage' }, status: 'unknown', orders: 1 },
  { name: 'nonce_429, once', fault: { fault: 'nonce_429' }, status: 'placed', orders: 1 },
  { name: 'nonce_429, always', fault: { fault: 'nonce_429', probability: 1 }, status: 'not_sent', orders: 0 },
  { name: 'rate_429, once', fault: { fault: 'rate_429' }, status: 'placed', orders: 1 },
  { name: 'rate_429, always', fault: { fault: 'rate_429', probability: 1 }, status: 'not_sent', orders: 0 },
];

describe.each(dialects)('faults of the exchange while a stop-limit is sent, in the %s dialect', (dialect) => {
  let world: World;
  afterEach(() => world.close());

  async function openWith(fault: FaultRequest): Promise<void> {
    world = await openWorld({ dialect, exchangeTimeoutMs: 1_000 });
    world.setPrice('BTC_USDT', '50000');
    // The market list is read before the fault strikes, as in any relay that has been up for a second.
    await world.post(buyAlert({ id: 'warm-up', quantity: '5' }));
    await world.settled('warm-up');
    world.paper.control.addFault({ endpoint: 'stop-limit', ...fault });
  }

  test.each(rows)('$name → $status', async ({ fault, status, orders }) => {
    await openWith(fault);

    await world.post(buyAlert());

    expect(await world.settled('buy-1')).toMatchObject({
      status,
      orderOpen: status === 'placed' || status === 'unknown',
    });
    expect(world.paper.control.state().orders).toHaveLength(orders);
    // A resend of the alert changes nothing, whatever happened.
    expect((await world.post(buyAlert())).body).toMatchObject({ duplicate: true, status });
    expect(world.paper.control.state().orders).toHaveLength(orders);
  });

  test('down → not_sent', async () => {
    await openWith({ fault: 'down', durationMs: 3_600_000 });

    await world.post(buyAlert());

    expect(await world.settled('buy-1')).toMatchObject({ status: 'not_sent', orderOpen: false });
    expect(world.paper.control.state().orders).toHaveLength(0);
  });

  test('an unknown outcome is an alarm, and later signals of the market still go', async () => {
    await openWith({ fault: 'drop_after' });

    await world.post(buyAlert());
    await world.post(buyAlert({ id: 'buy-2' }));

    expect(await world.settled('buy-2')).toMatchObject({ status: 'placed' });
    expect(
      world.logged.filter(({ level, facts }) => level === 'error' && facts['alarm'] === true),
    ).toHaveLength(1);
    expect(world.paper.control.state().orders).toHaveLength(2);
  });

  test('an order that may exist is cancelled by its client order id', async () => {
    await openWith({ fault: 'drop_after' });
    await world.post(buyAlert());
    await world.settled('buy-1');

    await world.post(JSON.stringify({ id: 'clean-up', ticker: 'BTCUSDT', action: 'cancel_all' }));

    expect(await world.settled('clean-up')).toMatchObject({ status: 'cancelled' });
    expect(world.paper.control.state().orders).toMatchObject([{ status: 'cancelled' }]);
  });
});

describe('a relay configured for the wrong dialect', () => {
  test('raises an alarm instead of trusting an order without its client order id', async () => {
    const world = await openWorld({ dialect: 'live', relayDialect: 'documented' });
    world.setPrice('BTC_USDT', '50000');

    await world.post(buyAlert());

    expect(await world.settled('buy-1')).toMatchObject({ status: 'unknown' });
    expect(world.logged.some(({ facts }) => facts['alarm'] === true)).toBe(true);
    await world.close();
  });
});
