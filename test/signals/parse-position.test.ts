import { describe, expect, test } from '@jest/globals';
import type { Account, TradingGround } from '../../lib/model/account.ts';
import type { Signal } from '../../lib/model/signal.ts';
import { accountOn, issueOf, readAlert, refusalOf } from './reading.ts';

const market = 'ETH_USDT';

function on(tradesOn: TradingGround, changes: Partial<Account> = {}) {
  return { account: { ...accountOn(market, tradesOn), ...changes } };
}

function alertWith(members: object): string {
  return JSON.stringify({ ticker: 'ETHUSDT', time: '2026-01-31T12:00:00Z', ...members });
}

/** The legs of an alert, without what every signal has. */
function legsOf(members: object, account: Partial<Account> = {}) {
  const own = ({ ticker: _, market: __, timeMs: ___, maxLagMs: ____, ...rest }: Signal) => rest;
  return readAlert(alertWith(members), on('futures', account)).items.flatMap(({ signal, reduceLeg }) => [
    ...(reduceLeg === undefined ? [] : [['leg', own(reduceLeg)]]),
    ['signal', own(signal)],
  ]);
}

function issueWith(members: object, tradesOn: TradingGround = 'futures') {
  return issueOf(alertWith(members), on(tradesOn));
}

describe('a close', () => {
  test.each(['close', 'exit', 'close_position', 'CLOSE'])('is one signal: %s', (action) => {
    expect(legsOf({ action })).toEqual([['signal', { action: 'close' }]]);
  });

  test.each([
    [{ quantity: '50%' }, '50%'],
    [{ quantityPercent: '100%' }, '100%'],
    [{ quantity: '50%', of: 'position' }, '50%'],
    [{ quantity: 25, quantityType: 'percent_of_position' }, '25%'],
  ])('takes a share of the position: %j', (size, part) => {
    expect(legsOf({ action: 'close', ...size })).toEqual([['signal', { action: 'close', part }]]);
  });

  test.each([{ action: 'exit' }, { action: 'exit_long' }, { action: 'flat' }])(
    'leaves the resting entries with cancel: false, as with keepEntries: %j',
    (members) => {
      const kept = legsOf({ ...members, keepEntries: true });

      expect(legsOf({ ...members, cancel: false })).toEqual(
        kept.map(([kind, leg]) => [kind, { ...(leg as object), info: { cancel: 'false' } }]),
      );
      expect(kept).toMatchObject([['signal', { keepEntries: true }]]);
    },
  );

  test('cancel: false beside an order of its own size changes nothing', () => {
    expect(legsOf({ action: 'buy', quantity: 1, cancel: false, orderType: 'market' })).toEqual([
      ['signal', expect.not.objectContaining({ keepEntries: true })],
    ]);
  });

  test.each([
    { sentiment: 'flat' },
    { market_position: 'flat', reduceOnly: true },
    { reduceOnly: 'true', orderType: 'market' },
  ])('may say what a close means anyway: %j', (members) => {
    expect(legsOf({ action: 'exit', ...members })).toEqual([['signal', { action: 'close' }]]);
  });

  test.each([
    [{ action: 'exit_long' }, 'long'],
    [{ action: 'close_long', orderType: 'market' }, 'long'],
    [{ action: 'closeShort', sentiment: 'flat' }, 'short'],
    [{ action: 'exit_short', reduceOnly: true }, 'short'],
    [{ action: 'sell', sentiment: 'flat' }, 'long'],
    [{ action: 'buy', marketPosition: 'flat' }, 'short'],
  ])('of a named side, without a size, closes all of that side and nothing else: %j', (members, only) => {
    expect(legsOf(members)).toEqual([['signal', { action: 'close', only }]]);
  });

  test.each([{ quantity: '1' }, { orderType: 'limit', limitPrice: 4000, quantity: 1 }])(
    'of a named side, with a size, is an order that only reduces: %j',
    (size) => {
      expect(legsOf({ action: 'close_long', ...size })).toMatchObject([
        ['signal', { action: 'order', side: 'sell', reduceOnly: true }],
      ]);
    },
  );

  test('of a named side contradicts a size of the other side', () => {
    expect(issueWith({ action: 'exit_long', positionSide: 'SHORT' })).toEqual({
      path: 'positionSide',
      message: 'it is SHORT, but the action names a long position',
      hint: 'correct one of them',
    });
  });

  test('names the position of an account in hedge mode', () => {
    expect(legsOf({ action: 'close', positionSide: 'SHORT' })).toEqual([
      ['signal', { action: 'close', positionSide: 'SHORT' }],
    ]);
  });

  test.each([{ quantity: 0.5 }, { quoteQuantity: 100 }])('takes no amount: %j', (size) => {
    expect(issueWith({ action: 'close', ...size })).toEqual({
      path: Object.keys(size)[0],
      message: 'a close takes a per cent of the position as its size',
      hint: 'remove it to close all, or write "quantity": "50%"; for an amount write "action": "exit_long" (or "exit_short") with "orderType": "market"',
    });
  });

  test.each([
    [{ quantity: '50%', of: 'balance' }, 'of', 'a close takes a share of the position'],
    [{ stopLoss: '2%' }, 'stopLoss', 'a close leaves no position to protect'],
    [{ takeProfit: 4000 }, 'takeProfit', 'a close leaves no position to protect'],
    [{ target: 0 }, 'target', 'a close ends the position'],
    [{ sentiment: 'long' }, 'sentiment', 'a close ends the position'],
    [{ quantity: '50%', sentiment: 'flat' }, 'sentiment', 'after a close of 50% the position is not flat'],
    [{ limitPrice: 4000 }, 'limitPrice', 'a close is carried out at market'],
    [{ reduceOnly: false }, 'reduceOnly', 'it is false, but a close only reduces'],
    [{ volume: '12' }, 'volume', 'without a size it could be the size of the order'],
    [{ requirePosition: 'long' }, 'requirePosition', 'a close is carried out at market'],
    [{ orderType: 'limit' }, 'orderType', 'position actions are carried out at market, within maxSlippage'],
  ])('is refused with %j', (members, path, message) => {
    expect(issueWith({ action: 'close', ...members })).toMatchObject({ path, message });
  });

  // A price that only informs is taken out, and what is left closes the whole position.
  test.each([
    [{ action: 'exit_long', orderType: 'market', price: '60000' }],
    [{ action: 'exit_long', price: '0' }],
    [{ action: 'sell', sentiment: 'flat', price: '0' }],
  ])('that %j asks for is refused with a volume, which could be its size', (members) => {
    expect(issueWith({ ...members, volume: '0.5' })).toMatchObject({
      path: 'volume',
      message: 'without a size it could be the size of the order',
    });
  });
});

