import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { parseConfig } from '../../lib/host/config.ts';
import { type KeptRelay, openKeptRelay } from '../support/kept-relay.ts';
import { settingsWith } from '../support/limited-relay.ts';
import { testConfig } from '../support/world.ts';

/** The relay has placed a stop-loss of its own for a part of an entry, keeps the protection no more, and the entry fills on. */
let relay: KeptRelay;
beforeEach(async () => {
  relay = await openKeptRelay({ settings: settingsWith({ protection: 'keep' }) });
  await relay.say({
    action: 'buy',
    orderType: 'limit',
    limitPrice: '49500',
    quantity: '0.010',
    stopLoss: '48000',
  });
  relay.fill('49500', '0.004');
  await relay.goOn(60);
  expect(await relay.open()).toContain('sell 0.004 stop 48000, reduces');
});
afterEach(() => relay.close());

const told = () => relay.alarms.filter(({ name }) => name === 'position_unprotected');
function change(limits: object): void {
  Object.assign(relay.services, { settings: settingsWith(limits) });
}

describe.each([
  ["`protection: 'alarm'`", { protection: 'alarm' }],
  ["`mode: 'dry-run'`", { mode: 'dry-run' }],
])('With %s', (_, limits) => {
  beforeEach(() => change(limits));

  test('what the entry fills then is told, without what the stop-loss covers', async () => {
    await relay.goOn(60);
    expect(told()).toEqual([]);
    relay.fill('49500', '0.003');
    await relay.goOn(114);
    expect(told()).toEqual([]);
    await relay.goOn(15);

    expect(await relay.held()).toBe('0.007');
    expect(told()).toMatchObject([{ amount: '0.003', stopPrice: '48000', isPositionRead: true }]);
  });

  test('a position by hand beside it changes nothing of that', async () => {
    await relay.byHand('buy', '0.1');
    await relay.goOn(300);
    expect(told()).toEqual([]);
    relay.fill('49500', '0.003');
    await relay.goOn(130);

    expect(told()).toMatchObject([{ amount: '0.003' }]);
  });

  test('what was closed of it needs none, also while the position cannot be read for some minutes', async () => {
    relay.fill('49500', '0.003');
    await relay.byHand('sell', '0.003');
    await relay.goOn(90);
    relay.paper.control.addFault({ fault: 'refuse', endpoint: 'open-positions', probability: 1 });
    await relay.goOn(300);

    expect(told()).toEqual([]);
  });
});

test('With `keep` the rest has its own, and no alarm comes', async () => {
  relay.fill('49500', '0.003');
  await relay.goOn(180);

  expect(await relay.open()).toContain('sell 0.007 stop 48000, reduces');
  expect(relay.alarmNames()).toEqual([]);
});

describe('On spot', () => {
  const spot = { mode: 'live', maxSlippage: '1%', markets: { BTC_USDT: { tradesOn: 'spot' } } };
  const settings = (limits: object) =>
    parseConfig({ ...testConfig, accounts: { main: { ...spot, ...limits } } }).settings;
  beforeEach(async () => {
    await relay.close();
    relay = await openKeptRelay({ settings: settings({}) });
    await relay.say({
      action: 'buy',
      orderType: 'limit',
      limitPrice: '49500',
      quantity: '0.10',
      stopLoss: '48000',
    });
    relay.fill('49500', '0.04');
    await relay.goOn(60);
    Object.assign(relay.services, { settings: settings({ protection: 'alarm' }) });
  });

  test('what a buy fills then is told, and the fee of what it filled before is no lack', async () => {
    await relay.goOn(180);
    expect((await relay.entry('s1')).execution?.unprotectedSinceMs).toBeUndefined();
    relay.fill('49500', '0.03');
    await relay.goOn(130);

    const stop = (await relay.open()).find((text) => text.includes('stop 48000'));
    expect(stop).toBe('sell 0.03996 stop 48000');
    expect(told()).toMatchObject([{ amount: '0.02997', stopPrice: '48000' }]);
  });
});
