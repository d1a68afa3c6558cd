import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { parseDecimal } from '../../lib/base/decimal.ts';
import { type KeptRelay, openKeptRelay } from '../support/kept-relay.ts';

/** Several take-profits, each for a share of what an order opened or of a position. */
let relay: KeptRelay;
/** Called before each request. */
let onRequest = (_: string): void => undefined;
beforeEach(async () => {
  onRequest = () => undefined;
  relay = await openKeptRelay({ onRequest: (path) => onRequest(path) });
});
afterEach(() => relay.close());

const parts = [
  { price: '51000', share: '50%' },
  { price: '52000', share: '30%' },
  { price: '53000', share: '20%' },
];
const buy = {
  action: 'buy',
  orderType: 'market',
  quantity: '0.1',
  maxSlippage: '0.5%',
  stopLoss: '48000',
  takeProfits: parts,
};
const whole = [
  'sell 0.02 at 53000, reduces',
  'sell 0.03 at 52000, reduces',
  'sell 0.05 at 51000, reduces',
  'sell 0.1 stop 48000',
];

/** For a minute, no list shows the fills that are new. */
function lagFills(endpoints: readonly string[] = ['executed-history', 'order-deals']): void {
  for (const endpoint of endpoints)
    relay.paper.control.addFault({ fault: 'read_lag', endpoint, delayMs: 60_000, probability: 1 });
}

/** For a minute, nothing says how an order has ended that is not open any more. */
function lagEnds(): void {
  lagFills(['ended-order', 'executed-history', 'order-deals']);
}

