import { describe, expect, test } from '@jest/globals';
import { findLastMoves, isTrusted } from '../../lib/account/trust-reading.ts';
import { parseDecimal } from '../../lib/base/decimal.ts';
import type { Entry, Step } from '../../lib/ledger/entry.ts';
import type { Execution } from '../../lib/model/execution.ts';
import type { OrderStatus } from '../../lib/model/order.ts';
import type { Status } from '../../lib/model/outcome.ts';
import type { OrderReport, PositionFact, StepFacts } from '../../lib/model/step-facts.ts';

const sentAtMs = 1_000_000;

/** The last move of the market; null when there is none. */
const findLastOrder = (entries: readonly Entry[], market: string) =>
  findLastMoves(entries, market).at(-1) ?? null;

interface Sent {
  readonly id?: string;
  readonly status?: Status;
  readonly market?: string;
  readonly seen?: PositionFact;
  readonly placed?: StepFacts;
  readonly atMs?: number;
}

function entryOf({
  id = 'a',
  status = 'placed',
  market = 'BTC_PERP',
  seen,
  placed,
  atMs = sentAtMs,
}: Sent): Entry {
  const sending: Step = {
    status: 'sending',
    atMs,
    note: '',
    ...(seen === undefined ? {} : { facts: { position: seen } }),
  };
  const last: Step = {
    status,
    atMs: atMs + 100,
    note: '',
    ...(placed === undefined ? {} : { facts: placed }),
  };
  return {
    account: 'main',
    signalId: id,
    status,
    signal: { ticker: 'X', market, timeMs: null, maxLagMs: null, action: 'close' },
    clientOrderId: 'tr-1',
    fingerprint: 'f',
    createdAtMs: atMs,
    updatedAtMs: atMs + 100,
    steps: [sending, last],
    orderId: 1,
    orderOpen: false,
    lookup: null,
    execution: null,
  };
}

const report = (side: 'buy' | 'sell', filled: string, status: OrderStatus): OrderReport => ({
  orderId: 1,
  side,
  status,
  amount: '1',
  filled,
  createdAtMs: null,
  endedAtMs: null,
});
const bought = (filled: string, status: OrderStatus = 'filled'): StepFacts => ({
  report: report('buy', filled, status),
});

