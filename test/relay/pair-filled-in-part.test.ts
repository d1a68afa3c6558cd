import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { parseDecimal } from '../../lib/base/decimal.ts';
import { type KeptRelay, openKeptRelay } from '../support/kept-relay.ts';

/** The exchange cancels the stop-loss of a pair when its take-profit fills, in part too. */
let relay: KeptRelay;
beforeEach(async () => {
  relay = await openKeptRelay();
});
afterEach(() => relay.close());

test('What a take-profit that fills in part leaves has a stop-loss again', async () => {
  await relay.say({
    action: 'buy',
    orderType: 'market',
    quantity: '0.1',
    maxSlippage: '0.5%',
    stopLoss: '48000',
    takeProfit: '52000',
  });
  await relay.goOn(30);
  relay.paper.control.setPrice('BTC_USDT', parseDecimal('52000'), parseDecimal('0.035'));
  relay.setPrice('51900');
  await relay.goOn(60);

  expect(await relay.held()).toBe('0.065');
  expect(await relay.open()).toContain('sell 0.065 stop 48000, reduces');
});
