import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { parseDecimal } from '../../lib/base/decimal.ts';
import { type KeptRelay, openKeptRelay } from '../support/kept-relay.ts';

/** What an exit filled before a close is in the position that was closed: it has turned nothing. */
let relay: KeptRelay;
let isOpen = false;
/** What happens when the next order is on its way. */
let beforeOrder: (() => void) | null = null;

beforeEach(async () => {
  beforeOrder = null;
  isOpen = false;
  relay = await openKeptRelay({
    onRequest(path) {
      if (isOpen) relay.clock.advance(20);
      if (!path.startsWith('/api/v4/order/collateral/')) return;
      beforeOrder?.();
      beforeOrder = null;
    },
  });
  isOpen = true;
});
afterEach(() => relay.close());

const entry = { action: 'buy', orderType: 'market', quantity: '0.1', maxSlippage: '0.5%' };

test.each([
  ['close', 'flat'],
  ['reverse', '-0.06'],
])('a take-profit that has filled in part raises no alarm when a "%s" cancels it', async (action, held) => {
  await relay.say({ ...entry, stopLoss: '49000', takeProfit: '51000' });
  await relay.goOn(30);
  relay.paper.control.setPrice('BTC_USDT', parseDecimal('51000'), parseDecimal('0.04'));
  relay.setPrice('50900');
  relay.clock.advance(1000);

  await relay.say({ action, maxSlippage: '0.5%' });

  expect([await relay.held(), await relay.open(), relay.alarmNames()]).toEqual([held, [], []]);
});

test('one of two take-profits that fills when a reversal is on its way raises no alarm', async () => {
  await relay.say({ ...entry, stopLoss: '49000', takeProfit: '51000' });
  await relay.say({ ...entry, stopLoss: '48000', takeProfit: '53000' });
  await relay.goOn(30);
  beforeOrder = () => relay.setPrice('51100');

  // Its second leg waits until the list of positions must show the first one.
  await relay.say({ action: 'reverse', maxSlippage: '0.5%' }).catch(() => null);

  expect([await relay.held(), await relay.open(), relay.alarmNames()]).toEqual(['flat', [], []]);
});

describe.each([
  ['close', 'rejected', { action: 'close' }],
  ['reverse', 'denied', { action: 'reverse' }],
  ['target', 'denied', { action: 'target', target: '-0.05' }],
])('While the list of positions lags behind the stop-loss that fires before a %s', (_, status, turn) => {
  function lag(): void {
    relay.paper.control.addFault({
      fault: 'read_lag',
      endpoint: 'open-positions',
      delayMs: 9_000,
      probability: 1,
    });
    beforeOrder = () => relay.setPrice('49890');
  }

  test.each([
    ['long after the entry', 90],
    ['when the follower has not seen the entry', 0],
  ])('no alarm tells of open orders where none is, %s', async (_when, seconds) => {
    await relay.say({ ...entry, stopLoss: '49900' });
    if (seconds > 0) await relay.goOn(seconds);
    else relay.clock.advance(12_000);
    lag();
    const said = await relay.say({ ...turn, maxSlippage: '0.5%' });
    relay.paper.control.clearFaults();

    expect([said.status, await relay.held(), await relay.open()]).toEqual([status, 'flat', []]);
    expect(relay.alarmNames()).toEqual([]);
  });

  test('an alarm tells of another stop-loss that is left open', async () => {
    await relay.say({ ...entry, stopLoss: '49900' });
    await relay.say({ ...entry, stopLoss: '48000' });
    await relay.goOn(30);
    lag();
    await relay.byHand('sell', '0.1');
    await relay.say({ ...turn, maxSlippage: '0.5%' });
    relay.paper.control.clearFaults();

    expect([await relay.held(), await relay.open()]).toEqual(['flat', ['sell 0.1 stop 48000']]);
    expect(relay.alarmNames()).toEqual(['orders_left_open']);
  });
});
