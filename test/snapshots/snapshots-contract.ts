import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { parseDecimal } from '../../lib/base/decimal.ts';
import { toJson } from '../../lib/base/json.ts';
import type {
  BalanceSnapshot,
  CurrencyFees,
  FeeTerms,
  FeeVersion,
  InterestPayment,
  SnapshotStore,
} from '../../lib/snapshots/snapshot-store.ts';

/** An empty store. */
export interface SnapshotsFixture {
  readonly store: SnapshotStore;
  /** Opens a new store over the same data, as after a restart. */
  reopen(): Promise<SnapshotStore>;
  close(): Promise<void>;
}

export const noonMs = 1_767_268_800_000;
export const hourMs = 3_600_000;

export function snapshotAt(slotMs: number, main = '1.5'): BalanceSnapshot {
  return { slotMs, takenAtMs: slotMs + 700, main: { BTC: parseDecimal(main) }, collateral: null };
}

const nothing: FeeTerms = {
  minFlex: parseDecimal('0'),
  maxFlex: parseDecimal('0'),
  percentFlex: parseDecimal('0'),
  fixed: parseDecimal('0'),
  minAmount: parseDecimal('0'),
  maxAmount: parseDecimal('0'),
};

export function feesOf(fixed: string): CurrencyFees {
  return {
    canDeposit: true,
    canWithdraw: false,
    deposit: nothing,
    withdraw: { ...nothing, fixed: parseDecimal(fixed) },
  };
}

function version(ticker: string, fromMs: number, fixed: string | null): FeeVersion {
  return { ticker, fromMs, fees: fixed === null ? null : feesOf(fixed) };
}

export function paymentAt(paidAtMs: number, changes: Partial<InterestPayment> = {}): InterestPayment {
  return {
    planId: 'plan-1',
    investmentId: 'investment-1',
    ticker: 'USDT',
    amount: parseDecimal('12.34'),
    paidAtMs,
    nth: 1,
    ...changes,
  };
}

export async function collect<T>(items: AsyncIterable<T>): Promise<readonly T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}

const always = { fromMs: 0, untilMs: 10 ** 14 };

