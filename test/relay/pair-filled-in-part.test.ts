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

test('At an exchange that lists no cancelled orders, what it leaves without a stop-loss is told within three minutes', async () => {
  relay.paper.control.listCancelled('main', false);
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
  await relay.goOn(100);
  expect(relay.alarmNames()).toEqual([]);
  await relay.goOn(80);

  expect(relay.alarms).toMatchObject([
    { name: 'position_unprotected', amount: '0.065', stopPrice: '48000', isPositionRead: true },
  ]);
  await relay.goOn(1_200);
  expect(relay.alarmNames()).toEqual(['position_unprotected']);
  expect(await relay.open()).toContain('sell 0.065 stop 48000, reduces');
});
