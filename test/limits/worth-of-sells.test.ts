import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
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

describe('a limit sell below the market, which fills at what buyers offer', () => {
  const limit = { ...sell, orderType: 'limit' };

  test('is worth that, and not its lower limit price', async () => {
    relay.setPrice('150000');

    const entry = await relay.send(JSON.stringify({ ...limit, limitPrice: '99000' }));

    expect(entry).toMatchObject({ status: 'denied' });
    expect(entry.steps.at(-1)?.evidence).toMatchObject({ rule: 'max_notional', actual: '299999.98' });
    expect(relay.paper.control.state().orders).toEqual([]);
  });

  test('sells no more than the asked amount of money', async () => {
    const { quantity: _, ...money } = { ...limit, quoteQuantity: '5000' };

    const entry = await relay.send(JSON.stringify({ ...money, limitPrice: '5000' }));

    expect(entry).toMatchObject({ status: 'placed' });
    expect(relay.paper.control.state().orders).toMatchObject([{ amount: '0.1', price: '5000' }]);
  });

  test('is worth its limit price when it only rests', async () => {
    await relay.send(JSON.stringify({ ...limit, limitPrice: '60000', postOnly: true, quantity: '1' }));

    expect(relay.asked.filter((path) => path.includes('/orderbook/'))).toEqual([]);
    expect(relay.paper.control.state().orders).toMatchObject([{ amount: '1', status: 'open' }]);
  });
});
