import { stripVTControlCharacters } from 'node:util';
import { describe, expect, test } from '@jest/globals';
import { CommanderError } from 'commander';
import { describeSignal, summariseSignal } from '../../cli/describe-signal.ts';
import { reportFailure } from '../../cli/failure.ts';
import { renderPaperState } from '../../cli/paper-state.ts';
import { renderFailure } from '../../cli/print.ts';
import { RelayError } from '../../lib/base/errors.ts';
import type { CancelAllSignal, OrderSignal } from '../../lib/model/signal.ts';
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
  };

  expect(describeSignal(signal)).toBe(
    'sell 50% of the position on BTC_USDT, at market, at most 0.5% beyond the best price, reduce-only, self-trade prevention cn',
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
      'Correct relay.config.ts at each path that the message names.',
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
