import { describe, expect, test } from '@jest/globals';
import { formatDecimal } from '../../lib/base/decimal.ts';
import { replayFills } from '../../lib/limits/replay-fills.ts';
import type { Fill } from '../../lib/model/execution.ts';

const midnightMs = Date.UTC(2026, 10, 22);

function fill(changes: Partial<Fill>): Fill {
  return {
    account: 'main',
    market: 'BTC_USDT',
    dealId: 1,
    atMs: midnightMs,
    signalId: 's',
    orderId: 1,
    role: 'order',
    side: 'buy',
    liquidity: 'taker',
    amount: '1',
    price: '100',
    notional: '100',
    fee: '0',
    feeAsset: 'USDT',
    ...changes,
  };
}

describe('The realised profit of a day', () => {
  test('counts what was closed since midnight, at the average cost of what was opened before', () => {
    const replayed = replayFills(
      new Map(),
      [
        fill({ atMs: midnightMs - 2, price: '100' }),
        fill({ atMs: midnightMs - 1, side: 'sell', amount: '0.5', price: '90' }),
        fill({ atMs: midnightMs, side: 'sell', amount: '0.5', price: '80', fee: '0.25' }),
        fill({
          atMs: midnightMs + 5,
          market: 'ETH_BTC',
          side: 'sell',
          price: '2',
          feeAsset: 'BTC',
          fee: '0.1',
        }),
      ],
      midnightMs,
    );

    expect([...replayed.byQuote].map(([quote, profit]) => [quote, formatDecimal(profit)])).toEqual([
      ['USDT', '-10.25'],
      ['BTC', '-0.1'],
    ]);
    expect(replayed.lastLossAtMs).toBe(midnightMs);
  });

  test('keeps the two positions of hedge mode apart', () => {
    const { byQuote, lastLossAtMs } = replayFills(
      new Map(),
      [
        fill({ positionSide: 'LONG', price: '100' }),
        fill({ positionSide: 'SHORT', side: 'sell', price: '90' }),
      ],
      midnightMs,
    );

    expect([...byQuote].map(([quote, profit]) => [quote, formatDecimal(profit)])).toEqual([['USDT', '0']]);
    expect(lastLossAtMs).toBeNull();
  });

  test.each([
    ['order', 'margin'],
    ['stop_loss', 'margin'],
    ['take_profit', 'margin'],
    ['other', 'margin'],
    ['order', 'spot'],
    ['stop_loss', 'spot'],
    ['other', 'spot'],
  ] as const)('knows when a fill of the role %s closed at a loss, on %s', (role, ground) => {
    const fills = [
      fill({}),
      fill({ atMs: midnightMs + 7, side: 'sell', price: '99', role }),
      // What only opens, or closes at a profit, starts no pause.
      fill({ atMs: midnightMs + 8, price: '95', fee: '1' }),
      fill({ atMs: midnightMs + 9, side: 'sell', price: '97', role }),
    ];
    expect(replayFills(new Map(), fills, midnightMs, () => ground === 'spot').lastLossAtMs).toBe(
      midnightMs + 7,
    );
  });

  test.each([
    ['a reduction', { onlyReduces: true }, false],
    ['a sale on spot', {}, true],
  ] as const)('books no opposite position for %s of what no fill had opened', (_, changes, isSpot) => {
    const { byQuote } = replayFills(
      new Map(),
      [
        fill({ side: 'sell', price: '100', ...changes }),
        fill({ side: 'buy', price: '110' }),
        fill({ side: 'sell', price: '105', ...changes }),
      ],
      midnightMs,
      () => isSpot,
    );

    expect([...byQuote].map(([quote, profit]) => [quote, formatDecimal(profit)])).toEqual([['USDT', '-5']]);
  });

  test('books what a stop-loss opened of a position that was closed before it', () => {
    const { byQuote } = replayFills(
      new Map(),
      [
        fill({ price: '100' }),
        fill({ side: 'sell', price: '99' }),
        fill({ side: 'sell', price: '98', role: 'stop_loss' }),
        fill({ side: 'buy', price: '103', role: 'other' }),
      ],
      midnightMs,
      () => false,
    );

    expect([...byQuote].map(([quote, profit]) => [quote, formatDecimal(profit)])).toEqual([['USDT', '-6']]);
  });
});
