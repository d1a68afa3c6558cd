import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { type Aftermath, openAftermath } from '../support/aftermath.ts';

let relay: Aftermath;
beforeEach(async () => {
  relay = await openAftermath();
});
afterEach(() => relay.close());

const cancelAll = JSON.stringify({ id: 'all', ticker: 'BTCUSDT', action: 'cancel_all', scope: 'market' });
const orders = () => relay.paper.control.state().orders;

/** Rests at the exchange, and the ledger does not count it as open, like an order that somebody else placed. */
async function placeForeign(id: string): Promise<void> {
  const order = {
    id,
    ticker: 'BTCUSDT',
    action: 'buy',
    orderType: 'limit',
    limitPrice: '49000',
    quantity: '1',
  };
  await relay.send(JSON.stringify(order));
  await relay.services.ledger.closeOrder({ account: 'main', signalId: id });
}

describe('cancel_all with the scope of the market, while the open orders cannot be listed', () => {
  test('still cancels them, and is unknown until a lookup has listed what is left', async () => {
    await placeForeign('buy-1');

    const entry = await relay.send(cancelAll, { fault: 'refuse', endpoint: 'open-order', probability: 1 });
    relay.paper.control.clearFaults();

    expect(entry).toMatchObject({ status: 'unknown' });
    expect(orders()).toMatchObject([{ status: 'cancelled' }]);

    await relay.reconcile();
    expect(await relay.entry('all')).toMatchObject({ status: 'cancelled' });
  });

  test('is rejected when they stay open', async () => {
    await placeForeign('buy-1');
    relay.paper.control.addFault({ fault: 'refuse', endpoint: 'cancel-all', probability: 1 });

    const entry = await relay.send(cancelAll, { fault: 'refuse', endpoint: 'open-order', probability: 1 });
    relay.paper.control.clearFaults();
    await relay.reconcileFor(7);

    expect(entry).toMatchObject({ status: 'unknown' });
    expect(orders()).toMatchObject([{ status: 'open' }]);
    expect(await relay.entry('all')).toMatchObject({ status: 'rejected' });
  });
});

describe('the stop-loss and take-profit of a filled order', () => {
  const entry = {
    ticker: 'BTCUSDT',
    action: 'buy',
    orderType: 'market',
    maxSlippage: '0.1%',
    quantity: '0.01',
  };
  const enter = () => relay.send(JSON.stringify({ ...entry, id: 'buy-1', stopLoss: '2%', takeProfit: '4%' }));
  const exits = () =>
    orders()
      .slice(1)
      .map(({ status }) => status);

  test('stay when the orders of this relay are cancelled', async () => {
    await enter();

    await relay.send(JSON.stringify({ id: 'all', ticker: 'BTCUSDT', action: 'cancel_all' }));

    expect(exits()).toEqual(['open', 'open']);
  });

  test('are cancelled with every other open order of the market', async () => {
    await enter();

    await relay.send(cancelAll);

    expect(exits()).toEqual(['cancelled', 'cancelled']);
  });
});
