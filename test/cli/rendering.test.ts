import { stripVTControlCharacters } from 'node:util';
import { describe, expect, test } from '@jest/globals';
import { CommanderError } from 'commander';
import { reportFailure } from '../../cli/failure.ts';
import { renderPaperState } from '../../cli/session/paper-state.ts';
import { describeSignal, summariseSignal } from '../../cli/show/describe-signal.ts';
import { renderFailure } from '../../cli/show/print.ts';
import { renderOrders } from '../../cli/show/render-orders.ts';
import { withoutRepeats } from '../../cli/show/render-protects.ts';
import { parseDecimal } from '../../lib/base/decimal.ts';
import { RelayError } from '../../lib/base/errors.ts';
import type { Entry } from '../../lib/ledger/entry.ts';
import type { Order } from '../../lib/model/order.ts';
import type { CancelAllSignal, OrderSignal, Signal } from '../../lib/model/signal.ts';
import { buySignal } from './stored-signals.ts';

/** The lines as read on a terminal without colours. */
function linesOf(text: string): readonly string[] {
  return stripVTControlCharacters(text).split('\n');
}

test('an order signal is described with every price it names', () => {
  expect(describeSignal({ ...buySignal, takeProfit: '64000', positionSide: 'LONG' })).toBe(
    'buy 0.01 of BTC_USDT, stop 60500, limit 60560, stop loss 59000, take profit 64000, position side LONG',
  );
});

test('of what keeps a protection, a signal that found the same placed already is not shown', () => {
  const shared = {
    ticker: 'BTCUSDT',
    market: 'BTC_USDT',
    timeMs: null,
    maxLagMs: null,
    of: 'protect-1',
  } as const;
  const stop = { ...shared, action: 'protect', role: 'stop_loss' } as const;
  const target = { ...shared, action: 'protect', role: 'take_profit' } as const;
  const orders = [
    { signalId: 'a', signal: stop, status: 'placed' },
    { signalId: 'b', signal: stop, status: 'satisfied' },
    { signalId: 'c', signal: target, status: 'satisfied' },
  ] as unknown as readonly Entry[];

  const [shown, endings] = withoutRepeats(orders, ['of a', 'of b', 'of c']);

  expect(shown.map(({ signalId }) => signalId)).toEqual(['a', 'c']);
  expect(endings).toEqual(['of a', 'of c']);
});

const common = { ticker: 'BTCUSDT', market: 'BTC_USDT', timeMs: null, maxLagMs: null };

test('an order signal is described with its share, its bound and its flags', () => {
  const signal: OrderSignal = {
    ...common,
    action: 'order',
    orderType: 'market',
    side: 'sell',
    size: { unit: 'percent', quantityPercent: '50%', of: 'position' },
    maxSlippage: '0.5%',
    reduceOnly: true,
    stp: 'cn',
    referencePrice: '60120.5',
  };

  expect(describeSignal(signal)).toBe(
    'sell 50% of the position on BTC_USDT, at market, at most 0.5% beyond the best price, reduce-only, self-trade prevention cn, fills compared with 60120.5',
  );
});

test.each<[CancelAllSignal, string, string]>([
  [
    { ...common, action: 'cancel_all' },
    'cancel the open orders of BTC_USDT that this relay placed',
    'cancel all',
  ],
  [
    { ...common, action: 'cancel_all', scope: 'market' },
    'cancel every open order of BTC_USDT, whoever placed it',
    'cancel all, whoever placed it',
  ],
])('a cancellation of everything is described with its scope: %j', (signal, full, short) => {
  expect([describeSignal(signal), summariseSignal(signal)]).toEqual([full, short]);
});

