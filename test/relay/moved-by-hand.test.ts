import { afterEach, beforeEach, expect, test } from '@jest/globals';
import * as z from 'zod/mini';
import { defineEndpoint } from '../../lib/exchange/endpoint.ts';
import { OrderField } from '../../lib/exchange/fields.ts';
import { listOpenOrders } from '../../lib/exchange/list-open-orders.ts';
import { type KeptRelay, openKeptRelay } from '../support/kept-relay.ts';

/** An order of the relay that the owner changes at the exchange: it has another id then, and the same client order id. */
let relay: KeptRelay;
beforeEach(async () => {
  relay = await openKeptRelay();
});
afterEach(() => relay.close());

/** The relay itself never sends it. */
const modifyOrder = defineEndpoint({
  name: 'modify-order',
  method: 'POST',
  path: { documented: '/api/v4/order/modify', live: '/api/v4/order/modify' },
  access: 'private',
  availability: 'documented',
  repeatable: false,
  requestsPer10s: 10_000,
  params: z.strictObject({
    market: z.string(),
    orderId: z.int(),
    price: z.string(),
    activation_price: z.string(),
  }),
  result: OrderField,
  fields: { live: { activationPrice: 'activation_price' } },
  source: {
    url: 'https://docs.whitebit.com/api-reference/spot-trading/modify-order',
    readOn: '2026-11-26',
  },
});

test('A stop-loss that the owner moves stays where he has moved it, until a close ends it', async () => {
  const maxSlippage = '0.5%';
  await relay.say({ action: 'buy', orderType: 'market', quantity: '0.1', maxSlippage, stopLoss: '48000' });
  await relay.goOn(30);
  await relay.say({ action: 'close', quantityPercent: '50%', maxSlippage });
  const client = await relay.services.exchangeFor('main');
  const { orders } = await listOpenOrders(client, 'BTC_USDT', {});
  const orderId = orders[0]?.orderId ?? 0;
  await client.call(modifyOrder, {
    market: 'BTC_USDT',
    orderId,
    price: '46530',
    activation_price: '47000',
  });
  await relay.goOn(150);

  expect(await relay.open()).toEqual(['sell 0.05 stop 47000, reduces']);
  await relay.say({ action: 'close', maxSlippage });
  await relay.goOn(30);
  expect([await relay.held(), await relay.open()]).toEqual(['flat', []]);
  expect(relay.alarmNames()).toEqual([]);
});
