import { describe, expect, test } from '@jest/globals';
import { account, accountOn, issueOf, marketOrder, marketSignal, readSignal, refusalOf } from './reading.ts';

const protect =
  'for the open position send "action": "protect" with "stopLoss" (a price, "2%" or "entry"), "takeProfit" or "trailing"';

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
    [{ trailing: '1.5%' }, { stopLoss: '1.5%', trailing: '1.5%' }],
    [{ trailPercent: 1.5 }, { stopLoss: '1.5%', trailing: '1.5%' }],
    [
      { stopLoss: '2%', trailingStop: '1.5%' },
      { stopLoss: '2%', trailing: '1.5%' },
    ],
    [{ stopLoss: { type: 'trailing_stop', trailPercent: 2 } }, { stopLoss: '2%', trailing: '2%' }],
    [{ stopLoss: { trailPercent: '2%', stopPrice: 2900 } }, { stopLoss: '2900', trailing: '2%' }],
    [
      { stopLoss: { type: 'stop_market', price: 2900 }, takeProfit: { price: 3200, type: 'limit' } },
      { stopLoss: '2900', takeProfit: '3200' },
    ],
  ])('are read from %j', (members, exits) => {
    expect(readSignal(marketOrder(members))).toEqual({ ...marketSignal, ...exits });
  });

  const writeStop = 'write a price, or a distance from the entry price: "stopLoss": "2%"';
  const writeProfit = 'write a price, or a distance from the entry price: "takeProfit": "4%"';
  const trail =
    'the exchange has no trailing orders; the relay moves the stop-loss itself: write how far behind the best price it stays, as a per cent: "trailing": "1.5%"';
  test.each([
    [{ stopLoss: '0%' }, 'stopLoss', '"0" is zero', expect.any(String)],
    [{ stopLoss: '120%' }, 'stopLoss', '"120%" is more than 100%', 'write at most 100%'],
    [{ takeProfit: '-2%' }, 'takeProfit', '"-2" is negative', expect.any(String)],
    [
      { takeProfit: [1, 2] },
      'takeProfit',
      'it is a list, and this is one take-profit',
      'write the list as "takeProfits", each with its share: [{"price": "2%", "share": "50%"}, {"price": "4%", "share": "50%"}]',
    ],
    [
      { stopLoss: { type: 'trailing_stop', percent: 2 } },
      'stopLoss',
      'it does not say how far behind the best price it trails',
      trail,
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
    [
      { stopLoss: { type: 'stop', percent: 2, trailPercent: 1 } },
      'stopLoss.type',
      'a stop-loss of this type does not trail',
      'write "trailing_stop"',
    ],
    [
      { stopLoss: { trailPercent: 1 }, trailing: '1%' },
      'trailing',
      '"stopLoss" says how it trails, too',
      'keep one of them',
    ],
    [
      { trailing: 1 },
      'trailing',
      '"1" has no per cent sign, so it could be a per cent or a ratio',
      'write "1%" or "100%", whichever you mean',
    ],
    [
      { stopLoss: 'entry' },
      'stopLoss',
      '"entry" is the entry price of an open position, and this alert opens one',
      `write a price or a distance such as "2%" here; ${protect}`,
    ],
    [{ takeProfit: {} }, 'takeProfit', 'the take-profit needs one price or one distance', writeProfit],
    [
      { stopLoss: { type: 'constructor', percent: 2 } },
      'stopLoss.type',
      expect.any(String),
      'write one of "stop", "stop_limit", "trailing_stop"',
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

  test.each([
    ['stopLoss', '2%'],
    ['takeProfit', '2%'],
    ['trailing', '2%'],
    ['takeProfits', [{ price: '2%', share: '100%' }]],
  ])('beside reduceOnly are refused: %s', (name, value) => {
    expect(issueOf(marketOrder({ reduceOnly: true, [name]: value }))).toEqual({
      path: name,
      message: 'the exchange takes no stop-loss or take-profit with an order that only reduces a position',
      hint: `remove it; ${protect}`,
    });
  });
});

describe('several take-profits', () => {
  const half = { price: 3200, share: '50%' };
  test.each([
    [[half], [{ price: '3200', share: '50%' }]],
    [
      [
        { distance: '2%', share: '50%' },
        { percent: 4, share: 50 },
      ],
      [
        { price: '2%', share: '50%' },
        { price: '4%', share: '50%' },
      ],
    ],
    [
      [
        { price: '2%', share: '33.3%' },
        { limitPrice: '3300', Share: '66.7%' },
      ],
      [
        { price: '2%', share: '33.3%' },
        { price: '3300', share: '66.7%' },
      ],
    ],
  ])('are read from %j', (takeProfits, read) => {
    expect(readSignal(marketOrder({ takeProfits }))).toEqual({ ...marketSignal, takeProfits: read });
  });

  const write =
    'write a price or a distance, and its share of what is opened: "takeProfits": [{"price": "2%", "share": "50%"}, {"price": "4%", "share": "50%"}]';
  test.each([
    ['4%', 'takeProfits', 'it is not a list', expect.stringContaining('a single one is "takeProfit": "4%"')],
    [[], 'takeProfits', 'the list has 0 take-profits', 'write one to 5'],
    [
      [...Array(6).keys()].map(() => ({ price: 3200, share: '1%' })),
      'takeProfits',
      'the list has 6 take-profits',
      'write one to 5',
    ],
    [[3200], 'takeProfits[0]', 'it is not an object with price and share', write],
    [[{ price: 3200 }], 'takeProfits[0]', 'the take-profit needs one share', write],
    [[{ share: '50%' }], 'takeProfits[0]', 'the take-profit needs one price or one distance', write],
    [[{ ...half, percent: 2 }], 'takeProfits[0]', 'the take-profit needs one price or one distance', write],
    [[{ ...half, part: '1%' }], 'takeProfits[0].part', 'it is no part of a take-profit here', write],
    [
      [{ price: 3200, share: 0.5 }],
      'takeProfits[0].share',
      '"0.5" has no per cent sign, so it could be a per cent or a ratio',
      'write "0.5%" or "50%", whichever you mean',
    ],
    [
      [half, { price: 3300, share: '50.1%' }],
      'takeProfits',
      'the shares come to 100.1%',
      'write shares that come to 100% at most: each is a share of the whole, not of what is left',
    ],
  ])('are not %j', (takeProfits, path, message, hint) => {
    expect(issueOf(marketOrder({ takeProfits }))).toEqual({ path, message, hint });
  });

  test('stand for one take-profit, not beside it', () => {
    expect(issueOf(marketOrder({ takeProfit: 3300, takeProfits: [half] }))).toEqual({
      path: 'takeProfit',
      message: '"takeProfits" says what the take-profits are',
      hint: 'keep one of them',
    });
  });

  test.each([
    ['takeProfits', [half], 'a list of take-profits'],
    ['trailing', '2%', 'a trailing stop-loss'],
  ])('and a trailing stop-loss are refused where the relay keeps no protection: %s', (name, value, what) => {
    const alarming = { account: { ...account, protection: 'alarm' as const } };

    expect(issueOf(marketOrder({ [name]: value }), alarming)).toEqual({
      path: name,
      message: `${what} is placed and moved by the relay, and account main only raises alarms (protection: 'alarm')`,
      hint: 'write protection: \'keep\' in relay.config.ts; or one "stopLoss" and one "takeProfit" in the entry, which the exchange holds',
    });
    expect(issueOf(marketOrder({ [name]: value }), { account: accountOn('ETH_USDT', 'spot') })).toMatchObject(
      { path: name, message: `${what} protects a position, and a spot market has none` },
    );
  });
});
