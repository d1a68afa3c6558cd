import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { parseConfig } from '../../lib/host/config.ts';
import type { ContestedFacts } from '../../lib/ledger/account-facts.ts';
import { createRemovedAccountsWatch } from '../../lib/watch/removed-accounts.ts';
import { type KeptRelay, openKeptRelay } from '../support/kept-relay.ts';
import { override } from '../support/override.ts';
import { testConfig } from '../support/world.ts';

const { main, ...others } = testConfig.accounts;
const everyone = parseConfig(testConfig).settings;
const withoutMain = parseConfig({ ...testConfig, accounts: others }).settings;
const resting = { action: 'buy', quantity: '0.01', limitPrice: '40000' };

let relay: KeptRelay;
beforeEach(async () => {
  relay = await openKeptRelay({ settings: everyone, market: 'BTC_USDT' });
});
afterEach(() => relay.close());

/** A process of the function begins with this configuration. */
const begin = (settings: typeof everyone, facts: ContestedFacts = relay.services.facts) =>
  createRemovedAccountsWatch({ ...relay.services, settings, facts });
const told = () => relay.alarms.filter(({ name }) => name === 'orders_unread');

test('an account that was removed while its orders are followed is an alarm of every process', async () => {
  await begin(everyone)();
  await relay.say(resting);
  const watch = begin(withoutMain);
  await watch();
  await watch();
  expect(told()).toMatchObject([{ account: 'main', markets: ['BTC_USDT'] }]);

  await begin(withoutMain)();
  expect(told()).toHaveLength(2);
});

test('an account of which nothing is followed is forgotten, and one that is configured is none', async () => {
  await begin(everyone)();
  await relay.say(resting);
  await begin(everyone)();
  await relay.cancelByHand('buy 0.01 at 40000');
  await relay.goOn(10);
  await begin(withoutMain)();
  expect(told()).toEqual([]);

  expect(await relay.services.facts.read('*', 'accounts')).toEqual(Object.keys(others).sort());
});

test('one whose order has an unknown outcome is an alarm, too', async () => {
  await begin(everyone)();
  relay.paper.control.addFault({ fault: 'drop_after', endpoint: 'limit', probability: 1 });
  expect(await relay.say(resting)).toMatchObject({ status: 'unknown' });

  await begin(withoutMain)();

  expect(told()).toMatchObject([{ account: 'main', markets: ['BTC_USDT'] }]);
});

test('a process that could not read the store looks again', async () => {
  await begin(everyone)();
  await relay.say(resting);
  let isDown = true;
  const { facts } = relay.services;
  const broken = override(facts, {
    read: (...names) => (isDown ? Promise.reject(new Error('the store is down')) : facts.read(...names)),
  });
  const watch = begin(withoutMain, broken);
  await expect(watch()).rejects.toThrow('the store is down');
  isDown = false;
  await watch();

  expect(told()).toHaveLength(1);
});