describe('An entry of 0.1 with three take-profits', () => {
  test('has them as soon as it has filled', async () => {
    await relay.say(buy);

    expect(await relay.open()).toEqual(whole);
    await relay.goOn(60);
    expect(await relay.open()).toEqual(whole);
    expect(relay.alarmNames()).toEqual([]);
  });

  test('is sold by one after the other, and its stop-loss is for the rest', async () => {
    await relay.say(buy);
    await relay.goOn(30);
    relay.setPrice('51000');
    await relay.goOn(30);
    expect([await relay.held(), await relay.open()]).toEqual([
      '0.05',
      ['sell 0.02 at 53000, reduces', 'sell 0.03 at 52000, reduces', 'sell 0.05 stop 48000, reduces'],
    ]);

    relay.setPrice('52000');
    await relay.goOn(30);
    expect([await relay.held(), await relay.open()]).toEqual([
      '0.02',
      ['sell 0.02 at 53000, reduces', 'sell 0.02 stop 48000, reduces'],
    ]);

    relay.setPrice('47900');
    await relay.goOn(30);
    expect([await relay.held(), await relay.open()]).toEqual(['flat', []]);
    expect(relay.alarmNames()).toEqual([]);
  });

  test('is sold whole by all of them, and nothing is left open', async () => {
    await relay.say(buy);
    await relay.goOn(30);
    relay.setPrice('53500');
    await relay.goOn(30);

    expect([await relay.held(), await relay.open()]).toEqual(['flat', []]);
    expect(relay.alarmNames()).toEqual([]);
  });

  test('loses a share of each when one half is closed', async () => {
    await relay.say(buy);
    await relay.goOn(30);
    await relay.say({ action: 'close', quantity: '50%', maxSlippage: '0.5%' });
    await relay.goOn(30);

    expect(await relay.open()).toEqual([
      'sell 0.01 at 53000, reduces',
      'sell 0.015 at 52000, reduces',
      'sell 0.025 at 51000, reduces',
      'sell 0.05 stop 48000, reduces',
    ]);
  });

  test('takes from the others alike when one half is closed after the first has sold', async () => {
    await relay.say(buy);
    await relay.goOn(30);
    relay.setPrice('51000');
    await relay.goOn(30);
    await relay.say({ action: 'close', quantity: '50%', maxSlippage: '0.5%' });
    await relay.goOn(30);

    expect([await relay.held(), await relay.open()]).toEqual([
      '0.025',
      ['sell 0.01 at 53000, reduces', 'sell 0.015 at 52000, reduces', 'sell 0.025 stop 48000, reduces'],
    ]);
  });

  test('places none anew that has sold its share of what a close has left', async () => {
    await relay.say(buy);
    await relay.goOn(30);
    await relay.say({ action: 'close', quantity: '60%', maxSlippage: '0.5%' });
    await relay.goOn(30);
    relay.setPrice('51000');
    await relay.goOn(60);

    expect([await relay.held(), await relay.open()]).toEqual([
      '0.02',
      ['sell 0.008 at 53000, reduces', 'sell 0.012 at 52000, reduces', 'sell 0.02 stop 48000, reduces'],
    ]);

    relay.setPrice('52000');
    await relay.goOn(60);
    expect([await relay.held(), await relay.open()]).toEqual([
      '0.008',
      ['sell 0.008 at 53000, reduces', 'sell 0.008 stop 48000, reduces'],
    ]);
  });

  test('has the rest of one that has filled in part, and nothing of it after that', async () => {
    await relay.say(buy);
    await relay.goOn(30);
    await relay.byHand('sell', '0.06');
    await relay.goOn(30);
    relay.paper.control.setPrice('BTC_USDT', parseDecimal('51000'), parseDecimal('0.01'));
    relay.setPrice('50900');
    await relay.goOn(30);
    expect(await relay.open()).toEqual([
      'sell 0.008 at 53000, reduces',
      'sell 0.01 at 51000, reduces',
      'sell 0.012 at 52000, reduces',
      'sell 0.03 stop 48000, reduces',
    ]);

    relay.setPrice('51000');
    await relay.goOn(60);
    expect([await relay.held(), await relay.open()]).toEqual([
      '0.02',
      ['sell 0.008 at 53000, reduces', 'sell 0.012 at 52000, reduces', 'sell 0.02 stop 48000, reduces'],
    ]);
  });

  test('does not get its only one again once that has sold its share of what a close has left', async () => {
    await relay.say({ ...buy, takeProfits: parts.slice(0, 1) });
    await relay.goOn(30);
    await relay.say({ action: 'close', quantity: '60%', maxSlippage: '0.5%' });
    await relay.goOn(30);
    relay.setPrice('51000');
    await relay.goOn(60);

    expect([await relay.held(), await relay.open()]).toEqual(['0.02', ['sell 0.02 stop 48000, reduces']]);
  });

  test('places none anew that has sold its share, though its fills are not listed yet', async () => {
    await relay.say(buy);
    await relay.goOn(30);
    lagFills();
    relay.setPrice('51000');
    relay.setPrice('50000');
    await relay.goOn(30);
    const rest = [
      'sell 0.02 at 53000, reduces',
      'sell 0.03 at 52000, reduces',
      'sell 0.05 stop 48000, reduces',
    ];
    expect([await relay.held(), await relay.open()]).toEqual(['0.05', rest]);

    await relay.goOn(90);
    expect([await relay.held(), await relay.open()]).toEqual(['0.05', rest]);
    expect(relay.alarmNames()).toEqual([]);
  });

  test('places none anew that has sold its share when it was to be replaced, before anybody has followed that', async () => {
    await relay.say(buy);
    await relay.goOn(30);
    let cancels = 0;
    onRequest = (path) => {
      // The first one is of the stop-loss.
      if (!path.endsWith('/order/cancel') || ++cancels !== 2) return;
      relay.setPrice('51000');
      relay.setPrice('50000');
    };
    await relay.say({ action: 'close', quantity: '10%', maxSlippage: '0.5%' });
    await relay.say({ action: 'close', quantity: '10%', maxSlippage: '0.5%' });

    expect((await relay.open()).filter((text) => text.includes('51000'))).toEqual([]);
    await relay.goOn(60);
    expect((await relay.open()).filter((text) => text.includes('51000'))).toEqual([]);
    expect(relay.alarmNames()).toEqual([]);
  });

  test('keeps one that has filled in part, though its fills are not listed yet', async () => {
    await relay.say(buy);
    await relay.goOn(30);
    lagFills();
    relay.paper.control.setPrice('BTC_USDT', parseDecimal('51000'), parseDecimal('0.02'));
    relay.setPrice('50900');
    await relay.goOn(30);
    const rest = [
      'sell 0.02 at 53000, reduces',
      'sell 0.03 at 51000, reduces',
      'sell 0.03 at 52000, reduces',
      'sell 0.08 stop 48000, reduces',
    ];
    expect([await relay.held(), await relay.open()]).toEqual(['0.08', rest]);

    await relay.goOn(90);
    expect([await relay.held(), await relay.open()]).toEqual(['0.08', rest]);
    expect(relay.alarmNames()).toEqual([]);
  });

  test('has none left after a close', async () => {
    await relay.say(buy);
    await relay.goOn(30);
    await relay.say({ action: 'close', maxSlippage: '0.5%' });
    await relay.goOn(30);

    expect([await relay.held(), await relay.open()]).toEqual(['flat', []]);
    expect(relay.alarmNames()).toEqual([]);
  });

  test('has none left after a close by hand', async () => {
    await relay.say(buy);
    await relay.goOn(30);
    await relay.byHand('sell', '0.1');
    await relay.goOn(60);

    expect([await relay.held(), await relay.open()]).toEqual(['flat', []]);
  });

  test('does not get one again that the owner has cancelled', async () => {
    await relay.say(buy);
    await relay.goOn(30);
    await relay.cancelByHand('sell 0.03 at 52000, reduces');
    await relay.goOn(120);

    expect(await relay.open()).toEqual(whole.filter((order) => !order.includes('52000')));
  });

  test('measures distances from the price at which it filled', async () => {
    await relay.say({
      ...buy,
      takeProfits: [
        { distance: '2%', share: '50%' },
        { percent: 4, share: '50%' },
      ],
    });

    expect(await relay.open()).toEqual([
      'sell 0.05 at 51000, reduces',
      'sell 0.05 at 52000, reduces',
      'sell 0.1 stop 48000',
    ]);
  });

  test('gives them up for those of a later protect, and keeps its stop-loss', async () => {
    await relay.say(buy);
    await relay.goOn(30);
    const takeProfits = [
      { price: '51500', share: '60%' },
      { price: '54000', share: '40%' },
    ];
    await relay.say({ action: 'protect', takeProfits });
    await relay.goOn(60);

    expect(await relay.open()).toEqual([
      'sell 0.04 at 54000, reduces',
      'sell 0.06 at 51500, reduces',
      'sell 0.1 stop 48000',
    ]);
    expect(relay.alarmNames()).toEqual([]);
  });

  test('without a stop-loss has its take-profits all the same', async () => {
    await relay.say({ ...buy, stopLoss: undefined });
    await relay.goOn(60);
    expect(await relay.open()).toEqual(whole.slice(0, 3));

    relay.setPrice('51000');
    await relay.goOn(30);
    await relay.byHand('sell', '0.025');
    await relay.goOn(60);
    expect([await relay.held(), await relay.open()]).toEqual([
      '0.025',
      ['sell 0.01 at 53000, reduces', 'sell 0.015 at 52000, reduces'],
    ]);
  });

  test('leaves the rest without a take-profit when its shares come to less', async () => {
    await relay.say({ ...buy, takeProfits: parts.slice(0, 2) });
    await relay.goOn(30);
    relay.setPrice('52500');
    await relay.goOn(30);

    expect([await relay.held(), await relay.open()]).toEqual(['0.02', ['sell 0.02 stop 48000, reduces']]);
  });

  test('rounds shares to the steps of the market, and comes to rest', async () => {
    const thirds = ['51000', '52000', '53000'].map((price) => ({ price, share: '33.3%' }));
    await relay.say({ ...buy, quantity: '0.010001', takeProfits: thirds });
    await relay.goOn(60);
    const before = (await relay.services.ledger.list({ account: 'main', limit: 50 })).entries.length;
    await relay.goOn(300);

    expect(await relay.open()).toEqual([
      'sell 0.00333 at 51000, reduces',
      'sell 0.00333 at 52000, reduces',
      'sell 0.00333 at 53000, reduces',
      'sell 0.010001 stop 48000',
    ]);
    const { entries } = await relay.services.ledger.list({ account: 'main', limit: 50 });
    expect(entries).toHaveLength(before);
  });
});

