import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { SignalEntry } from '../../lib/ledger/entry.ts';
import { isSignal } from '../../lib/ledger/entry.ts';
import type { Pause } from '../../lib/ledger/ledger.ts';
import { createKillSwitch, type PauseReading } from '../../lib/relay/execute/kill-switch.ts';
import { type Aftermath, noonMs, openAftermath } from '../support/aftermath.ts';
import { buyAlert } from '../support/alerts.ts';
import {
  changePositions,
  type LimitedRelay,
  openLimitedRelay,
  settingsWith,
} from '../support/limited-relay.ts';
import { override } from '../support/override.ts';

const pause: Pause = { sinceMs: noonMs, reason: 'news', kind: 'everything' };
let relay: Aftermath;
/** The times at which the pause was read from the ledger. */
let readAtMs: number[];

beforeEach(async () => {
  relay = await openAftermath();
  readAtMs = [];
});
afterEach(() => relay.close());

async function switchOf(alert: string, reading: PauseReading | null) {
  const { signalId } = await relay.receive(alert);
  const entry = await relay.entry(signalId);
  if (!isSignal(entry)) throw new Error('it is no signal');
  return createSwitch(entry, reading);
}

function createSwitch(entry: SignalEntry, reading: PauseReading | null) {
  const { ledger: stored } = relay.services;
  const ledger = override(stored, {
    readPause(account) {
      readAtMs.push(relay.clock.nowMs());
      return stored.readPause(account);
    },
  });
  return createKillSwitch({ ledger, clock: relay.clock }, entry, reading);
}

test('a reading that is at hand is used for one second, and not a millisecond longer', async () => {
  const killSwitch = await switchOf(buyAlert(), { pause: null, readAtMs: noonMs });
  await relay.services.ledger.writePause('main', pause);

  expect(await killSwitch.check()).toBeNull();
  relay.clock.advance(1000);
  expect(await killSwitch.check()).toBeNull();
  expect(readAtMs).toEqual([]);
  relay.clock.advance(1);
  expect(await killSwitch.check()).toMatchObject({ rule: 'paused' });

  expect(readAtMs).toEqual([noonMs + 1001]);
});

test('its age counts from the beginning of the reading', async () => {
  const killSwitch = await switchOf(buyAlert(), null);
  const { ledger } = relay.services;
  const { readPause } = ledger;
  ledger.readPause = async (account) => {
    const read = await readPause.call(ledger, account);
    relay.clock.advance(600);
    return read;
  };

  await killSwitch.check();
  await relay.services.ledger.writePause('main', pause);
  relay.clock.advance(400);
  expect(await killSwitch.check()).toBeNull();
  relay.clock.advance(1);

  expect(await killSwitch.check()).toMatchObject({ rule: 'paused' });
  expect(readAtMs).toEqual([noonMs, noonMs + 1001]);
});

test('a reading is not used after the clock was set back', async () => {
  const killSwitch = await switchOf(buyAlert(), { pause: null, readAtMs: noonMs });
  await relay.services.ledger.writePause('main', pause);
  relay.clock.advance(-1);

  expect(await killSwitch.check()).toMatchObject({ rule: 'paused' });
  expect(readAtMs).toEqual([noonMs - 1]);
});

test('without a reading the pause is read at the first check', async () => {
  const killSwitch = await switchOf(buyAlert(), null);
  expect(readAtMs).toEqual([]);
  expect(await killSwitch.check()).toBeNull();
  expect(readAtMs).toEqual([noonMs]);
});

test.each([{ action: 'cancel_all' }, { action: 'cancel', orderId: 1 }])(
  'a cancellation never reads it: %o',
  async (cancel) => {
    const alert = JSON.stringify({ id: 'stop', ticker: 'BTCUSDT', ...cancel });
    const killSwitch = await switchOf(alert, { pause, readAtMs: noonMs });
    relay.clock.advance(5000);

    expect(await killSwitch.check()).toBeNull();
    expect(readAtMs).toEqual([]);
  },
);

describe.each([
  ['without limits of risk', settingsWith({})],
  ['with a largest loss of the day', settingsWith({ maxDailyLoss: '1000' })],
  ['with a largest position', settingsWith({}, { maxPosition: '0.05' })],
])('A pause of entries, in an account %s,', (_, settings) => {
  const paused = { status: 'denied', rule: 'paused' };
  const reducing = { side: 'sell', reduceOnly: true };
  let trading: LimitedRelay;

  beforeEach(async () => {
    trading = await openLimitedRelay();
    await trading.sendUnder(settings, { action: 'buy', quantity: '0.02' });
    trading.clock.advance(20_000);
    await trading.services.ledger.writePause('main', { ...pause, kind: 'entries' });
  });
  afterEach(() => trading.close());

  test('lets an order pass that can only reduce the position, whether it is marked so or not', async () => {
    expect(await trading.sendUnder(settings, { action: 'sell', quantity: '0.01' })).toEqual({
      status: 'placed',
    });
    expect(await trading.sendUnder(settings, { action: 'sell', quantity: '0.01' })).toEqual({
      status: 'placed',
    });
    expect(trading.paper.control.state().orders.slice(-2)).toMatchObject([reducing, reducing]);
    expect(await trading.held()).toEqual([]);
    expect(await trading.sendUnder(settings, { action: 'sell', quantity: '0.01' })).toMatchObject(paused);
  });

  test.each([
    ['that would turn it', { action: 'sell', quantity: '0.03' }],
    ['that enlarges it', { action: 'buy', quantity: '0.01' }],
    [
      'that rests, and fills when the position may be gone',
      { action: 'sell', quantity: '0.02', orderType: 'limit', limitPrice: '60000', maxSlippage: undefined },
    ],
    ['with exits of its own', { action: 'sell', quantity: '0.01', stopLoss: '60000' }],
  ])('stops an order %s', async (_, order) => {
    expect(await trading.sendUnder(settings, order)).toMatchObject(paused);
  });

  test('lets it pass though the exchange does not say what another position is worth', async () => {
    await trading.sendUnder(settings, { action: 'sell', quantity: '0.01' });
    await changePositions(trading, (positions) => [
      ...positions,
      ...positions.map((one) => ({ ...one, market: 'ETH_USDT', basePrice: null })),
    ]);

    expect(await trading.sendUnder(settings, { action: 'sell', quantity: '0.01' })).toEqual({
      status: 'placed',
    });
  });

  test('stops what may enlarge it while the position cannot be read', async () => {
    trading.paper.control.addFault({ fault: 'refuse', endpoint: 'open-positions', probability: 1 });

    expect(await trading.sendUnder(settings, { action: 'sell', quantity: '0.01' })).not.toEqual({
      status: 'placed',
    });
    expect(trading.paper.control.state().orders).toHaveLength(1);
  });

  test('stops all of it where everything is paused', async () => {
    await trading.services.ledger.writePause('main', pause);

    expect(await trading.sendUnder(settings, { action: 'sell', quantity: '0.01' })).toMatchObject(paused);
  });
});
