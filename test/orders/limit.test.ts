import { describe, expect, test } from '@jest/globals';
import { parseDecimal } from '../../lib/base/decimal.ts';
import { createExchangeClient } from '../../lib/exchange/client.ts';
import { checkDialect, checkOrder } from '../../lib/limits/check-order.ts';
import type { LimitSignal } from '../../lib/model/signal.ts';
import { describeOrder, kindNamed } from '../../lib/orders/order-kinds.ts';
import { prepareOrder } from '../../lib/orders/order-types.ts';
import { account, buy, size } from '../signals/sized.ts';
import { createScriptedTransport } from '../support/scripted-transport.ts';

const { stopPrice: _, ...common } = buy;
const limitBuy: LimitSignal = { ...common, orderType: 'limit', limitPrice: '50100.4' };
const limitSell: LimitSignal = { ...limitBuy, side: 'sell', limitPrice: '49900.1' };

const order = {
  type: 'limit',
  market: 'BTC_USDT',
  side: 'sell',
  amount: parseDecimal('0.5'),
  price: parseDecimal('39000'),
  clientOrderId: 'main-1',
} as const;

const sized = { order, baseAmount: order.amount, notional: parseDecimal('19500') };

describe('a limit order', () => {
  test('is sized and rounded as a stop-limit order is', () => {
    expect(size(limitBuy)).toEqual({
      ok: true,
      order: {
        type: 'limit',
        market: 'BTC_PERP',
        side: 'buy',
        amount: '0.01',
        price: '50100',
        clientOrderId: 'tr-1',
      },
    });
    expect(size({ ...limitSell, stopLoss: '51000.9', takeProfit: '48000.1' })).toMatchObject({
      order: { price: '49900.5', stopLoss: '51000.5', takeProfit: '48000.5' },
    });
  });

  test('sized in the quote currency is divided by the rounded limit price', () => {
    expect(size({ ...limitBuy, size: { unit: 'quote', quoteQuantity: '1000' } })).toMatchObject({
      order: { amount: '0.019', price: '50100' },
    });
  });

  test('is checked against the limits of its market', () => {
    expect(size({ ...limitBuy, limitPrice: '0.1' })).toMatchObject({
      denial: { rule: 'price_rounds_to_zero' },
    });
    expect(size({ ...limitBuy, size: { unit: 'base', quantity: '10' } })).toMatchObject({
      denial: { rule: 'max_total' },
    });
  });

  test('is checked against the largest amount and notional of its account', () => {
    const limits = {
      tradesOn: 'margin',
      sides: ['buy', 'sell'],
      maxAmount: null,
      maxNotional: parseDecimal('19499'),
    } as const;

    expect(checkOrder(sized, { ...account, markets: { BTC_USDT: limits } })).toMatchObject({
      rule: 'max_notional',
      actual: '19500',
    });
  });

  test('has no limit distance: the relay knows no price to compare with', () => {
    const limits = {
      tradesOn: 'margin',
      sides: ['buy', 'sell'],
      maxAmount: null,
      maxNotional: null,
    } as const;
    const collared = {
      ...account,
      maxLimitDistanceRate: parseDecimal('0.001'),
      markets: { BTC_USDT: limits },
    };

    expect(checkOrder(sized, collared)).toBeNull();
  });

  test('becomes a request of its endpoint', () => {
    const client = createExchangeClient({
      address: 'https://exchange.test',
      dialect: 'live',
      credentials: { apiKey: 'key-1', apiSecret: 'secret-1' },
      transport: createScriptedTransport([]),
    });

    const { method, path, fields } = prepareOrder(client, order);

    expect({ method, path, fields }).toEqual({
      method: 'POST',
      path: '/api/v4/order/collateral/limit',
      fields: {
        market: 'BTC_USDT',
        side: 'sell',
        amount: '0.5',
        price: '39000',
        clientOrderId: 'main-1',
      },
    });
  });

  test('exists only in the live dialect', () => {
    expect(checkDialect('limit', 'margin', 'live')).toBeNull();
    expect(checkDialect('limit', 'margin', 'documented')).toEqual({
      rule: 'order_type_not_in_dialect',
      limit: 'stop_limit',
      actual: 'limit',
      message:
        'the dialect "documented" has stop_limit on margin and futures, and no limit order; send an order type that it has, or set the exchange\'s dialect in relay.config.ts to "live" if that is what the exchange speaks',
    });
  });

  test('is described in words', () => {
    const kind = kindNamed('limit');

    expect(kind.summarise(limitBuy)).toBe('limit 50100.4');
    expect(kind.describePrices(limitBuy)).toEqual(['limit 50100.4']);
    expect(describeOrder(order)).toBe('sell 0.5 BTC_USDT at limit 39000');
  });
});
