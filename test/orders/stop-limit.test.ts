import { expect, test } from '@jest/globals';
import { parseDecimal } from '../../lib/base/decimal.ts';
import { createExchangeClient } from '../../lib/exchange/client.ts';
import { describeOrder } from '../../lib/orders/order-kinds.ts';
import { prepareOrder } from '../../lib/orders/order-types.ts';
import { createScriptedTransport } from '../support/scripted-transport.ts';

test('a stop-limit order becomes a request of its endpoint', () => {
  const client = createExchangeClient({
    address: 'https://exchange.test',
    dialect: 'documented',
    credentials: { apiKey: 'key-1', apiSecret: 'secret-1' },
    transport: createScriptedTransport([]),
  });

  const { method, path, fields } = prepareOrder(client, {
    type: 'stop_limit',
    market: 'BTC_USDT',
    side: 'sell',
    amount: parseDecimal('0.5'),
    price: parseDecimal('39000'),
    activationPrice: parseDecimal('39100'),
    clientOrderId: 'main-1',
  });

  expect({ method, path, fields }).toEqual({
    method: 'POST',
    path: '/api/v4/order/collateral/stop-limit',
    fields: {
      market: 'BTC_USDT',
      side: 'sell',
      amount: '0.5',
      price: '39000',
      activation_price: '39100',
      client_order_id: 'main-1',
    },
  });
});

test('a stop-limit order is described with both of its prices', () => {
  const order = {
    type: 'stop_limit',
    market: 'BTC_USDT',
    side: 'sell',
    amount: parseDecimal('0.5'),
    price: parseDecimal('39000'),
    activationPrice: parseDecimal('39100'),
    clientOrderId: 'main-1',
  } as const;

  expect(describeOrder(order)).toBe('sell 0.5 BTC_USDT at stop 39100, limit 39000');
});
