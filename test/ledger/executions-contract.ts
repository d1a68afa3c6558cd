import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { Executions } from '../../lib/ledger/executions.ts';
import type { Ledger, Move } from '../../lib/ledger/ledger.ts';
import type { Execution, Fill } from '../../lib/model/execution.ts';
import { acceptOne } from '../support/accept-one.ts';

const noonMs = Date.UTC(2026, 0, 5, 12);

/** A store of executions, and the ledger that it is a part of. */
interface Fixture {
  readonly ledger: Ledger;
  readonly executions: Executions;
  close(): Promise<void>;
}

const key = { account: 'main', signalId: 'buy-1' };
const fill: Fill = {
  account: 'main',
  market: 'BTC_USDT',
  dealId: 7,
  atMs: noonMs + 500,
  signalId: 'buy-1',
  orderId: 42,
  role: 'order',
  side: 'buy',
  liquidity: 'taker',
  amount: '0.01',
  price: '60000',
  notional: '600',
  fee: '0.6',
  feeAsset: 'USDT',
};

function executionOf(revision: number, changes: Partial<Execution> = {}): Execution {
  const order = {
    role: 'order',
    orderId: 42,
    status: 'partially_filled',
    endedAtMs: null,
    filled: '0.01',
    filledNotional: '600',
    fees: { USDT: '0.6' },
  } as const;
  return { revision, readAtMs: noonMs + 1000, orders: [order], isFollowed: true, ...changes };
}

const ended: Partial<Execution> = {
  orders: [
    {
      role: 'order',
      orderId: 42,
      status: 'filled',
      endedAtMs: noonMs + 900,
      filled: '0.02',
      filledNotional: '1200',
      fees: { USDT: '1.2' },
    },
  ],
};

