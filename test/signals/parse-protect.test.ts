import { describe, expect, test } from '@jest/globals';
import type { ProtectPositionSignal } from '../../lib/model/signal.ts';
import { account, accountOn, issueOf, readAlert, readSignal, refusalOf } from './reading.ts';

/** An alert about the protection of a position, with further members. */
function protectWith(members: Readonly<Record<string, unknown>>): string {
  return JSON.stringify({
    ticker: 'ETHUSDT',
    action: 'protect',
    time: '2026-01-31T12:00:00Z',
    ...members,
  });
}

const protectSignal = {
  ticker: 'ETHUSDT',
  market: 'ETH_USDT',
  timeMs: 1769860800000,
  maxLagMs: 60_000,
  action: 'protect_position',
} as const satisfies ProtectPositionSignal;

describe('what protects an open position', () => {
  test.each<[Readonly<Record<string, unknown>>, Partial<ProtectPositionSignal>]>([
    [{ stopLoss: 2900 }, { stopLoss: '2900' }],
    [{ sl: '2%' }, { stopLoss: '2%' }],
    [{ stopLoss: 'entry' }, { stopLoss: 'entry' }],
    [{ stopLoss: 'Break-Even' }, { stopLoss: 'entry' }],
    [{ action: 'breakeven' }, { stopLoss: 'entry' }],
    [
      { action: 'move_sl_to_breakeven', takeProfit: 3200 },
      { stopLoss: 'entry', takeProfits: whole('3200') },
    ],
    [{ action: 'update_sl', stop_loss: 2950 }, { stopLoss: '2950' }],
    [{ action: 'set_tp', tp: '4%' }, { takeProfits: whole('4%') }],
    [
      { action: 'modify_sl_tp', sl: 2900, tp: 3200 },
      { stopLoss: '2900', takeProfits: whole('3200') },
    ],
    [{ takeProfits: [{ price: 3200, share: '50%' }] }, { takeProfits: [{ price: '3200', share: '50%' }] }],
    [{ trailing: '1.5%' }, { trailing: '1.5%' }],
    [
      { stopLoss: 'entry', trailing: '1.5%' },
      { stopLoss: 'entry', trailing: '1.5%' },
    ],
    [{ stopLoss: { type: 'trailing_stop', trailPercent: 2 } }, { trailing: '2%' }],
    [
      { stopLoss: 2900, positionSide: 'long' },
      { stopLoss: '2900', positionSide: 'LONG' },
    ],
  ])('is read from %j', (members, own) => {
    expect(readSignal(protectWith(members))).toEqual({ ...protectSignal, ...own });
  });

  test('may come with what only informs, and with names of its own', () => {
    const [item] = readAlert(
      protectWith({ stopLoss: 2900, signalId: 'p1', comment: 'up', close: 3000, prevMarketPosition: 'long' }),
    ).items;

    expect(item).toEqual({
      explicitId: 'p1',
      signal: {
        ...protectSignal,
        stopLoss: '2900',
        comment: 'up',
        info: { close: '3000', prevMarketPosition: 'long' },
      },
    });
  });

  const tradesNothing = 'a protect says what protects the open position, and trades nothing itself';
  test.each([
    [
      {},
      'stopLoss',
      'the alert does not say what protects the position',
      'add "stopLoss": a price, a distance such as "2%", or "entry"; or "takeProfit", "takeProfits" or "trailing": "1.5%"',
    ],
    [{ stopLoss: 2900, quantity: 1 }, 'quantity', tradesNothing, 'remove it'],
    [{ stopLoss: 2900, orderType: 'stop_limit' }, 'orderType', tradesNothing, 'remove it'],
    [{ stopLoss: 2900, reduceOnly: true }, 'reduceOnly', tradesNothing, 'remove it'],
    [{ stopLoss: 2900, sentiment: 'long' }, 'sentiment', tradesNothing, 'remove it'],
    [{ stopLoss: 2900, orderId: 7 }, 'orderId', tradesNothing, 'remove it'],
    [{ stopLoss: 2900, scope: 'own' }, 'scope', tradesNothing, 'remove it'],
    [
      { action: 'update_sl', price: 2900 },
      'price',
      tradesNothing,
      'write the price as "stopLoss" or "takeProfit"; remove it if it is the last price',
    ],
    [
      { action: 'breakeven', stopLoss: 2900 },
      'stopLoss',
      'the action moves the stop-loss to the entry price',
      'remove it, or write "action": "protect" with this "stopLoss"',
    ],
    [{ takeProfit: 'entry' }, 'takeProfit', '"entry" is not a number', expect.any(String)],
  ])('is not %j', (members, path, message, hint) => {
    expect(issueOf(protectWith(members))).toEqual({ path, message, hint });
  });

  test('is refused where the relay keeps no protection, and where nothing has a position', () => {
    const alarming = { account: { ...account, protection: 'alarm' as const } };

    expect(issueOf(protectWith({ stopLoss: 2900 }), alarming)).toMatchObject({
      path: 'action',
      message:
        "a protect is placed and moved by the relay, and account main only raises alarms (protection: 'alarm')",
    });
    expect(
      issueOf(protectWith({ stopLoss: 2900 }), { account: accountOn('ETH_USDT', 'spot') }),
    ).toMatchObject({
      path: 'action',
      message: 'a protect protects a position, and a spot market has none',
    });
  });

  test('is no part of a close, and no business of a cancellation', () => {
    expect(refusalOf(protectWith({ action: 'close', trailing: '1%' })).paths).toEqual(['trailing']);
    expect(refusalOf(protectWith({ action: 'cancel_all', takeProfits: [] })).paths).toEqual(['takeProfits']);
  });
});

function whole(price: string) {
  return [{ price, share: '100%' as const }];
}

describe('a reverse and a target', () => {
  const parts = [{ price: '2%', share: '50%' }];

  test.each([{ action: 'reverse' }, { action: 'target', target: '0.5' }])(
    'protect what they open: %j',
    (members) => {
      const [item] = readAlert(protectWith({ ...members, takeProfits: parts, trailing: '1%' })).items;

      expect(item?.signal).toMatchObject({ takeProfits: parts, stopLoss: '1%', trailing: '1%' });
      expect(item?.reduceLeg).not.toHaveProperty('takeProfits');
      expect(item?.reduceLeg).not.toHaveProperty('trailing');
    },
  );

  test('protect nothing when they are flat, whatever the account does', () => {
    const alarming = { account: { ...account, protection: 'alarm' as const } };
    const flat = { action: undefined, marketPosition: 'flat', marketPositionSize: 0, trailing: '1%' };

    expect(readSignal(protectWith({ ...flat, takeProfits: parts }), alarming)).toEqual({
      ...protectSignal,
      action: 'target',
      leg: 'reduce',
      target: { unit: 'flat' },
    });
  });
});
