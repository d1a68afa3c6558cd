import { describe, expect, test } from '@jest/globals';
import { accountOn, issueOf, marketOrder, marketSignal, readSignal } from './reading.ts';

const spot = { account: accountOn('ETH_USDT', 'spot') };

describe('an action that names a position', () => {
  test.each([
    ['enter_long', { side: 'buy' }],
    ['ENTER-SHORT', { side: 'sell' }],
    ['exit_long', { side: 'sell', reduceOnly: true }],
    ['Exit Short', { side: 'buy', reduceOnly: true }],
  ])('%s is an order of %j', (action, order) => {
    expect(readSignal(marketOrder({ action }))).toEqual({ ...marketSignal, ...order });
  });

  test.each(['enter_short', 'exit_short'])('on a spot market, %s is refused', (action) => {
    expect(issueOf(marketOrder({ action }), spot)).toEqual({
      path: 'action',
      message: 'a spot market has no short positions',
      hint: 'write "buy" or "sell"',
    });
  });

  test.each([
    [
      { action: 'enter_long', positionSide: 'LONG' },
      { side: 'buy', positionSide: 'LONG' },
    ],
    [
      { action: 'exit_short', positionSide: 'both' },
      { side: 'buy', reduceOnly: true, positionSide: 'BOTH' },
    ],
  ])('may name the side of the position, too: %j', (members, order) => {
    expect(readSignal(marketOrder(members))).toEqual({ ...marketSignal, ...order });
  });

  test.each([
    ['enter_long', 'SHORT', 'long'],
    ['exit_short', 'LONG', 'short'],
  ])('%s contradicts the position side %s', (action, positionSide, named) => {
    expect(issueOf(marketOrder({ action, positionSide }))).toEqual({
      path: 'positionSide',
      message: `it is ${positionSide}, but the action names a ${named} position`,
      hint: 'correct one of them',
    });
  });
});

describe('a position side', () => {
  test.each([
    [{ sentiment: 'long', positionSide: 'SHORT' }, 'after the buy the position is said to be long'],
    [
      { action: 'sell', sentiment: 'short', positionSide: 'LONG' },
      'after the sell the position is said to be short',
    ],
    [{ sentiment: 'short', positionSide: 'LONG' }, 'a buy that only reduces meets a short position'],
    [{ reduceOnly: true, positionSide: 'LONG' }, 'a buy that only reduces meets a short position'],
    [
      { action: 'sell', quantityPercent: '50%', of: 'position', positionSide: 'SHORT' },
      'a sell that only reduces meets a long position',
    ],
  ])('that the rest of the alert contradicts is refused: %j', (members, reason) => {
    expect(issueOf(marketOrder(members))).toEqual({
      path: 'positionSide',
      message: `it is ${members.positionSide}, but ${reason}`,
      hint: 'correct one of them',
    });
  });

  test.each([
    [
      { action: 'sell', positionSide: 'LONG' },
      { side: 'sell', positionSide: 'LONG', reduceOnly: true },
    ],
    [
      { reduceOnly: true, sentiment: 'short', positionSide: 'SHORT' },
      { positionSide: 'SHORT', reduceOnly: true },
    ],
    [{ sentiment: 'long', positionSide: 'LONG' }, { positionSide: 'LONG' }],
    [
      { action: 'sell', positionSide: 'LONG', reduceOnly: false },
      { side: 'sell', positionSide: 'LONG', reduceOnly: true },
    ],
  ])('that agrees with the rest is taken: %j', (members, order) => {
    expect(readSignal(marketOrder(members))).toEqual({ ...marketSignal, ...order });
  });

  test.each([
    [
      'stopLoss',
      { stopLoss: '2%' },
      'the exchange takes no stop-loss or take-profit with an order that only reduces a position',
    ],
    [
      'quantity',
      { quantity: '50%' },
      'the order only reduces a position, and the alert does not say what the per cent is a share of',
    ],
  ])('that the order only reduces takes no %s of an entry', (path, members, message) => {
    expect(issueOf(marketOrder({ positionSide: 'SHORT', ...members }))).toMatchObject({ path, message });
  });
});