/** The contract of every snapshot store. */
export function describeSnapshots(name: string, openFixture: () => Promise<SnapshotsFixture>): void {
  let fixture: SnapshotsFixture;
  let store: SnapshotStore;

  beforeEach(async () => {
    fixture = await openFixture();
    store = fixture.store;
  });
  afterEach(() => fixture.close());

  describe(`${name}: balances`, () => {
    const slotsOf = async (fromMs: number, untilMs: number, account = 'main') =>
      (await collect(store.balances.list(account, { fromMs, untilMs }))).map(({ slotMs }) => slotMs);

    test('come back exactly as they were, after a restart too', async () => {
      const snapshot: BalanceSnapshot = {
        slotMs: noonMs,
        takenAtMs: noonMs + 1234,
        main: { BTC: parseDecimal('0.00000001'), USDT: parseDecimal('1000000000000.00000001') },
        collateral: { USDT: parseDecimal('-3.5') },
      };
      expect(await store.balances.write('main', snapshot)).toBe('stored');
      const expected = {
        slotMs: 1_767_268_800_000,
        takenAtMs: 1_767_268_801_234,
        main: { BTC: '0.00000001', USDT: '1000000000000.00000001' },
        collateral: { USDT: '-3.5' },
      };
      const reopened = await fixture.reopen();
      expect(toJson(await reopened.balances.readAt('main', noonMs))).toEqual(expected);
      expect(toJson(await collect(reopened.balances.list('main', always)))).toEqual([expected]);
    });

    test('distinguish empty collateral from none', async () => {
      await store.balances.write('main', { slotMs: 1, takenAtMs: 2, main: {}, collateral: {} });
      await store.balances.write('main', { slotMs: 2, takenAtMs: 2, main: {}, collateral: null });
      const [first, second] = await collect(store.balances.list('main', always));
      expect([first?.collateral, second?.collateral]).toEqual([{}, null]);
    });

    test('are stored once for each slot: the first snapshot stays', async () => {
      await store.balances.write('main', snapshotAt(noonMs, '1'));
      expect(await store.balances.write('main', snapshotAt(noonMs, '2'))).toBe('known');
      expect(toJson(await store.balances.readAt('main', noonMs))).toMatchObject({ main: { BTC: '1' } });
    });

    test('are stored once for a slot when twenty runs write at the same time', async () => {
      const results = await Promise.all(
        Array.from({ length: 20 }, (_, i) => store.balances.write('main', snapshotAt(noonMs, String(i)))),
      );
      expect(results.filter((result) => result === 'stored')).toHaveLength(1);
      expect(await slotsOf(0, 10 ** 14)).toEqual([noonMs]);
    });

    test('are listed oldest first, from the first millisecond of a period to before its last', async () => {
      for (const hours of [3, 0, 2, 1])
        await store.balances.write('main', snapshotAt(noonMs + hours * hourMs));
      expect(await slotsOf(noonMs, noonMs + 3 * hourMs)).toEqual([
        noonMs,
        noonMs + hourMs,
        noonMs + 2 * hourMs,
      ]);
      expect(await slotsOf(noonMs + 1, noonMs + 2 * hourMs + 1)).toEqual([
        noonMs + hourMs,
        noonMs + 2 * hourMs,
      ]);
    });

    test.each([
      ['empty', noonMs, noonMs],
      ['backward', noonMs + hourMs, noonMs],
      ['before the epoch', -hourMs, 0],
    ])('are none in a period that is %s', async (_, fromMs, untilMs) => {
      await store.balances.write('main', snapshotAt(0));
      await store.balances.write('main', snapshotAt(noonMs));
      expect(await slotsOf(fromMs, untilMs)).toEqual([]);
    });

    test('are found at or before a time, however old they are', async () => {
      for (const hours of [0, 1]) await store.balances.write('main', snapshotAt(noonMs + hours * hourMs));
      const slotAt = async (atMs: number) => (await store.balances.readAt('main', atMs))?.slotMs ?? null;
      expect(await slotAt(-1)).toBeNull();
      expect(await slotAt(noonMs - 1)).toBeNull();
      expect(await slotAt(noonMs)).toBe(noonMs);
      expect(await slotAt(noonMs + hourMs - 1)).toBe(noonMs);
      expect(await slotAt(noonMs + hourMs)).toBe(noonMs + hourMs);
      expect(await slotAt(10 ** 14)).toBe(noonMs + hourMs);
    });

    test('of one account are not listed for another, whatever its name', async () => {
      await store.balances.write('main', snapshotAt(noonMs));
      await store.balances.write('main-2', snapshotAt(noonMs + hourMs));
      expect(await slotsOf(0, 10 ** 14)).toEqual([noonMs]);
      expect((await store.balances.readAt('main', 10 ** 14))?.slotMs).toBe(noonMs);
      expect(await store.balances.readAt('mai', 10 ** 14)).toBeNull();
    });

    test('are listed to their end when they are many', async () => {
      const slots = Array.from({ length: 1001 }, (_, i) => noonMs + i * 60_000);
      await Promise.all(slots.map((slotMs) => store.balances.write('main', snapshotAt(slotMs))));
      expect(await slotsOf(0, 10 ** 14)).toEqual(slots);
    });
  });

  describe(`${name}: fees`, () => {
    const listed = async (ticker?: string) =>
      (await collect(store.fees.list('main', ticker))).map(({ fromMs, untilMs, fees, ...rest }) => [
        rest.ticker,
        fromMs,
        untilMs,
        fees?.withdraw.fixed.toFixed() ?? null,
      ]);

    test('come back exactly as they were', async () => {
      const fees: CurrencyFees = {
        canDeposit: false,
        canWithdraw: true,
        deposit: {
          minFlex: parseDecimal('1'),
          maxFlex: parseDecimal('2'),
          percentFlex: parseDecimal('0.3'),
          fixed: parseDecimal('0.00000004'),
          minAmount: parseDecimal('5'),
          maxAmount: parseDecimal('6000000000'),
        },
        withdraw: nothing,
      };
      await store.fees.append('main', null, { ticker: 'BTC', fromMs: noonMs, fees });
      const stored = {
        ticker: 'BTC',
        fromMs: noonMs,
        fees: {
          canDeposit: false,
          canWithdraw: true,
          deposit: {
            minFlex: '1',
            maxFlex: '2',
            percentFlex: '0.3',
            fixed: '0.00000004',
            minAmount: '5',
            maxAmount: '6000000000',
          },
          withdraw: {
            minFlex: '0',
            maxFlex: '0',
            percentFlex: '0',
            fixed: '0',
            minAmount: '0',
            maxAmount: '0',
          },
        },
      };
      const reopened = await fixture.reopen();
      expect(toJson(await reopened.fees.readCurrent('main'))).toEqual([stored]);
      expect(toJson(await collect(reopened.fees.list('main')))).toEqual([{ ...stored, untilMs: null }]);
    });

    test('have a history in which each version ends where the next begins', async () => {
      const [first, second, gone, back] = [
        version('BTC', 10, '0.0004'),
        version('BTC', 20, '0.0005'),
        version('BTC', 30, null),
        version('BTC', 40, '0.0006'),
      ] as const;
      for (const [known, next] of [
        [null, first],
        [first, second],
        [second, gone],
        [gone, back],
      ] as const)
        expect(await store.fees.append('main', known, next)).toBe(true);
      expect(await listed('BTC')).toEqual([
        ['BTC', 10, 20, '0.0004'],
        ['BTC', 20, 30, '0.0005'],
        ['BTC', 30, 40, null],
        ['BTC', 40, null, '0.0006'],
      ]);
      expect(toJson(await store.fees.readCurrent('main'))).toMatchObject([
        { ticker: 'BTC', fromMs: 40, fees: { withdraw: { fixed: '0.0006' } } },
      ]);
    });

    test('are added only if the stored version is the one the caller knows', async () => {
      const [first, second] = [version('BTC', 10, '1'), version('BTC', 20, '2')];
      await store.fees.append('main', null, first);
      expect(await store.fees.append('main', null, version('BTC', 15, '3'))).toBe(false);
      await store.fees.append('main', first, second);
      expect(await store.fees.append('main', first, version('BTC', 30, '3'))).toBe(false);
      expect(await listed()).toEqual([
        ['BTC', 10, 20, '1'],
        ['BTC', 20, null, '2'],
      ]);
    });

    test('are added once when ten runs see the same change', async () => {
      const first = version('BTC', 10, '1');
      await store.fees.append('main', null, first);
      // DynamoDB may cancel all conflicting transactions; those callers try again.
      const append = async (fromMs: number) => {
        const added = await store.fees.append('main', first, version('BTC', fromMs, '2')).catch(() => null);
        return added ?? (await store.fees.append('main', first, version('BTC', fromMs, '2')));
      };
      const results = await Promise.all(Array.from({ length: 10 }, (_, i) => append(20 + i)));
      expect(results.filter((isAdded) => isAdded)).toHaveLength(1);
      expect(await listed()).toHaveLength(2);
    });

    test('are listed by ticker, and of one ticker alone', async () => {
      for (const ticker of ['USDT', 'BTC2', 'BTC', 'ETH'])
        await store.fees.append('main', null, version(ticker, 10, '1'));
      await store.fees.append('other', null, version('SOL', 10, '1'));
      const tickers = ['BTC', 'BTC2', 'ETH', 'USDT'];
      expect((await listed()).map(([ticker]) => ticker)).toEqual(tickers);
      expect((await store.fees.readCurrent('main')).map(({ ticker }) => ticker)).toEqual(tickers);
      expect(await listed('BTC')).toEqual([['BTC', 10, null, '1']]);
      expect(await listed('BT')).toEqual([]);
    });

    test('keep a delisted currency among the current ones', async () => {
      const first = version('BTC', 10, '1');
      await store.fees.append('main', null, first);
      await store.fees.append('main', first, version('BTC', 20, null));
      expect(await store.fees.readCurrent('main')).toEqual([{ ticker: 'BTC', fromMs: 20, fees: null }]);
    });
  });

  describe(`${name}: interest payments`, () => {
    test('come back exactly as they were, oldest first, after a restart too', async () => {
      const payments = [
        paymentAt(noonMs + 1000, { amount: parseDecimal('0.000000000000000001') }),
        paymentAt(noonMs, { planId: 'plan "2" # ~', investmentId: '€', ticker: 'BTC' }),
      ];
      await store.interest.write('main', payments);
      const reopened = await fixture.reopen();
      expect(toJson(await collect(reopened.interest.list('main', always)))).toEqual([
        {
          planId: 'plan "2" # ~',
          investmentId: '€',
          ticker: 'BTC',
          amount: '12.34',
          paidAtMs: noonMs,
          nth: 1,
        },
        {
          planId: 'plan-1',
          investmentId: 'investment-1',
          ticker: 'USDT',
          amount: '0.000000000000000001',
          paidAtMs: noonMs + 1000,
          nth: 1,
        },
      ]);
    });

    test('are stored once, however often they are written', async () => {
      const payments = [paymentAt(noonMs), paymentAt(noonMs, { nth: 2 })];
      await store.interest.write('main', payments);
      await Promise.all([
        store.interest.write('main', payments.toReversed()),
        store.interest.write('main', [paymentAt(noonMs, { amount: parseDecimal('12.340') })]),
      ]);
      expect((await collect(store.interest.list('main', always))).map(({ nth }) => nth).sort()).toEqual([
        1, 2,
      ]);
    });

    test('that differ in one field are two', async () => {
      await store.interest.write('main', [
        paymentAt(noonMs),
        paymentAt(noonMs, { planId: 'plan-2' }),
        paymentAt(noonMs, { investmentId: 'investment-2' }),
        paymentAt(noonMs, { ticker: 'BTC' }),
        paymentAt(noonMs, { amount: parseDecimal('12.35') }),
        paymentAt(noonMs, { nth: 2 }),
        paymentAt(noonMs + 1000),
      ]);
      expect(await collect(store.interest.list('main', always))).toHaveLength(7);
    });

    test('are listed from the first millisecond of a period to before its last', async () => {
      await store.interest.write(
        'main',
        [0, 1000, 2000].map((ms) => paymentAt(noonMs + ms)),
      );
      await store.interest.write('other', [paymentAt(noonMs)]);
      const listed = await collect(store.interest.list('main', { fromMs: noonMs, untilMs: noonMs + 2000 }));
      expect(listed.map(({ paidAtMs }) => paidAtMs)).toEqual([noonMs, noonMs + 1000]);
      expect(await collect(store.interest.list('main', { fromMs: noonMs, untilMs: noonMs }))).toEqual([]);
    });

    test('are listed to their end when they are many, of one second too', async () => {
      const many = Array.from({ length: 1200 }, (_, i) => paymentAt(noonMs, { nth: i + 1 }));
      await store.interest.write('main', many);
      const listed = await collect(store.interest.list('main', always));
      expect(new Set(listed.map(({ nth }) => nth)).size).toBe(1200);
      expect(listed).toHaveLength(1200);
    });
  });

  describe(`${name}: the progress of an import`, () => {
    test('is empty before the first import', async () => {
      expect(await store.interest.readProgress('main')).toEqual({
        version: 0,
        completeUntilMs: null,
        gaps: [],
        refusal: null,
      });
    });

    test('comes back as it was, as the next version', async () => {
      const progress = {
        version: 0,
        importedAtMs: noonMs + 7,
        completeUntilMs: noonMs,
        gaps: [{ fromMs: 0, untilMs: 5 }],
        refusal: { atMs: noonMs, keyName: 'k', reason: 'no' },
      };
      expect(await store.interest.writeProgress('main', progress)).toBe(true);
      const reopened = await fixture.reopen();
      expect(await reopened.interest.readProgress('main')).toEqual({ ...progress, version: 1 });
      expect((await reopened.interest.readProgress('other')).version).toBe(0);
    });

    test('is written by only one of several writers that know the same version', async () => {
      const write = (version: number, completeUntilMs: number) =>
        store.interest.writeProgress('main', { version, completeUntilMs, gaps: [], refusal: null });
      const first = await Promise.all([write(0, 1), write(0, 1), write(0, 1)]);
      const second = await Promise.all([write(1, 2), write(1, 2)]);
      expect([first, second].map((results) => results.filter((isWritten) => isWritten).length)).toEqual([
        1, 1,
      ]);
      expect(await write(1, 9)).toBe(false);
      expect(await store.interest.readProgress('main')).toMatchObject({ version: 2, completeUntilMs: 2 });
    });
  });
}
