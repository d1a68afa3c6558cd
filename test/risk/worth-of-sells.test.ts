import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { type Aftermath, openAftermath } from '../support/aftermath.ts';

let relay: Aftermath;
beforeEach(async () => {
  relay = await openAftermath();
});
afterEach(() => relay.close());

/** `maxNotional` of the account is 200,000. */
const sell = { id: 'sell-1', ticker: 'BTCUSDT', action: 'sell', quantity: '2' };

test('a stop-limit sell is worth its trigger price, at which it can fill, and not its lower limit price', async () => {
  const entry = await relay.send(JSON.stringify({ ...sell, stopPrice: '101000', limitPrice: '99500' }));

  expect(entry).toMatchObject({ status: 'denied' });
  expect(entry.steps.at(-1)?.evidence).toMatchObject({ rule: 'max_notional', actual: '202000' });
  expect(relay.paper.control.state().orders).toEqual([]);
});
