import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { type KeptRelay, openKeptRelay } from '../support/kept-relay.ts';
import { settingsWith } from '../support/limited-relay.ts';

/** `maxOrdersPerMinute` slows what opens positions. Nothing may keep one open. */
let relay: KeptRelay;
beforeEach(async () => {
  relay = await openKeptRelay({ settings: settingsWith({ maxOrdersPerMinute: 2, maxSlippage: '0.5%' }) });
  for (let count = 0; count < 2; count += 1)
    expect(await relay.say({ ...buy, stopLoss: '48000' })).toMatchObject({ status: 'placed' });
  await relay.goOn(12);
});
afterEach(() => relay.close());

const buy = { action: 'buy', orderType: 'market', quantity: '0.1' };

test('The third entry within a minute is denied', async () => {
  const third = await relay.say(buy);

  expect(third.status).toBe('denied');
  expect(third.steps.at(-1)?.evidence).toMatchObject({ rule: 'max_orders_per_minute' });
});

test('An order that would turn the position is denied', async () => {
  const turning = await relay.say({ ...buy, action: 'sell', quantity: '0.3' });

  expect(turning.steps.at(-1)?.evidence).toMatchObject({ rule: 'max_orders_per_minute' });
});

test.each([
  ['a close', { action: 'close' }, 'flat'],
  ['a close of a part', { action: 'close', quantity: '50%' }, '0.1'],
  ['a target of nothing', { action: 'target', target: '0' }, 'flat'],
  ['an order that only reduces', { ...buy, action: 'sell', reduceOnly: true }, '0.1'],
  ['an order that reduces by its size alone', { ...buy, action: 'sell' }, '0.1'],
])('%s is carried out all the same, and takes no place', async (_, alert, left) => {
  expect(await relay.say(alert)).toMatchObject({ status: 'placed' });
  expect(await relay.held()).toBe(left);

  relay.clock.advance(50_000);
  expect(await relay.say(buy)).toMatchObject({ status: 'placed' });
  expect(await relay.say(buy)).toMatchObject({ status: 'placed' });
});