describe('open orders', () => {
  const stopMarketBuy: Order = {
    orderId: 5,
    clientOrderId: '',
    market: 'DBTC_DUSDT',
    side: 'buy',
    type: 'stop_market',
    status: 'open',
    createdAtMs: 0,
    amount: parseDecimal('500'),
    remaining: parseDecimal('500'),
    price: parseDecimal('0'),
    filledNotional: parseDecimal('0'),
    filled: parseDecimal('0'),
    fee: parseDecimal('0'),
    activationPrice: parseDecimal('65000'),
  };
  const rowOf = (order: Order) =>
    linesOf(renderOrders({ groups: [], open: [order] }, { width: null, timeZone: 'UTC' })).at(-1);

  test('that are sized in the quote currency name it, and have no price of 0', () => {
    expect(rowOf(stopMarketBuy)).toMatch(/ DBTC_DUSDT +buy +0 +500 DUSDT +65000 +market +open /);
  });

  test('on the collateral account are sized in base units', () => {
    const onMargin = { ...stopMarketBuy, market: 'BTC_USDT', amount: parseDecimal('0.01') };
    const row = rowOf({ ...onMargin, remaining: parseDecimal('0.01'), positionSide: 'BOTH' });

    expect(row).toMatch(/ BTC_USDT +buy +0 +0\.01 +65000 +market +open /);
  });
});

test.each([
  ['BTC_USDT', 'buy for 500 USDT at market'],
  // The name of a perpetual does not say its quote currency.
  ['BTC_PERP', 'buy for 500 of the quote currency at market'],
])('an amount of money in %s names its currency', (market, described) => {
  const size = { unit: 'quote', quoteQuantity: '500' } as const;

  expect(
    summariseSignal({ ...common, market, action: 'order', orderType: 'market', side: 'buy', size }),
  ).toBe(described);
});

describe('a failure', () => {
  test('of the relay brings every issue and the advice of the catalogue', () => {
    const error = new RelayError('config_invalid', 'relay.config.ts has 2 mistake(s)', {
      issues: [
        { path: 'tickers.X', message: 'must look like BTC_USDT', hint: 'see the comments' },
        { path: '', message: 'unknown \u001b[2J key', hint: '' },
      ],
    });

    expect(linesOf(renderFailure(reportFailure(error), false))).toEqual([
      'error: relay.config.ts has 2 mistake(s)',
      '  tickers.X: must look like BTC_USDT (see the comments)',
      '  unknown \\u001b[2J key',
      'Correct relay.config.ts, or the file of --config, as the message says.',
      '',
    ]);
    expect(reportFailure(error).exitStatus).toBe(1);
  });

  test('of the command line ends with 2', () => {
    const report = reportFailure(
      new CommanderError(1, 'commander.unknownCommand', "error: unknown command 'x'\n(Did you mean y?)"),
    );

    expect(report).toMatchObject({
      code: 'usage',
      message: "unknown command 'x' (Did you mean y?)",
      exitStatus: 2,
    });
  });

  test('that is unexpected is printed without a stack trace', () => {
    expect(reportFailure(new TypeError('x is not a function'))).toEqual({
      code: 'unexpected',
      message: 'TypeError: x is not a function',
      issues: [],
      action: 'This is a bug of the command itself: report it with the command you ran.',
      exitStatus: 1,
    });
    expect(reportFailure('thrown text')).toMatchObject({ code: 'unexpected', exitStatus: 1 });
  });
});