describe('the last order of a market', () => {
  test('is none that had no fill when it was answered, whether it rests or has ended: the list need not change', () => {
    const lastOf = (placed: StepFacts) => findLastOrder([entryOf({ placed })], 'BTC_PERP')?.signalId ?? null;

    expect(lastOf(bought('0', 'open'))).toBeNull();
    expect(lastOf(bought('0.1', 'partially_filled'))).toBe('a');
    expect(lastOf(bought('0', 'cancelled'))).toBeNull();
    expect(lastOf({ ...bought('0', 'open'), ended: report('buy', '0', 'cancelled') })).toBeNull();
    expect(lastOf({ ...bought('0', 'open'), ended: null })).toBe('a');
    expect(lastOf({})).toBe('a');
  });

  test('says what the position must be after it', () => {
    const last = (entry: Sent) => findLastOrder([entryOf(entry)], 'BTC_PERP')?.expected;

    expect(last({ seen: { amount: '1' }, placed: bought('0.5') })).toEqual({
      amount: parseDecimal('1.5'),
      side: null,
    });
    expect(last({ seen: { amount: '1', side: 'LONG' }, placed: bought('0.5') })).toMatchObject({
      side: 'LONG',
    });
    expect(
      last({
        seen: { amount: '0.5' },
        placed: { report: report('sell', '0.5', 'cancelled') },
      }),
    ).toEqual({ amount: parseDecimal('0'), side: null });
    expect(
      last({
        seen: { amount: '0' },
        placed: { ...bought('0', 'open'), ended: report('buy', '0.2', 'cancelled') },
      }),
    ).toEqual({ amount: parseDecimal('0.2'), side: null });
  });

  test.each([
    ['-0.3', parseDecimal('-0.3')],
    [null, undefined],
  ])('is known to have turned into %s when its close was answered', (turned, amount) => {
    const close = { report: report('sell', '1', 'filled'), turned };

    expect(
      findLastOrder([entryOf({ seen: { amount: '1' }, placed: close })], 'BTC_PERP')?.expected?.amount,
    ).toEqual(amount);
  });

  test.each(['-0.3', null])(
    'did not end when the position turned into %s: a list from between the two does not count',
    (turned) => {
      const sold = { ...report('sell', '1', 'filled'), endedAtMs: sentAtMs };
      const entry = entryOf({ seen: { amount: '1' }, placed: { report: sold, turned } });
      const last = findLastOrder([entry], 'BTC_PERP');
      if (last === null) throw new Error('there is no last order');
      const flat = {
        position: { amount: parseDecimal('0'), side: null },
        readAtMs: sentAtMs,
        modifiedAtMs: sentAtMs,
      };

      expect(last.endedAtMs).toBeNull();
      expect(isTrusted(flat, last)).toBe(false);
    },
  );

  test.each<[string, Sent]>([
    ['nobody read the position before it', { placed: bought('0.5') }],
    ['it may still fill', { seen: { amount: '1' }, placed: bought('0.5', 'partially_filled') }],
    ['nothing says how much of it filled', { seen: { amount: '1' }, placed: {} }],
  ])('says nothing when %s', (_, entry) => {
    expect(findLastOrder([entryOf(entry)], 'BTC_PERP')).toMatchObject({
      signalId: 'a',
      answeredAtMs: sentAtMs + 100,
      endedAtMs: null,
      expected: null,
    });
  });

  const executed = (
    filled: string,
    role: 'order' | 'take_profit',
    endedAtMs: number | null = sentAtMs + 5_000,
  ): Execution => ({
    revision: 1,
    readAtMs: sentAtMs + 60_000,
    isFollowed: false,
    orders: [{ role, orderId: 1, status: 'filled', endedAtMs, filled, filledNotional: '1', fees: {} }],
  });

  test.each<[string, Execution, StepFacts, number | null]>([
    ['that had rested', executed('0.1', 'order'), bought('0', 'open'), sentAtMs + 5_000],
    ['that is filled in part', executed('0.1', 'order', null), bought('0', 'open'), null],
    ['that was an exit', executed('0.1', 'take_profit'), bought('0.1'), sentAtMs + 5_000],
  ])('is a later fill of an order %s, as soon as it is stored', (_, execution, placed, endedAtMs) => {
    const entry = { ...entryOf({ placed }), execution };

    expect(findLastOrder([entry, entryOf({ id: 'next', atMs: sentAtMs + 9 })], 'BTC_PERP')).toMatchObject({
      signalId: 'a',
      answeredAtMs: endedAtMs === null ? sentAtMs + 60_000 : endedAtMs + 10_000,
      endedAtMs,
      expected: null,
    });
  });

  test.each([
    ['since it ended, when the clock was behind as it was read', 7_000, 7_000],
    ['for one more minute at most', 90_000, 60_000],
  ])('counts %s', (_, behindMs, laterMs) => {
    const readAtMs = sentAtMs + 60_000;
    const execution = executed('0.1', 'order', readAtMs + behindMs);
    const entry = { ...entryOf({ placed: bought('0', 'open') }), execution };

    expect(findLastOrder([entry], 'BTC_PERP')?.answeredAtMs).toBe(readAtMs + laterMs);
  });

  test('that ended in the millisecond of another one may not be listed with it', () => {
    const one = { ...entryOf({ placed: bought('0', 'open') }), execution: executed('0.1', 'order') };
    const ends = (...ids: readonly string[]) =>
      findLastMoves(
        ids.map((id) => ({ ...one, signalId: id })),
        'BTC_PERP',
      ).map(({ endedAtMs }) => endedAtMs);

    expect(ends('a')).toEqual([sentAtMs + 5_000]);
    expect(ends('a', 'b')).toEqual([null, null]);
  });

  test('stays the same while nothing more is filled than its response said', () => {
    const entry = { ...entryOf({ placed: bought('0.1') }), execution: executed('0.1', 'order') };

    expect(findLastOrder([entry], 'BTC_PERP')?.answeredAtMs).toBe(sentAtMs + 100);
  });

  const part = (filled: string): StepFacts => ({ cancelled: [{ orderId: 1, filled }] });
  const cancelWith = (facts: StepFacts): Entry => {
    const { steps, ...entry } = entryOf({
      id: 'c',
      status: 'cancelled',
      placed: facts,
      atMs: sentAtMs + 9,
    });
    const [sending, last] = steps as readonly [Step, Step];
    return {
      ...entry,
      orderId: null,
      steps: [{ ...sending, facts: { placedBy: ['a'] } }, last],
      signal: {
        ticker: 'X',
        market: 'BTC_PERP',
        timeMs: null,
        maxLagMs: null,
        action: 'cancel_all',
        scope: 'own',
      },
    };
  };

  test.each<[string, StepFacts, string, boolean]>([
    ['is filled in part', part('0.1'), '0', true],
    ['is gone, and perhaps filled', { wasGone: true }, '0', true],
    ['is filled as far as was known', part('0.1'), '0.1', false],
    ['is not filled', part('0'), '0', false],
  ])('is a fill that a cancellation found when the order %s', (_, facts, known, isFound) => {
    const order = entryOf({ placed: bought(known, 'open') });

    const moves = findLastMoves([order, cancelWith(facts)], 'BTC_PERP');

    expect(moves.some(({ answeredAtMs }) => answeredAtMs === sentAtMs + 109)).toBe(isFound);
  });

  test('is not one that was cancelled before any fill', () => {
    const order = entryOf({ placed: bought('0', 'open') });

    expect(findLastMoves([order, cancelWith(part('0'))], 'BTC_PERP')).toEqual([]);
  });

  test('is the one that was sent last, and of one millisecond the one that was stored last', () => {
    const entries = [
      entryOf({ id: 'old', atMs: sentAtMs + 1 }),
      entryOf({ id: 'first', atMs: sentAtMs + 2 }),
      entryOf({ id: 'second', atMs: sentAtMs + 2 }),
      entryOf({ id: 'elsewhere', atMs: sentAtMs + 9, market: 'ETH_PERP' }),
      entryOf({ id: 'refused', atMs: sentAtMs + 9, status: 'rejected' }),
    ];

    expect(findLastOrder(entries, 'BTC_PERP')?.signalId).toBe('second');
    expect(findLastOrder(entries, 'SOL_PERP')).toBeNull();
  });
});

