import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { Alarms } from '../../lib/base/alarms.ts';
import { type KeptRelay, openKeptRelay } from '../support/kept-relay.ts';

const buy = {
  action: 'buy',
  orderType: 'market',
  quantity: '0.1',
  maxSlippage: '0.5%',
  stopLoss: '49000',
};

/** An exchange that refuses every order that only reduces and would wait. */
let relay: KeptRelay;
beforeEach(async () => {
  relay = await openKeptRelay();
  await relay.say({ ...buy, takeProfit: '52000' });
  await relay.goOn(30);
  relay.paper.control.setExits({ refusesReduceOnlyStops: true });
  await relay.say({ action: 'close', quantity: '50%', maxSlippage: '0.5%' });
  await relay.goOn(600);
});
afterEach(() => relay.close());

/** With a reading every ten minutes. */
async function goOnForHours(hours: number): Promise<void> {
  for (let times = 0; times < 6 * hours; times += 1) {
    relay.clock.advance(597_000);
    await relay.goOn(3);
  }
}

const failed = () => relay.alarmNames().filter((name) => name === 'protection_failed').length;

test('What it refuses is told once for each position, and after hours again', async () => {
  await goOnForHours(5);
  expect(failed()).toBe(1);

  await goOnForHours(2);
  expect(failed()).toBe(2);

  await relay.say({ action: 'close', quantity: '50%', maxSlippage: '0.5%' });
  await relay.goOn(60);
  expect(failed()).toBe(3);
  expect(await relay.failuresTold()).toEqual([]);
});

test('It is told again when the size of the position changes, as it says', async () => {
  const messages: string[] = [];
  const alarms: Alarms = { raise: ({ message }) => void messages.push(message) };
  Object.assign(relay.services, { alarms });

  for (const share of ['50%', '50%']) {
    await relay.say({ action: 'close', quantity: share, maxSlippage: '0.5%' });
    await relay.goOn(60);
  }

  expect(messages).toHaveLength(2);
  expect(messages[0]).toMatch(/tells this again after 6 hours, or when the position changes$/);
});

test('The pair of the exchange stays, since its stop-loss has no successor', async () => {
  expect([await relay.held(), await relay.open()]).toEqual([
    '0.05',
    ['sell 0.1 at 52000', 'sell 0.1 stop 49000'],
  ]);
});

test('Once it takes them, both are replaced', async () => {
  relay.paper.control.setExits({ refusesReduceOnlyStops: false });
  await relay.goOn(1200);

  expect(await relay.open()).toEqual(['sell 0.05 at 52000, reduces', 'sell 0.05 stop 49000, reduces']);
});

test('However many orders it refuses, at most thirty are sent within a minute', async () => {
  const takeProfits = ['51000', '51500', '52000', '52500', '53000'].map((price) => ({ price, share: '20%' }));
  for (let entry = 0; entry < 8; entry += 1) await relay.say({ ...buy, takeProfits });
  await relay.goOn(90);
  expect(failed()).toBeGreaterThan(1);

  const { entries } = await relay.services.ledger.list({ limit: 1000 });
  const sentAtMs = entries
    .filter(({ signal }) => signal?.action === 'protect')
    .flatMap(({ steps }) => steps.flatMap(({ status, atMs }) => (status === 'sending' ? [atMs] : [])))
    .sort((one, other) => one - other);
  const inMinute = sentAtMs.map((atMs) => sentAtMs.filter((other) => other >= atMs && other < atMs + 60_000));
  expect(Math.max(...inMinute.map(({ length }) => length))).toBe(30);
});

test('Of a rest that is worth less than any order, the stop-loss of the whole entry goes, which would turn it, and that is told', async () => {
  const relay = await openKeptRelay();
  await relay.say({
    action: 'buy',
    orderType: 'market',
    quantity: '0.0002',
    maxSlippage: '0.5%',
    stopLoss: '48000',
  });
  await relay.goOn(12);
  await relay.say({ action: 'close', quantityPercent: '75', maxSlippage: '0.5%' });
  await relay.goOn(30);
  expect([await relay.held(), await relay.open()]).toEqual(['0.00005', []]);
  expect(relay.alarmNames()).toContain('protection_failed');

  const close = await relay.say({ action: 'close', maxSlippage: '0.5%' });
  expect([close.status, close.steps.at(-1)?.note]).toEqual([
    'denied',
    expect.stringContaining('or close what is too small for an order on the website of the exchange'),
  ]);
  relay.setPrice('47900');
  await relay.goOn(30);
  expect(await relay.held()).toBe('0.00005');
  await relay.close();
});

describe('A stop-loss of the right size, of which no other is worth enough to take its place, stays', () => {
  // Worth 5.05, and less than the minimum of 5 at the price of a stop-loss.
  const small = { ...buy, quantity: '0.000101', stopLoss: '48000' };
  let other: KeptRelay;
  beforeEach(async () => {
    other = await openKeptRelay();
  });
  afterEach(() => other.close());
  const stops = async () => (await other.open()).filter((order) => order.includes('stop'));

  test('when a protect names another take-profit', async () => {
    await other.say({ ...small, takeProfit: '52000' });
    await other.goOn(30);
    await other.say({ action: 'protect', takeProfit: '53000' });
    await other.goOn(60);

    expect(await stops()).toEqual(['sell 0.000101 stop 48000']);
  });

  test('when a protect moves it', async () => {
    await other.say(small);
    await other.goOn(30);
    await other.say({ action: 'protect', stopLoss: '48500' });
    await other.goOn(60);

    expect(await stops()).toEqual(['sell 0.000101 stop 48000']);
    expect(other.alarmNames()).toContain('protection_failed');
  });

  test('when it should follow the price', async () => {
    await other.say({ ...small, stopLoss: undefined, trailing: '5%' });
    for (const price of ['50000', '50400', '50700']) {
      other.setPrice(price);
      await other.goOn(12);
    }

    expect(await stops()).toEqual(['sell 0.000101 stop 47500']);
  });
});
