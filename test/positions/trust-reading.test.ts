import { describe, expect, test } from '@jest/globals';
import { parseDecimal } from '../../lib/base/decimal.ts';
import type { Json } from '../../lib/base/json.ts';
import type { Entry, Step } from '../../lib/ledger/entry.ts';
import type { Status } from '../../lib/model/outcome.ts';
import { findLastOrder, isTrusted } from '../../lib/positions/trust-reading.ts';

const sentAtMs = 1_000_000;

interface Sent {
  readonly id?: string;
  readonly status?: Status;
  readonly market?: string;
  readonly seen?: Json;
  readonly placed?: Json;
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
    ...(seen === undefined ? {} : { evidence: { position: seen } }),
  };
  const last: Step = {
    status,
    atMs: atMs + 100,
    note: '',
    ...(placed === undefined ? {} : { evidence: placed }),
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

const bought = (filled: string, status = 'filled') => ({ order: { side: 'buy', status, filled } });

describe('the last order of a market', () => {
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
        placed: { order: { side: 'sell', status: 'cancelled', filled: '0.5' } },
      }),
    ).toEqual({ amount: parseDecimal('0'), side: null });
    expect(
      last({
        seen: { amount: '0' },
        placed: { placed: bought('0', 'open'), ended: bought('0.2', 'cancelled').order },
      }),
    ).toEqual({ amount: parseDecimal('0.2'), side: null });
  });

  test.each<[string, Sent]>([
    ['nobody read the position before it', { placed: bought('0.5') }],
    ['it may still fill', { seen: { amount: '1' }, placed: bought('0.5', 'partially_filled') }],
    ['nothing says how much of it filled', { seen: { amount: '1' }, placed: null }],
  ])('says nothing when %s', (_, entry) => {
    expect(findLastOrder([entryOf(entry)], 'BTC_PERP')).toEqual({
      signalId: 'a',
      answeredAtMs: sentAtMs + 100,
      expected: null,
    });
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
  });
  const last = { signalId: 'a', answeredAtMs, expected: { amount: parseDecimal('0.5'), side: null } };

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

  test('counts when this relay has no order in the market', () => {
    expect(isTrusted(reading('7', 0), null)).toBe(true);
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