describe('keepEntries', () => {
  test.each([[true], ['true'], [1]])('is kept with every leg: %j', (keepEntries) => {
    expect(legsOf({ action: 'close', keepEntries })).toEqual([
      ['signal', { action: 'close', keepEntries: true }],
    ]);
    const legs = legsOf({ action: 'reverse', keepEntries });
    expect(legs.map(([, signal]) => signal)).toMatchObject([{ keepEntries: true }, { keepEntries: true }]);
    expect(legsOf({ action: 'flat', keepEntries })).toMatchObject([['signal', { keepEntries: true }]]);
  });

  test('that is false says nothing', () => {
    expect(legsOf({ action: 'close', keepEntries: false })).toEqual([['signal', { action: 'close' }]]);
  });

  test('is refused beside an order', () => {
    const order = { action: 'buy', orderType: 'market', quantity: 1, keepEntries: true };
    expect(issueWith(order)).toMatchObject({ path: 'keepEntries' });
  });
});

describe('a reverse', () => {
  test('is two signals, of which the one that opens has the id of the alert', () => {
    expect(legsOf({ action: 'reverse', id: 'r1', stopLoss: '2%' })).toEqual([
      ['leg', { action: 'reverse', leg: 'reduce' }],
      ['signal', { action: 'reverse', leg: 'open', stopLoss: '2%' }],
    ]);
  });

  test('takes the size of the new position', () => {
    expect(legsOf({ action: 'flip', quoteQuantity: 500 })).toEqual([
      ['leg', { action: 'reverse', leg: 'reduce', size: { unit: 'quote', quoteQuantity: '500' } }],
      ['signal', { action: 'reverse', leg: 'open', size: { unit: 'quote', quoteQuantity: '500' } }],
    ]);
  });

  test('takes no share of the position that it closes', () => {
    expect(issueWith({ action: 'reverse', quantity: '50%', of: 'position' })).toMatchObject({
      path: 'quantity',
      message: 'the size of a reverse is that of the new position',
    });
  });
});