describe('a reading of the position', () => {
  const answeredAtMs = sentAtMs;
  const reading = (amount: string, lateMs: number) => ({
    position: { amount: parseDecimal(amount), side: null },
    readAtMs: answeredAtMs + lateMs,
    modifiedAtMs: null,
  });
  const last = {
    signalId: 'a',
    answeredAtMs,
    endedAtMs: 500,
    expected: { amount: parseDecimal('0.5'), side: null },
  };

  test.each([
    ['agrees', '0.5', 0, true],
    ['agrees, written with another number of digits', '0.50', 0, true],
    ['differs by a step', '0.6', 0, false],
    ['has the other sign', '-0.5', 0, false],
    ['is flat', '0', 0, false],
    ['differs at the end of the longest lag', '0.6', 10_000, false],
    ['differs a millisecond later', '0.6', 10_001, true],
    ['differs, and was made before the answer by a clock that was set back', '0.6', -1, false],
  ])('that %s (%s, %i ms) counts: %s', (_, amount, lateMs, expected) => {
    expect(isTrusted(reading(amount, lateMs), last)).toBe(expected);
  });

  test.each([
    ['counts', 500, 500, true],
    ['does not count', 499, 500, false],
    ['does not count', 500, null, false],
  ])(
    '%s when the position changed at %s and the order ended at %s',
    (_, modifiedAtMs, endedAtMs, expected) => {
      const order = { ...last, endedAtMs, expected: null };

      expect(isTrusted({ ...reading('7', -600_000), modifiedAtMs }, order)).toBe(expected);
    },
  );

  test.each([
    ['counts', 9_000],
    ['does not count', 8_999],
  ])(
    'that is as expected %s when the position changed at %i and the order ended at 10,000',
    (text, modifiedAtMs) => {
      const order = { ...last, endedAtMs: 10_000 };

      expect(isTrusted({ ...reading('0.5', 0), modifiedAtMs }, order)).toBe(text === 'counts');
    },
  );

  test.each([
    ['differs, and is older than the order by the clock of the exchange', '0.6', 8_999, [false, false, true]],
    ['is as expected, but older', '0.5', 8_999, [true, true, true]],
    ['differs, and is hardly older', '0.6', 9_000, [true, true, true]],
  ])('that %s (%s) is waited for, should the clock here have been set', (_, amount, modifiedAtMs, counts) => {
    const order = { ...last, endedAtMs: 10_000 };
    const isCounted = (lateMs: number) => isTrusted({ ...reading(amount, lateMs), modifiedAtMs }, order);

    expect([10_001, 30_000, 30_001].map(isCounted)).toEqual(counts);
  });

  test('after an order of which nothing is known counts only after the longest lag', () => {
    const unknown = { ...last, expected: null };

    expect([0, 10_000, 10_001].map((lateMs) => isTrusted(reading('0.5', lateMs), unknown))).toEqual([
      false,
      false,
      true,
    ]);
  });

  test('of one side in hedge mode says nothing about the other one', () => {
    const long = { ...last, expected: { amount: parseDecimal('0.5'), side: 'LONG' as const } };

    expect(
      isTrusted({ ...reading('0.5', 0), position: { amount: parseDecimal('0.5'), side: 'SHORT' } }, long),
    ).toBe(false);
  });
});
