import { describe, expect, test } from '@jest/globals';
import { type ExitCandidate, exitTest, mayBeExit } from '../../lib/account/exits.ts';
import { parseDecimal } from '../../lib/base/decimal.ts';
import type { WantedExit } from '../../lib/ledger/sent-order.ts';

/** The exits of a long entry of 0.1, order 7. */
const exits = {
  market: 'BTC_USDT',
  side: 'sell',
  entryOrderId: 7,
  filled: parseDecimal('0.1'),
} as const;

function order(changes: Partial<ExitCandidate> = {}): ExitCandidate {
  const [amount, price, activationPrice] = ['0.1', '47900', '48000'].map(parseDecimal);
  if (amount === undefined || price === undefined) throw new Error('three numbers were parsed');
  return {
    orderId: 8,
    clientOrderId: '',
    market: 'BTC_USDT',
    side: 'sell',
    amount,
    price,
    activationPrice,
    ...changes,
  };
}

const stopAt = (price: string | null, isReported = true): WantedExit => ({
  role: 'stop_loss',
  price: price === null ? null : parseDecimal(price),
  isReported,
});
const target: WantedExit = { role: 'take_profit', price: parseDecimal('52000'), isReported: true };
const limitAt = (price: string) => ({ price: parseDecimal(price), activationPrice: undefined });

describe('An order may be the exit of an entry', () => {
  test.each<[string, WantedExit, Partial<ExitCandidate>, boolean]>([
    ['a stop at the reported price', stopAt('48000'), {}, true],
    ['a stop beside the reported price', stopAt('48001'), {}, false],
    ['a stop that the exchange has rounded', stopAt('48000.004', false), {}, true],
    ['a stop too far for rounding', stopAt('48100', false), {}, false],
    ['an order with a name', stopAt('48000'), { clientOrderId: 'mine' }, false],
    ['an order of another market', stopAt('48000'), { market: 'ETH_USDT' }, false],
    ['an order of the other side', stopAt('48000'), { side: 'buy' }, false],
    ['an order of the spot account', stopAt('48000'), { onSpot: true }, false],
    ['an order older than the entry', stopAt('48000'), { orderId: 6 }, false],
    ['a limit where a stop-loss was asked for', stopAt('52000'), limitAt('52000'), false],
    ['a limit at the take-profit', target, limitAt('52000'), true],
    ['a stop of the whole entry, whose price nobody told', stopAt(null), {}, true],
    ['a stop without an amount, whose price nobody told', stopAt(null), { amount: parseDecimal('0') }, true],
    ['a stop of another amount', stopAt(null), { amount: parseDecimal('0.2') }, false],
    ['a limit, where the price of the stop is not known', stopAt(null), limitAt('48000'), false],
  ])('%s', (_, wanted, changes, expected) => {
    expect(mayBeExit(exits, wanted, order(changes))).toBe(expected);
  });
});

test('An order that the list of positions shows beside a position is an exit, whoever made it', () => {
  const isExit = exitTest(
    [],
    [{ stopLossId: 8, stopLoss: null, takeProfitId: null, takeProfit: null }, null],
  );

  expect([8, 9].map((orderId) => isExit(order({ orderId })))).toEqual([true, false]);
});