describe('reduceOnly', () => {
  test.each([true, 'true', ' True', 1, '1'])('is set by %j', (reduceOnly) => {
    expect(readSignal(marketOrder({ reduceOnly }))).toEqual({ ...marketSignal, reduceOnly: true });
  });

  test.each([false, 'FALSE', 0, '0'])('is not set by %j', (reduce_only) => {
    expect(readSignal(marketOrder({ reduce_only }))).toEqual(marketSignal);
  });

  test.each([
    [{ action: 'exit_long' }, 'the action exits a long position'],
    [{ quantityPercent: '50%', of: 'position' }, 'a share of the position only reduces it'],
    [{ sentiment: 'flat' }, 'a buy after which the position is flat only reduces'],
  ])('cannot be false beside %j', (members, reason) => {
    expect(issueOf(marketOrder({ ...members, reduceOnly: false }))).toEqual({
      path: 'reduceOnly',
      message: `it is false, but ${reason}`,
      hint: 'remove "reduceOnly"',
    });
  });

  test.each([
    { reduceOnly: true },
    { quantityPercent: '50%', of: 'position' },
    { sentiment: 'flat' },
    { sentiment: 'bearish' },
  ])('and an action that enters contradict each other: %j', (members) => {
    expect(issueOf(marketOrder({ action: 'enter_long', ...members }))).toEqual({
      path: 'action',
      message: 'it enters a long position, but another field says that the order only reduces one',
      hint: 'write "exit_long" or "exit_short", or remove the other field',
    });
  });
});

describe('the position after the order', () => {
  test.each([
    ['buy', 'long', {}],
    ['buy', 'bullish', {}],
    ['buy', 'flat', { reduceOnly: true, told: { after: 'flat' } }],
    ['buy', 'short', { reduceOnly: true }],
    ['sell', 'short', {}],
    ['sell', 'BEARISH', {}],
    ['sell', 'flat', { reduceOnly: true, told: { after: 'flat' } }],
    ['sell', 'long', { reduceOnly: true }],
    ['exit_long', 'flat', { side: 'sell', reduceOnly: true, told: { after: 'flat' } }],
    ['enter_short', 'short', { side: 'sell' }],
  ])('decides whether the order only reduces: %s, then %s', (action, sentiment, order) => {
    const side = action === 'buy' ? 'buy' : 'sell';

    expect(readSignal(marketOrder({ action, sentiment }))).toEqual({ ...marketSignal, side, ...order });
    expect(readSignal(marketOrder({ action, market_position: sentiment }))).toMatchObject(order);
  });

  test.each([
    [{ action: 'buy', sentiment: 'long', reduceOnly: true }, 'buy', 'long'],
    [{ action: 'exit_long', sentiment: 'short' }, 'sell', 'short'],
  ])('cannot be one that the order does not leave: %j', (members, side, sentiment) => {
    expect(issueOf(marketOrder(members))).toEqual({
      path: 'sentiment',
      message: `after a ${side} that only reduces, the position is not ${sentiment}`,
      hint: 'remove it, or what makes the order reduce',
    });
  });

  test('is one of three', () => {
    expect(issueOf(marketOrder({ sentiment: 'neutral' }))).toEqual({
      path: 'sentiment',
      message: '"neutral" is not a position',
      hint: 'write one of "long", "short", "flat"',
    });
  });

  test.each([
    ['buy', 'long', {}],
    ['sell', 'long', { reduceOnly: true }],
    ['sell', 'flat', { reduceOnly: true }],
  ])('may stand in an alert for a spot market: %s, then %s', (action, sentiment, order) => {
    expect(readSignal(marketOrder({ action, sentiment }), spot)).toEqual({
      ...marketSignal,
      side: action,
      ...order,
    });
  });

  test.each([
    ['buy', 'flat'],
    ['buy', 'short'],
    ['sell', 'short'],
  ])('cannot be short on a spot market: %s, then %s', (action, sentiment) => {
    expect(issueOf(marketOrder({ action, sentiment }), spot)).toEqual({
      path: 'sentiment',
      message: 'a spot market has no short positions',
      hint: 'remove it, or correct "action"',
    });
  });
});