describe('a target', () => {
  const base = (quantity: string) => ({ unit: 'base', quantity });
  test.each<[object, object]>([
    [{ action: 'target', target: '0.5' }, base('0.5')],
    [{ target: -0.5 }, base('-0.5')],
    [{ target: '1e-3' }, base('0.001')],
    [{ target: '50%' }, { unit: 'percent', percentOfEquity: '50%' }],
    [{ target: '-100%' }, { unit: 'percent', percentOfEquity: '-100%' }],
    [{ targetQuote: '-1000' }, { unit: 'quote', quoteQuantity: '-1000' }],
    [{ positionSize: '-0.5' }, base('-0.5')],
    [{ positionSize: 0.5, marketPosition: 'long' }, base('0.5')],
    [{ marketPosition: 'short', marketPositionSize: '0.5' }, base('-0.5')],
    [{ market_position: 'long', market_position_size: 3 }, base('3')],
    [{ sentiment: 'bearish', quantity: 2 }, base('-2')],
    [
      { sentiment: 'long', quoteQuantity: 100 },
      { unit: 'quote', quoteQuantity: '100' },
    ],
    [{ action: 'target', sentiment: 'short', target: '-1' }, base('-1')],
  ])('is two signals: %j', (members, target) => {
    expect(legsOf(members)).toEqual([
      ['leg', { action: 'target', leg: 'reduce', target }],
      ['signal', { action: 'target', leg: 'open', target }],
    ]);
  });

  test.each([
    { action: 'flat' },
    { action: 'flatten', quantity: 3 },
    { target: 0 },
    { target: '-0.0' },
    { target: '0%' },
    { target: 'flat', stopLoss: '2%' },
    { targetQuote: 0 },
    { positionSize: '0' },
    { marketPosition: 'flat', marketPositionSize: 0 },
    { marketPosition: 'flat', positionSize: 0.5 },
    { marketPosition: 'flat', quantity: 'NaN' },
    { sentiment: 'flat', quantity: 0.5, takeProfit: '4%' },
    { action: 'target', sentiment: 'flat' },
  ])('of no position is one signal that closes in full: %j', (members) => {
    expect(legsOf(members)).toEqual([
      ['signal', { action: 'target', leg: 'reduce', target: { unit: 'flat' } }],
    ]);
  });

  test('keeps stop-loss and take-profit for the leg that opens', () => {
    expect(legsOf({ target: 1, stopLoss: '2%', takeProfit: 5000 })[1]).toEqual([
      'signal',
      { action: 'target', leg: 'open', target: base('1'), stopLoss: '2%', takeProfit: '5000' },
    ]);
  });

  test.each<[object, string, RegExp]>([
    [{ action: 'target' }, 'target', /does not say which position it wants/],
    [{ marketPosition: 'long' }, 'marketPositionSize', /wants a long position and does not say how large/],
    [{ marketPosition: 'long', marketPositionSize: 0 }, 'marketPositionSize', /"0" is zero/],
    [{ marketPosition: 'long', quantity: 1 }, 'quantity', /it is the size of an order/],
    [{ sentiment: 'long', quantity: '50%' }, 'quantity', /a per cent here could be a share of/],
    [{ marketPosition: 'long', positionSize: -1 }, 'marketPosition', /asks for a short position/],
    [{ marketPosition: 'short', positionSize: 0 }, 'marketPosition', /asks for no position/],
    [{ sentiment: 'flat', target: 1 }, 'sentiment', /asks for a long position/],
    [{ action: 'flat', target: 1 }, 'action', /asks for a long position/],
    [{ action: 'flat', sentiment: 'long' }, 'sentiment', /the action is flat/],
    [{ target: 1, positionSize: 1 }, 'positionSize', /"target" states the whole position already/],
    [{ target: 1, quantity: 1 }, 'quantity', /"target" states the whole position already/],
    [{ target: '--1' }, 'target', /is negative/],
    [{ target: '101%' }, 'target', /is more than 100%/],
    [{ target: 'long' }, 'target', /is not a number/],
    [{ target: '{{strategy.position_size}}' }, 'target', /is a placeholder/],
    [{ target: 1, positionSide: 'LONG' }, 'positionSide', /in hedge mode a market has a long and a short/],
    [{ marketPositionSize: 1 }, 'target', /does not say which position it wants/],
    [{ marketPosition: 'up', marketPositionSize: 1 }, 'marketPosition', /is not a position/],
  ])('is refused: %j', (members, path, message) => {
    const issue = issueWith(members);

    expect(issue.path).toBe(path);
    expect(issue.message).toMatch(message);
  });
});

