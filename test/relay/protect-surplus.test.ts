import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { type KeptRelay, openKeptRelay } from '../support/kept-relay.ts';

/** What protects an entry may fill for more than it: the exchange makes its exits when the last of it fills. */
let relay: KeptRelay;
beforeEach(async () => {
  relay = await openKeptRelay();
});
afterEach(() => relay.close());

const entry = { action: 'buy', orderType: 'market', quantity: '0.3', maxSlippage: '0.5%', stopLoss: '45000' };

test('A fall that fills the rest of an entry and both of its stop-losses is told, as it takes from another entry', async () => {
  await relay.say(entry);
  await relay.goOn(30);
  const resting = { orderType: 'limit', limitPrice: '49500', maxSlippage: undefined, stopLoss: '49000' };
  await relay.say({ ...entry, ...resting });
  relay.fill('49500', '0.2');
  await relay.goOn(30);
  expect(await relay.open()).toContain('sell 0.2 stop 49000, reduces');
  relay.setPrice('48900');
  await relay.goOn(30);

  expect(await relay.held()).toBe('0.1');
  expect(await relay.open()).toEqual(['sell 0.1 stop 45000, reduces']);
  expect(relay.alarms).toMatchObject([{ name: 'protection_failed', signalId: 's2', surplus: '0.2' }]);
});

test('Stop-losses that sell no more than their entries tell nothing', async () => {
  await relay.say(entry);
  await relay.say({ ...entry, stopLoss: '49000' });
  await relay.goOn(30);
  relay.setPrice('48900');
  await relay.goOn(90);

  expect([await relay.held(), relay.alarmNames()]).toEqual(['0.3', []]);
});
