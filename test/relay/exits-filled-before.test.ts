import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { parseDecimal } from '../../lib/base/decimal.ts';
import { longestPositionLagMs } from '../../lib/exchange/lag.ts';
import type { Entry } from '../../lib/ledger/entry.ts';
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

/** A leg that comes after the stop-loss waits until the list of positions must show what that has filled. */
async function sayAndWait(members: object): Promise<Entry> {
  const said = await relay.say({ ...members, maxSlippage: '0.5%' }).catch(() => null);
  if (said !== null) return said;
  relay.clock.advance(longestPositionLagMs);
  await relay.runLine();
  return await relay.entry('s3').catch(() => relay.entry('s2'));
}

describe.each([
  ['close', 'rejected', 'flat', { action: 'close' }],
  ['reverse', 'placed', '-0.1', { action: 'reverse' }],
  ['target', 'placed', '-0.05', { action: 'target', target: '-0.05' }],
])(
  'While the list of positions lags behind the stop-loss that fires before a %s',
  (action, status, held, turn) => {
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
      const said = await sayAndWait(turn);
      relay.paper.control.clearFaults();

      // Of an exit that no list has shown, nothing tells the relay that it has filled: the second leg is denied.
      const isTold = action === 'close' || seconds > 0;
      const told = isTold ? [status, held] : ['denied', 'flat'];
      expect([said.status, await relay.held(), await relay.open()]).toEqual([...told, []]);
      expect(relay.alarmNames()).toEqual([]);
    });

    test('another stop-loss that is left open does not stay', async () => {
      await relay.say({ ...entry, stopLoss: '49900' });
      await relay.say({ ...entry, stopLoss: '48000' });
      await relay.goOn(30);
      lag();
      await relay.byHand('sell', '0.1');
      await sayAndWait(turn);
      relay.paper.control.clearFaults();

      if (action === 'close')
        expect([await relay.open(), relay.alarmNames()]).toEqual([
          ['sell 0.1 stop 48000'],
          ['orders_left_open'],
        ]);
      await relay.goOn(30);
      expect(await relay.open()).toEqual([]);
    });
  },
);