describe('a position action', () => {
  test.each(['close', 'reverse', 'flat'])('is refused on a spot market: %s', (action) => {
    expect(issueWith({ action }, 'spot')).toMatchObject({
      path: 'action',
      hint: 'write "action": "sell" with "quantityPercent": "100%" to sell all of it, or "buy" with a size; positions exist on margin and futures (tradesOn in relay.config.ts). For one that stands on margin from before, write tradesOn as it was until it is closed',
    });
  });

  test('needs a bound, of its own or of the account', () => {
    const unbounded = on('margin', { maxSlippageRate: null });

    expect(issueOf(alertWith({ action: 'close' }), unbounded).path).toBe('maxSlippage');
    expect(
      readAlert(alertWith({ action: 'close', maxSlippage: '1%' }), unbounded).items[0]?.signal,
    ).toMatchObject({ action: 'close', maxSlippage: '1%' });
  });

  test('of two legs has room in its id for the suffix of the first', () => {
    const longest = 'a'.repeat(57);

    expect(legsOf({ action: 'reverse', id: longest })).toHaveLength(2);
    expect(issueWith({ action: 'reverse', id: `${longest}a` })).toEqual({
      path: 'id',
      message: 'the id has 58 characters, and the alert may need two orders',
      hint: 'shorten it to 57 characters: the relay appends ":reduce" for the first of them',
    });
    expect(legsOf({ action: 'close', id: 'a'.repeat(64) })).toHaveLength(1);
  });

  test('counts as two in an array when it has two legs', () => {
    const array = (count: number) =>
      JSON.stringify(
        Array.from({ length: count }, (_, index) =>
          JSON.parse(alertWith({ action: 'reverse', id: `r${index}` })),
        ),
      );

    expect(readAlert(array(5), on('futures')).items).toHaveLength(5);
    expect(refusalOf(array(6), on('futures')).issues[0]?.message).toBe(
      'the array contains 12 orders: a reversal, and a target that is not flat, count as two',
    );
  });

  test('has an id of its own in an array', () => {
    const twice = `[${alertWith({ target: 1, id: 'same' })},${alertWith({ target: 1, id: 'same' })}]`;

    expect(issueOf(twice, on('futures'))).toMatchObject({ path: '[1].id', message: '[0] has the same id' });
  });

  test.each([
    ['x:reduce', 'x'],
    ['x', 'x:reduce'],
  ])('has an id for its first leg that nothing else in the array has: %s, %s', (...ids) => {
    const array = `[${ids.map((id) => alertWith({ target: 1, id })).join(',')}]`;

    expect(issueOf(array, on('futures'))).toMatchObject({
      path: '[1].id',
      message: '"x:reduce" is the id of the first of two orders, and another signal has it',
    });
  });
});

describe('an order', () => {
  const order = { action: 'buy', orderType: 'market', quantity: 1 };

  test.each(['target', 'targetQuote', 'positionSize'])(
    'does not take %s, which states a position',
    (name) => {
      expect(issueWith({ ...order, [name]: 1 })).toEqual({
        path: name,
        message: 'it states a position, and this action places an order of its own size',
        hint: 'remove it; or remove "action", so that the relay brings the position to what is stated',
      });
    },
  );

  test('with marketPosition means what it means with sentiment', () => {
    expect(legsOf({ ...order, action: 'sell', marketPosition: 'flat' })).toEqual(
      legsOf({ ...order, action: 'sell', sentiment: 'flat' }),
    );
  });

  test('may presume a position', () => {
    expect(legsOf({ ...order, requirePosition: 'flat' })[0]?.[1]).toMatchObject({ requirePosition: 'flat' });
    expect(issueWith({ ...order, requirePosition: 'flat' }, 'spot').message).toBe(
      'a spot market has no positions',
    );
    expect(issueWith({ ...order, requirePosition: 'none' }).path).toBe('requirePosition');
  });

  test.each([
    ['flatten', 'long', true],
    ['flatten', 'flat', true],
    ['resync', 'flat', true],
    ['resync', 'short', false],
    ['deny', 'flat', false],
  ] as const)('has a leg that closes another position: %s, %s', (onMismatch, requirePosition, hasLeg) => {
    const legs = legsOf({ ...order, requirePosition }, { onMismatch });

    expect(legs.length).toBe(hasLeg ? 2 : 1);
    if (hasLeg) expect(legs[0]).toEqual(['leg', { action: 'close', unless: requirePosition }]);
    expect(legs.at(-1)?.[1]).toMatchObject(
      onMismatch === 'deny' ? { requirePosition } : { requirePosition, onMismatch },
    );
  });
});
