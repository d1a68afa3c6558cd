import { describe, expect, test } from '@jest/globals';
import { issueOf, marketOrder, marketSignal, readSignal, refusalOf } from './reading.ts';

describe('a stop-loss and a take-profit', () => {
  test.each([
    [
      { stopLoss: 2900, takeProfit: '3200.50' },
      { stopLoss: '2900', takeProfit: '3200.5' },
    ],
    [
      { stopLoss: '2%', takeProfit: ' 4.50 % ' },
      { stopLoss: '2%', takeProfit: '4.5%' },
    ],
    [{ sl: '0.5%' }, { stopLoss: '0.5%' }],
    [
      { stop_loss: 2900, take_profit: 3200 },
      { stopLoss: '2900', takeProfit: '3200' },
    ],
    [
      { stopLossPrice: 2900, tp: 3200 },
      { stopLoss: '2900', takeProfit: '3200' },
    ],
    [{ stopLoss: { type: 'stop', percent: 2 } }, { stopLoss: '2%' }],
    [
      { stopLoss: { percent: 0.5 }, takeProfit: { percent: '10%' } },
      { stopLoss: '0.5%', takeProfit: '10%' },
    ],
    [
      { stopLoss: { stopPrice: 2900 }, takeProfit: { limitPrice: 3200 } },
      { stopLoss: '2900', takeProfit: '3200' },
    ],
    [{ stopLoss: { stop_price: '2900', Type: 'STOP' } }, { stopLoss: '2900' }],
    [{ stopLoss: { type: 'stop_limit', stopPrice: 2900 } }, { stopLoss: '2900' }],
    [
      { stopLoss: { type: 'stop_market', price: 2900 }, takeProfit: { price: 3200, type: 'limit' } },
      { stopLoss: '2900', takeProfit: '3200' },
    ],
  ])('are read from %j', (members, exits) => {
    expect(readSignal(marketOrder(members))).toEqual({ ...marketSignal, ...exits });
  });

  const writeStop = 'write a price, or a distance from the entry price: "stopLoss": "2%"';
  const writeProfit = 'write a price, or a distance from the entry price: "takeProfit": "4%"';
  test.each([
    [{ stopLoss: '0%' }, 'stopLoss', '"0" is zero', expect.any(String)],
    [{ stopLoss: '120%' }, 'stopLoss', '"120%" is more than 100%', 'write at most 100%'],
    [{ takeProfit: '-2%' }, 'takeProfit', '"-2" is negative', expect.any(String)],
    [
      { takeProfit: [1, 2] },
      'takeProfit',
      'it is a list, and an order has one take-profit',
      'keep one here; further targets are "limit" orders with "reduceOnly": true, sent once the entry has filled',
    ],
    [
      { stopLoss: { type: 'trailing_stop', percent: 2 } },
      'stopLoss.type',
      '"trailing_stop" is not a type of stop-loss that the exchange has',
      'the exchange has no trailing orders: keep the protection as a fixed price or distance: "stopLoss": "2%"',
    ],
    [
      { stopLoss: { stopPrice: 2900, limitPrice: 2890 } },
      'stopLoss.limitPrice',
      'it is no part of a stop-loss here',
      writeStop,
    ],
    [
      { takeProfit: { percent: 4, type: 'market' } },
      'takeProfit.type',
      '"market" is not a type of take-profit that the exchange has',
      'write one of "limit"',
    ],
    [
      { stopLoss: { percent: 2, stopPrice: 2900 } },
      'stopLoss',
      'the stop-loss needs one price or one distance',
      writeStop,
    ],
    [{ takeProfit: {} }, 'takeProfit', 'the take-profit needs one price or one distance', writeProfit],
    [
      { stopLoss: { type: 'constructor', percent: 2 } },
      'stopLoss.type',
      expect.any(String),
      'write one of "stop", "stop_limit"',
    ],
  ])('are not %j', (members, path, message, hint) => {
    expect(issueOf(marketOrder(members))).toEqual({ path, message, hint });
  });

  test('give a distance in money no meaning', () => {
    const { issues } = refusalOf(marketOrder({ takeProfit: { amount: 5 } }));

    expect(issues).toEqual([
      { path: 'takeProfit.amount', message: 'it is no part of a take-profit here', hint: writeProfit },
      {
        path: 'takeProfit',
        message: 'the take-profit needs one price or one distance',
        hint: writeProfit,
      },
    ]);
  });

  test('name each member once', () => {
    expect(issueOf(marketOrder({}).replace('}', ',"stopLoss":{"percent":2,"Percent":3}}'))).toEqual({
      path: 'stopLoss.Percent',
      message: 'this member is given twice',
      hint: 'keep one of them',
    });
  });

  test.each(['stopLoss', 'takeProfit'])('beside reduceOnly are refused: %s', (name) => {
    expect(issueOf(marketOrder({ reduceOnly: true, [name]: '2%' }))).toEqual({
      path: name,
      message: 'the exchange takes no stop-loss or take-profit with an order that only reduces a position',
      hint: 'remove it',
    });
  });
});
