import { afterEach, beforeEach, expect, test } from '@jest/globals';
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