describe('the state of the paper exchange', () => {
  const order = {
    orderId: 1,
    account: 'main',
    market: 'BTC_PERP',
    side: 'buy',
    type: 'limit',
    status: 'filled',
    activated: true,
    amount: '1',
    remaining: '0',
    price: '60000',
    activationPrice: null,
    createdAtMs: 1_795_168_800_000,
  };
  const account = {
    main: { USDT: '5' },
    spot: { BTC: { available: '3', reserved: '0.25' } },
    collateral: { BTC: { available: '1', reserved: '0.5' } },
    leverage: 2,
    hedgeMode: false,
    positions: { BTC_PERP: { amount: '-0.5', basePrice: '60000', margin: '15000' } },
  };

  test('shows open orders first, then the last ended ones, and says how many it leaves out', () => {
    const ended = Array.from({ length: 12 }, (_, index) => ({ ...order, orderId: 100 + index }));
    const orders = [...ended, { ...order, orderId: 7, status: 'partially_filled', remaining: '0.4' }];

    const lines = linesOf(
      renderPaperState(
        { prices: { BTC_PERP: '60000' }, accounts: { main: account }, orders },
        { width: null },
      ),
    );

    expect(lines).toContain('main     BTC_PERP    -0.5       60000   15000');
    expect(lines).toContain('main     BTC        0     3      0.25           1       0.5');
    expect(lines).toContain('         USDT       5     0         0           0         0');
    expect(lines).toContain('Account main has leverage 2.');
    const ids = lines
      .map((line) => /^2026-11-20 10:00:00 +(\d+) /.exec(line)?.[1])
      .filter((id) => id !== undefined);
    expect(ids).toEqual(['7', '102', '103', '104', '105', '106', '107', '108', '109', '110', '111']);
    expect(lines.at(-1)).toBe('2 older ended orders are not shown; --json contains all.');
  });

  test('shows an amount of the quote currency with its name, and a market order without a price', () => {
    const spotBuy = { ...order, market: 'BTC_USDT', type: 'spot_market', side: 'buy', price: null };
    const orders = [{ ...spotBuy, amount: '500', remaining: '0.02' }];

    const lines = linesOf(
      renderPaperState({ prices: {}, accounts: { main: account }, orders }, { width: null }),
    );

    expect(lines.at(-1)).toMatch(/ BTC_USDT +spot_market +buy +500 USDT +0\.02 USDT +\S+ +market +filled$/);
  });

  test('of a fresh exchange has no orders and no positions', () => {
    const lines = linesOf(
      renderPaperState(
        { prices: {}, accounts: { main: { ...account, positions: {} } }, orders: [] },
        { width: null },
      ),
    );

    expect(lines.at(-1)).toBe('No orders yet.');
    expect(lines.join('\n')).not.toContain('position');
  });
});

const ofPosition = { ticker: 'BTCUSDT.P', market: 'BTC_PERP', timeMs: null, maxLagMs: null };

test.each<[Signal, string]>([
  [{ ...ofPosition, action: 'close' }, 'close all'],
  [{ ...ofPosition, action: 'close', part: '50%', positionSide: 'LONG' }, 'close 50% LONG'],
  [{ ...ofPosition, action: 'close', unless: 'flat' }, 'close all unless the position is flat (leg 1 of 2)'],
  [{ ...ofPosition, action: 'reverse', leg: 'reduce' }, 'reverse (leg 1 of 2: reduce)'],
  [
    { ...ofPosition, action: 'reverse', leg: 'open', size: { unit: 'base', quantity: '2' } },
    'reverse to 2 (leg 2 of 2: open)',
  ],
  [
    { ...ofPosition, action: 'target', leg: 'open', target: { unit: 'percent', percentOfEquity: '-50%' } },
    'target -50% of the equity (leg 2 of 2: open)',
  ],
  [
    { ...ofPosition, action: 'target', leg: 'reduce', target: { unit: 'quote', quoteQuantity: '500' } },
    'target 500 of the quote currency (leg 1 of 2: reduce)',
  ],
  [{ ...ofPosition, action: 'target', leg: 'reduce', target: { unit: 'flat' } }, 'target flat'],
])('a position action names its leg: %#', (signal, short) => {
  expect(summariseSignal(signal)).toBe(short);
  expect(describeSignal(signal)).toBe(`${short}, position of BTC_PERP`);
});

test('the leg that opens names its exits, and an order the position that it presumes', () => {
  expect(
    describeSignal({
      ...ofPosition,
      action: 'target',
      leg: 'open',
      target: { unit: 'base', quantity: '1' },
      maxSlippage: '0.5%',
      stopLoss: '2%',
      takeProfit: '70000',
      keepEntries: true,
      stp: 'cn',
    }),
  ).toBe(
    'target 1 (leg 2 of 2: open), position of BTC_PERP, at most 0.5% beyond the best price, stop loss 2%, take profit 70000, resting entries stay, self-trade prevention cn',
  );
  expect(describeSignal({ ...buySignal, requirePosition: 'flat', onMismatch: 'resync' })).toMatch(
    /, only if the position is flat, otherwise resync$/,
  );
});
