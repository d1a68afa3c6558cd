import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { type KeptRelay, openKeptRelay } from '../support/kept-relay.ts';

/** A stop-loss that should be fitted, where the exchange is slow or cannot be read. */
let relay: KeptRelay;
let requestMs = 0;
beforeEach(async () => {
  requestMs = 0;
  relay = await openKeptRelay({ onRequest: (_, clock) => clock.advance(requestMs) });
  await relay.say({
    action: 'buy',
    orderType: 'market',
    quantity: '0.1',
    maxSlippage: '0.5%',
    stopLoss: '48000',
  });
  await relay.goOn(30);
  await relay.byHand('sell', '0.04');
});
afterEach(() => relay.close());

const oversized = 'sell 0.1 stop 48000';

test('What it is planned on is too old each time: that is told, and again only after ten minutes', async () => {
  requestMs = 1_800;
  await relay.goOn(9);
  expect(relay.alarms).toMatchObject([{ name: 'protection_failed', market: 'BTC_USDT' }]);
  const act = await relay.entry(String(relay.alarms[0]?.['signalId']));
  expect(act.steps.at(-1)).toMatchObject({
    status: 'not_sent',
    note: expect.stringContaining('were older than 5 seconds each time'),
  });
  await relay.goOn(60);
  expect(relay.alarmNames()).toEqual(['protection_failed']);
  expect([await relay.open(), await relay.failuresTold()]).toEqual([[oversized], []]);

  requestMs = 0;
  await relay.goOn(600);
  expect(await relay.open()).toEqual(['sell 0.06 stop 48000, reduces']);
  expect(relay.alarmNames()).toEqual(['protection_failed']);
});

test('The ticker cannot be read when it is planned: that is told', async () => {
  relay.paper.control.addFault({ fault: 'error_before', endpoint: 'ticker', probability: 1 });
  await relay.goOn(60);

  expect([relay.alarmNames(), await relay.failuresTold()]).toEqual([['protection_failed'], []]);
  expect(await relay.open()).toEqual([oversized]);
});