/** What every store of executions does. */
export function describeExecutions(name: string, open: () => Promise<Fixture>): void {
  describe(name, () => {
    let fixture: Fixture;
    beforeEach(async () => {
      fixture = await open();
    });
    afterEach(() => fixture.close());

    async function place(signalId = 'buy-1', orderOpen = true): Promise<void> {
      await acceptOne(fixture.ledger, {
        account: 'main',
        signalId,
        signal: {
          action: 'order',
          ticker: 'BTCUSDT',
          market: 'BTC_USDT',
          timeMs: null,
          maxLagMs: null,
          orderType: 'market',
          side: 'buy',
          size: { unit: 'base', quantity: '0.02' },
        },
        clientOrderId: `r-${signalId}`,
        fingerprint: 'f',
        atMs: noonMs,
      });
      const sending = { status: 'sending', atMs: noonMs, note: 'on its way' } as const;
      await fixture.ledger.start({ account: 'main', signalId }, sending, null);
      const step: Move['step'] = { status: 'placed', atMs: noonMs, note: 'placed' };
      await fixture.ledger.move(
        { account: 'main', signalId },
        { from: 'sending', step, orderId: 42, orderOpen },
      );
    }

    async function followedIds(): Promise<readonly string[]> {
      return (await fixture.executions.followed('main', 10)).map(({ signalId }) => signalId);
    }

    test('a placed order is followed, whether it rests or was filled at once', async () => {
      await place('rests', true);
      await place('filled', false);

      expect(new Set(await followedIds())).toEqual(new Set(['rests', 'filled']));
      expect(await fixture.executions.followed('other', 10)).toEqual([]);
      const open = await fixture.ledger.openOrders('main', 'BTC_USDT', 10);
      expect(open.map(({ signalId }) => signalId)).toEqual(['rests']);
    });

    test('an order that was closed by a cancellation is still followed', async () => {
      await place();

      await fixture.ledger.closeOrder(key);
      await fixture.ledger.closeOrder(key);

      expect(await followedIds()).toEqual(['buy-1']);
      expect(await fixture.ledger.read(key)).toMatchObject({ orderOpen: false });
    });

    test('an order that was closed by a cancellation stays closed when a list still shows it as open', async () => {
      await place();
      await fixture.ledger.closeOrder(key);

      expect(await fixture.executions.record(key, executionOf(1), [fill])).toBe(true);

      expect(await fixture.ledger.read(key)).toMatchObject({ orderOpen: false, execution: executionOf(1) });
      expect(await followedIds()).toEqual(['buy-1']);
    });

    test('what became of an order is stored with its fills', async () => {
      await place();

      expect(await fixture.executions.record(key, executionOf(1), [fill])).toBe(true);

      expect(await fixture.ledger.read(key)).toMatchObject({ orderOpen: true, execution: executionOf(1) });
      const page = await fixture.executions.listFills({
        account: 'main',
        fromMs: noonMs,
        untilMs: noonMs + 1000,
        limit: 5,
      });
      expect(page).toEqual({ fills: [fill], next: null });
    });

    test('of two writers that read the same, the second changes nothing', async () => {
      await place();
      await fixture.executions.record(key, executionOf(1), []);

      expect(await fixture.executions.record(key, { ...executionOf(1), readAtMs: noonMs + 9 }, [])).toBe(
        false,
      );

      expect(await fixture.ledger.read(key)).toMatchObject({ execution: executionOf(1) });
    });

    test('a fill that is stored twice is listed once', async () => {
      await place();
      await fixture.executions.record(key, executionOf(1), [fill]);
      await fixture.executions.record(key, executionOf(2), [fill, { ...fill, dealId: 8 }]);

      const { fills } = await fixture.executions.listFills({
        account: 'main',
        fromMs: 0,
        untilMs: noonMs + 1000,
        limit: 5,
      });

      expect(fills.map(({ dealId }) => dealId)).toEqual([7, 8]);
    });

    test('fills of one millisecond are in the order of their deals', async () => {
      await place();
      const fills = [10, 9, 100].map((dealId) => ({ ...fill, dealId }));
      await fixture.executions.record(key, executionOf(1), fills);

      const page = await fixture.executions.listFills({
        account: 'main',
        fromMs: 0,
        untilMs: noonMs + 1000,
        limit: 5,
      });

      expect(page.fills.map(({ dealId }) => dealId)).toEqual([9, 10, 100]);
    });

    test('a deal between two orders of the account is a fill of each of them', async () => {
      await place();
      await fixture.executions.record(key, executionOf(1), [fill]);
      await fixture.executions.record(key, executionOf(2), [{ ...fill, orderId: 43, side: 'sell' }]);
      const query = { account: 'main', fromMs: 0, untilMs: noonMs + 1000, limit: 1 };

      const first = await fixture.executions.listFills(query);
      const second = await fixture.executions.listFills({ ...query, cursor: first.next ?? '' });

      expect([...first.fills, ...second.fills].map(({ orderId }) => orderId)).toEqual([42, 43]);
    });

    test('a deal of no signal is listed beside the fills of signals, once', async () => {
      await place();
      const other: Fill = { ...fill, dealId: 6, orderId: 41, signalId: '', role: 'other', amount: '0.5' };
      await fixture.executions.recordOthers([]);
      await fixture.executions.recordOthers([other]);
      await fixture.executions.record(key, executionOf(1), [fill]);
      await fixture.executions.recordOthers([other, { ...other, amount: '0.6' }]);

      const query = { account: 'main', fromMs: 0, untilMs: noonMs + 1000, limit: 5 };

      expect((await fixture.executions.listFills(query)).fills).toEqual([other, fill]);
    });

    test('a deal of no signal that turns out to be one becomes its fill, and stays so', async () => {
      await place();
      const other: Fill = { ...fill, signalId: '', role: 'other' };
      await fixture.executions.recordOthers([other]);
      await fixture.executions.record(key, executionOf(1), [fill]);
      await fixture.executions.recordOthers([other]);
      await fixture.executions.record(key, executionOf(2), [{ ...fill, amount: '0.7' }]);

      const query = { account: 'main', fromMs: 0, untilMs: noonMs + 1000, limit: 5 };

      expect((await fixture.executions.listFills(query)).fills).toEqual([fill]);
    });

    test('an order that has ended no longer counts as open, and is followed until everything is known', async () => {
      await place();
      await fixture.executions.record(key, executionOf(1, ended), []);
      expect(await followedIds()).toEqual(['buy-1']);
      expect(await fixture.ledger.openOrders('main', 'BTC_USDT', 10)).toEqual([]);

      await fixture.executions.record(key, executionOf(2, { ...ended, isFollowed: false }), []);

      expect(await followedIds()).toEqual([]);
      expect(await fixture.ledger.read(key)).toMatchObject({ orderOpen: false, status: 'placed' });
    });

    test('fills are listed page by page, oldest first, from a time until before another', async () => {
      await place();
      const fills = [5, 4, 3, 2, 1].map((dealId) => ({ ...fill, dealId, atMs: noonMs + dealId * 10 }));
      await fixture.executions.record(key, executionOf(1), fills);
      const query = { account: 'main', fromMs: noonMs + 20, untilMs: noonMs + 50, limit: 2 };

      const first = await fixture.executions.listFills(query);
      const second = await fixture.executions.listFills({ ...query, cursor: first.next ?? '' });

      expect(first.fills.map(({ dealId }) => dealId)).toEqual([2, 3]);
      expect(second.fills.map(({ dealId }) => dealId)).toEqual([4]);
      expect(second.next).toBeNull();
      await expect(fixture.executions.listFills({ ...query, cursor: 'bm8=' })).rejects.toThrow(
        '"bm8=" is not a cursor of these fills: start from the first page',
      );
    });
  });
}