test('A resting entry gets larger take-profits as it fills on', async () => {
  const rest = { ...buy, orderType: 'limit', limitPrice: '49500', maxSlippage: undefined };
  await relay.say(rest);
  relay.fill('49500', '0.04');
  await relay.goOn(30);
  expect((await relay.open()).filter((order) => order.includes(' at 5'))).toEqual([
    'sell 0.008 at 53000, reduces',
    'sell 0.012 at 52000, reduces',
    'sell 0.02 at 51000, reduces',
  ]);

  relay.setPrice('49400');
  await relay.goOn(60);
  expect([await relay.held(), await relay.open()]).toEqual(['0.1', whole]);
});

test('A resting entry that fills on gets the take-profits of that, although one has sold its share before', async () => {
  const rest = { ...buy, orderType: 'limit', limitPrice: '49500', maxSlippage: undefined };
  await relay.say(rest);
  relay.fill('49500', '0.04');
  await relay.goOn(30);
  await relay.byHand('sell', '0.02');
  await relay.goOn(30);
  relay.setPrice('51000');
  await relay.goOn(30);
  expect([await relay.held(), await relay.open()]).toEqual([
    '0.01',
    [
      'buy 0.06 at 49500',
      'sell 0.004 at 53000, reduces',
      'sell 0.006 at 52000, reduces',
      'sell 0.01 stop 48000, reduces',
    ],
  ]);

  relay.setPrice('49400');
  await relay.goOn(60);
  expect([await relay.held(), (await relay.open()).filter((order) => order.includes(' at 5'))]).toEqual([
    '0.07',
    ['sell 0.0175 at 53000, reduces', 'sell 0.02625 at 51000, reduces', 'sell 0.02625 at 52000, reduces'],
  ]);
});

