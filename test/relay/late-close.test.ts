import { afterEach, expect, test } from '@jest/globals';
import { parseDecimal } from '../../lib/base/decimal.ts';
import { clearEntries } from '../../lib/relay/position/clear-entries.ts';
import { ClearedEntries } from '../../lib/relay/position/cleared-entries.ts';
import { type KeptRelay, openKeptRelay } from '../support/kept-relay.ts';

let relay: KeptRelay;
afterEach(() => relay.close());

test('A close that has long waited for the position cancels the entry that rests all the same', async () => {
  relay = await openKeptRelay();
  await relay.say({ action: 'buy', orderType: 'limit', price: '49900', quantity: '0.1' });
  const { services, clock } = relay;
  const closing = {
    account: 'main',
    market: 'BTC_USDT',
    signalId: 'close',
    position: { amount: parseDecimal('0.04'), side: null },
  };
  const startedAtMs = clock.nowMs();
  clock.advance(9_000);
  const cleared = new ClearedEntries(startedAtMs);

  expect(await clearEntries(services, await services.exchangeFor('main'), closing, cleared)).toBe(true);
  expect([await relay.open(), cleared.alarm, relay.alarmNames()]).toEqual([[], null, []]);
});

test('A close that another worker has carried out meanwhile cancels nothing that was sent after it', async () => {
  relay = await openKeptRelay();
  const closed = await relay.say({ action: 'close', maxSlippage: '1%' });
  await relay.say({ action: 'buy', orderType: 'limit', price: '49900', quantity: '0.1' });
  const { services, clock } = relay;
  const closing = {
    account: 'main',
    market: 'BTC_USDT',
    signalId: closed.signalId,
    position: { amount: parseDecimal('0'), side: null },
  };

  const cleared = new ClearedEntries(clock.nowMs());

  expect(await clearEntries(services, await services.exchangeFor('main'), closing, cleared)).toBe(false);
  expect(await relay.open()).toHaveLength(1);
});
