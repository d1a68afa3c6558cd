import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { type Aftermath, openAftermath } from '../support/aftermath.ts';

let relay: Aftermath;
beforeEach(async () => {
  relay = await openAftermath();
});
afterEach(() => relay.close());

const market = {
  ticker: 'BTCUSDT',
  action: 'buy',
  orderType: 'market',
  maxSlippage: '0.1%',
  quantity: '0.01',
};
const stop = { ticker: 'BTCUSDT', action: 'buy', stopPrice: '51000', stopLoss: '2%', quantity: '0.01' };

test.each([market, stop])('a reference price changes nothing about the order: %j', async (alert) => {
  await relay.send(JSON.stringify({ ...alert, id: 'plain' }));
  const entry = await relay.send(JSON.stringify({ ...alert, id: 'compared', referencePrice: '1' }));

  const orders = relay.paper.control.state().orders.filter(({ clientOrderId }) => clientOrderId !== '');
  const [plain, compared] = orders.map(
    ({ orderId: _id, clientOrderId: _name, fee: _fee, filledNotional: _notional, ...terms }) => terms,
  );
  expect(compared).toEqual(plain);
  expect(entry).toMatchObject({ status: 'placed', signal: { referencePrice: '1' } });
});