test('A target that opens has them, and one that turns the position has its own', async () => {
  await relay.say({
    action: 'target',
    target: '0.1',
    maxSlippage: '0.5%',
    stopLoss: '48000',
    takeProfits: parts,
  });
  await relay.goOn(30);
  expect([await relay.held(), await relay.open()]).toEqual(['0.1', whole]);

  const below = [
    { price: '49000', share: '50%' },
    { price: '48000', share: '50%' },
  ];
  await relay.say({
    action: 'target',
    target: '-0.1',
    maxSlippage: '0.5%',
    stopLoss: '52000',
    takeProfits: below,
  });
  await relay.goOn(30);
  expect([await relay.held(), await relay.open()]).toEqual([
    '-0.1',
    ['buy 0.05 at 48000, reduces', 'buy 0.05 at 49000, reduces', 'buy 0.1 stop 52000'],
  ]);
  expect(relay.alarmNames()).toEqual([]);
});

test('A reverse has those of the new position', async () => {
  await relay.say(buy);
  await relay.goOn(30);
  await relay.say({
    action: 'reverse',
    maxSlippage: '0.5%',
    stopLoss: '4%',
    takeProfits: [{ price: '49000', share: '50%' }],
  });
  await relay.goOn(30);

  expect([await relay.held(), await relay.open()]).toEqual([
    '-0.1',
    ['buy 0.05 at 49000, reduces', 'buy 0.1 stop 51999.98'],
  ]);
  expect(relay.alarmNames()).toEqual([]);
});

describe('A protect with three take-profits', () => {
  beforeEach(async () => {
    await relay.say({ ...buy, takeProfits: undefined, takeProfit: '54000' });
    await relay.goOn(30);
    await relay.say({ action: 'protect', takeProfits: parts });
    await relay.goOn(30);
  });
  const kept = [...whole.slice(0, 3), 'sell 0.1 stop 48000, reduces'];

  test('takes the place of the single one of the entry', async () => {
    expect(await relay.open()).toEqual(kept);
    expect(relay.alarmNames()).toEqual([]);
  });

  test('sells one after the other, and the stop-loss is for the rest', async () => {
    relay.setPrice('51000');
    await relay.goOn(30);
    expect([await relay.held(), await relay.open()]).toEqual([
      '0.05',
      ['sell 0.02 at 53000, reduces', 'sell 0.03 at 52000, reduces', 'sell 0.05 stop 48000, reduces'],
    ]);

    relay.setPrice('47900');
    await relay.goOn(30);
    expect([await relay.held(), await relay.open()]).toEqual(['flat', []]);
    expect(relay.alarmNames()).toEqual([]);
  });

  test('places none anew that has sold its share of what a close has left', async () => {
    await relay.say({ action: 'close', quantity: '60%', maxSlippage: '0.5%' });
    await relay.goOn(30);
    relay.setPrice('51000');
    await relay.goOn(60);

    expect([await relay.held(), await relay.open()]).toEqual([
      '0.02',
      ['sell 0.008 at 53000, reduces', 'sell 0.012 at 52000, reduces', 'sell 0.02 stop 48000, reduces'],
    ]);
  });

  test('gives way to a single one', async () => {
    await relay.say({ action: 'protect', takeProfit: '55000' });
    await relay.goOn(30);

    expect(await relay.open()).toEqual(['sell 0.1 at 55000, reduces', 'sell 0.1 stop 48000, reduces']);
  });
});

describe('While it is not listed yet what the take-profit of the newer of two entries did', () => {
  const older = ['sell 0.1 at 54000', 'sell 0.1 stop 48000'];
  beforeEach(async () => {
    await relay.say({ ...buy, takeProfits: undefined, takeProfit: '54000' });
    await relay.goOn(30);
    await relay.say({ ...buy, stopLoss: '47000', takeProfits: undefined, takeProfit: '51000' });
    await relay.goOn(30);
  });

  test.each([
    ['its fills', () => lagFills()],
    ['how it ended', lagEnds],
  ])('the stop-loss of the older one stays: %s', async (_, lag) => {
    lag();
    relay.setPrice('51000');
    relay.setPrice('50000');
    await relay.goOn(30);

    expect([await relay.held(), await relay.open()]).toEqual(['0.1', older]);
    await relay.goOn(90);
    expect([await relay.held(), await relay.open(), relay.alarmNames()]).toEqual(['0.1', older, []]);
  });

  test('it stays when that take-profit has filled in part', async () => {
    lagFills();
    relay.paper.control.setPrice('BTC_USDT', parseDecimal('51000'), parseDecimal('0.04'));
    relay.setPrice('50900');
    await relay.goOn(30);

    expect([await relay.held(), await relay.open()]).toEqual([
      '0.16',
      ['sell 0.06 at 51000', 'sell 0.06 stop 47000, reduces', ...older],
    ]);
  });
});
