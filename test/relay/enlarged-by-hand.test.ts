import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { type KeptRelay, openKeptRelay } from '../support/kept-relay.ts';

/**
 * What the owner buys by hand belongs to no order, except that it takes the place of what was sold by hand before: protection
 * follows from the position as it is, so that a reading which was wrong once cannot take it away for good. What an
 * alert buys without a stop-loss belongs to that alert.
 */
let relay: KeptRelay;
beforeEach(async () => {
  relay = await openKeptRelay();
  await relay.say({
    action: 'buy',
    orderType: 'market',
    quantity: '0.1',
    maxSlippage: '0.5%',
    stopLoss: '48000',
  });
  await relay.goOn(30);
});
afterEach(() => relay.close());

describe('A position of 0.1 with a stop-loss', () => {
  test('that is reduced by hand and enlarged again is protected up to what its order opened', async () => {
    await relay.byHand('sell', '0.04');
    await relay.goOn(30);
    expect(await relay.open()).toEqual(['sell 0.06 stop 48000, reduces']);

    await relay.byHand('buy', '0.02');
    await relay.goOn(30);
    expect([await relay.held(), await relay.open()]).toEqual(['0.08', ['sell 0.08 stop 48000, reduces']]);

    await relay.byHand('buy', '0.2');
    await relay.goOn(30);
    expect([await relay.held(), await relay.open()]).toEqual(['0.28', ['sell 0.1 stop 48000, reduces']]);
    expect(relay.alarmNames()).toEqual([]);
  });

  test('that is closed by hand and opened again by hand has none: it is another one', async () => {
    await relay.byHand('sell', '0.1');
    await relay.goOn(60);
    await relay.byHand('buy', '0.1');
    await relay.goOn(60);

    expect([await relay.held(), await relay.open()]).toEqual(['0.1', []]);
  });

  test('that is reduced and enlarged by an order without a stop-loss is protected for what is left of the first one, for good', async () => {
    const order = { orderType: 'market', maxSlippage: '0.5%' };
    await relay.say({ ...order, action: 'close', quantity: '50%' });
    await relay.say({ ...order, action: 'buy', quantity: '0.05' });
    for (let hours = 0; hours < 8; hours += 1) {
      for (let tries = 0; tries < 6; tries += 1) {
        relay.clock.advance(600_000);
        await relay.goOn(3);
      }
    }

    expect([await relay.held(), await relay.open()]).toEqual(['0.1', ['sell 0.05 stop 48000, reduces']]);
    const { entries } = await relay.services.ledger.list({ account: 'main', limit: 50 });
    expect(entries.map(({ signal }) => signal?.action)).toEqual(['order', 'protect', 'close', 'order']);

    await relay.say({ ...order, action: 'close' });
    await relay.goOn(900);
    expect(await relay.services.executions.followed('main', 10)).toEqual([]);
  });
});
