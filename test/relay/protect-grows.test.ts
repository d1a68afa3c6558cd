import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { parseDecimal } from '../../lib/base/decimal.ts';
import { type KeptRelay, openKeptRelay } from '../support/kept-relay.ts';

/** The take-profits of a `protect` are shares of the position that it protects, also of what comes to that later. */
let relay: KeptRelay;
beforeEach(async () => {
  relay = await openKeptRelay();
});
afterEach(() => relay.close());

const resting = {
  action: 'buy',
  orderType: 'limit',
  limitPrice: '49500',
  quantity: '0.2',
  stopLoss: '48000',
  takeProfit: '52000',
};
const bare = { action: 'buy', orderType: 'market', quantity: '0.1', maxSlippage: '0.5%' };
const parts = [
  { price: '51000', share: '50%' },
  { price: '55000', share: '30%' },
];
const protect = (members: object) => relay.say({ action: 'protect', ...members });

/** What would sell the position at a profit. */
async function takeProfits(): Promise<readonly string[]> {
  return (await relay.open()).filter((order) => order.startsWith('sell') && order.includes(' at '));
}

/** The price reaches the first take-profit, and comes back. */
async function sellFirst(): Promise<void> {
  relay.setPrice('51000');
  await relay.goOn(30);
  relay.setPrice('50000');
  await relay.goOn(30);
}

async function countOfSignals(): Promise<number> {
  return (await relay.services.ledger.list({ account: 'main', limit: 200 })).entries.length;
}

describe('A limit buy of 0.2 has filled 0.05 when a protect comes', () => {
  beforeEach(async () => {
    await relay.say(resting);
    await relay.goOn(12);
    relay.fill('49500', '0.05');
    await relay.goOn(30);
  });
  const fillRest = () => relay.fill('49500', '0.15');

  test('its take-profit grows as its stop-loss does when the rest fills', async () => {
    await protect({ stopLoss: '48500', takeProfit: '53000' });
    await relay.goOn(30);
    expect([await relay.held(), await takeProfits()]).toEqual(['0.05', ['sell 0.05 at 53000, reduces']]);
    fillRest();
    await relay.goOn(60);

    expect([await relay.held(), await relay.open()]).toEqual([
      '0.2',
      ['sell 0.2 at 53000, reduces', 'sell 0.2 stop 48500, reduces'],
    ]);
    expect(relay.alarmNames()).toEqual([]);
    relay.setPrice('53000');
    await relay.goOn(30);
    expect([await relay.held(), await relay.open()]).toEqual(['flat', []]);
  });

  test('each of several grows by its share', async () => {
    await protect({ takeProfits: parts });
    await relay.goOn(30);
    expect(await takeProfits()).toEqual(['sell 0.015 at 55000, reduces', 'sell 0.025 at 51000, reduces']);
    fillRest();
    await relay.goOn(60);
    const grown = ['sell 0.06 at 55000, reduces', 'sell 0.1 at 51000, reduces'];
    expect(await takeProfits()).toEqual(grown);

    const before = await countOfSignals();
    await relay.goOn(300);
    expect([await takeProfits(), await countOfSignals()]).toEqual([grown, before]);
  });

  test('one that has sold its share sells its share of the rest alone', async () => {
    await protect({ takeProfits: parts });
    await relay.goOn(30);
    await sellFirst();
    expect([await relay.held(), await takeProfits()]).toEqual(['0.025', ['sell 0.015 at 55000, reduces']]);
    fillRest();
    await relay.goOn(60);

    expect([await relay.held(), await takeProfits()]).toEqual([
      '0.175',
      ['sell 0.06 at 55000, reduces', 'sell 0.075 at 51000, reduces'],
    ]);
    await sellFirst();
    expect([await relay.held(), await takeProfits()]).toEqual(['0.1', ['sell 0.06 at 55000, reduces']]);
    await relay.goOn(300);
    expect(await takeProfits()).toEqual(['sell 0.06 at 55000, reduces']);
    expect(relay.alarmNames()).toEqual([]);
  });

  test('one that has sold a part of its share keeps the rest of it, and its share of what fills', async () => {
    await protect({ takeProfits: parts });
    await relay.goOn(30);
    relay.paper.control.setPrice('BTC_USDT', parseDecimal('51000'), parseDecimal('0.01'));
    relay.setPrice('50000');
    await relay.goOn(30);
    fillRest();
    await relay.goOn(60);

    expect([await relay.held(), await takeProfits()]).toEqual([
      '0.19',
      ['sell 0.06 at 55000, reduces', 'sell 0.09 at 51000, reduces'],
    ]);
  });

  test('a close of one half takes from each of the grown ones alike', async () => {
    await protect({ takeProfits: parts });
    fillRest();
    await relay.goOn(60);
    await relay.say({ action: 'close', quantity: '50%', maxSlippage: '0.5%' });
    await relay.goOn(60);

    expect([await relay.held(), await takeProfits()]).toEqual([
      '0.1',
      ['sell 0.03 at 55000, reduces', 'sell 0.05 at 51000, reduces'],
    ]);
  });

  test('they keep their size in the meantime while the fills of the rest are not listed yet', async () => {
    await protect({ takeProfits: parts });
    await relay.goOn(30);
    await sellFirst();
    for (const endpoint of ['executed-history', 'order-deals'])
      relay.paper.control.addFault({ fault: 'read_lag', endpoint, delayMs: 60_000, probability: 1 });
    fillRest();
    await relay.goOn(120);

    expect([await relay.held(), await takeProfits()]).toEqual([
      '0.175',
      ['sell 0.06 at 55000, reduces', 'sell 0.075 at 51000, reduces'],
    ]);
    expect(relay.alarmNames()).toEqual([]);
  });
});

test('What is bought by hand after a protect counts, and what was sold and bought back by hand does not count twice', async () => {
  await relay.say(bare);
  await protect({ stopLoss: '48000', takeProfits: parts });
  await relay.goOn(30);
  await relay.byHand('sell', '0.06');
  await relay.goOn(60);
  expect(await takeProfits()).toEqual(['sell 0.012 at 55000, reduces', 'sell 0.02 at 51000, reduces']);
  await relay.byHand('buy', '0.06');
  await relay.goOn(60);
  expect(await takeProfits()).toEqual(['sell 0.03 at 55000, reduces', 'sell 0.05 at 51000, reduces']);

  await relay.byHand('buy', '0.02');
  await relay.goOn(60);
  expect([await relay.held(), await relay.open()]).toEqual([
    '0.12',
    ['sell 0.036 at 55000, reduces', 'sell 0.06 at 51000, reduces', 'sell 0.12 stop 48000, reduces'],
  ]);
});

test('The take-profits of a short position grow, too', async () => {
  await relay.say({ ...bare, action: 'sell' });
  await protect({ takeProfits: [{ price: '49000', share: '50%' }] });
  await relay.goOn(30);
  await relay.byHand('sell', '0.04');
  await relay.goOn(60);

  expect(await relay.open()).toEqual(['buy 0.07 at 49000, reduces']);
});

describe('An entry after a protect', () => {
  const later = { ...resting, quantity: '0.08', takeProfit: undefined };
  beforeEach(async () => {
    await relay.say(bare);
    await protect({ takeProfits: parts });
    await relay.goOn(30);
    await sellFirst();
  });

  test('does not enlarge its take-profits, and what it is bought by hand beside it does', async () => {
    await relay.say(later);
    await relay.goOn(12);
    relay.fill('49500', '0.03');
    await relay.goOn(60);
    expect([await relay.held(), await takeProfits()]).toEqual(['0.08', ['sell 0.03 at 55000, reduces']]);

    await relay.byHand('buy', '0.02');
    await relay.goOn(90);
    expect(await takeProfits()).toEqual(['sell 0.01 at 51000, reduces', 'sell 0.036 at 55000, reduces']);
  });

  test.each([
    ['its fills', 40_000, ['executed-history', 'order-deals']],
    ['that it fills', 40_000, ['executed-history', 'order-deals', 'open-order']],
    ['the position', 9_000, ['open-positions']],
  ])('does not while the lists lag: %s', async (_, delayMs, endpoints) => {
    await relay.say(later);
    await relay.goOn(12);
    for (const endpoint of endpoints)
      relay.paper.control.addFault({ fault: 'read_lag', endpoint, delayMs, probability: 1 });
    relay.fill('49500', '0.03');
    const seen: (readonly string[])[] = [];
    for (let second = 0; second < 60; second += 3) {
      await relay.goOn(3);
      seen.push(await takeProfits());
    }

    expect(seen.filter((orders) => orders.some((order) => order.includes(' 51000')))).toEqual([]);
  });
});
