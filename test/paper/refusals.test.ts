import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type PaperExchange, startPaperExchange } from '../../lib/paper/server/server.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { createPost, type Post, refusal } from './paper-client.ts';

let paper: PaperExchange;
let post: Post;

beforeAll(async () => {
  const clock = createManualClock(1_790_000_000_000);
  paper = await startPaperExchange({ port: 0, dialect: 'live', clock, walk: false });
  post = createPost(paper.url);
});

afterAll(() => paper.close());

const createPath = '/api/v4/order/collateral/stop-limit';
const order = {
  market: 'BTC_USDT',
  side: 'buy',
  amount: '0.01',
  price: '61500',
  activation_price: '61000',
};

describe('a stop-limit order is refused', () => {
  test('with every missing field at once', async () => {
    expect(await post(createPath, { market: '', side: null })).toEqual({
      status: 422,
      body: {
        code: 30,
        message: 'Validation failed',
        errors: {
          market: ['Market field is required.'],
          side: ['Side field is required.'],
          amount: ['Amount field is required.'],
          price: ['Price field is required.'],
          activation_price: ['Activation price field is required.'],
        },
      },
    });
  });

  test.each<[string, Record<string, unknown>, number, string, string]>([
    ['an unknown market', { market: 'XYZ_USDT' }, 31, 'market', 'Market is not available.'],
    ['a market that is no text', { market: 7 }, 31, 'market', 'Market is not available.'],
    ['a wrong side', { side: 'long' }, 30, 'side', "Side field should contain only 'buy' or 'sell' values."],
    [
      'an amount that is no number',
      { amount: 'much' },
      32,
      'amount',
      'Amount field should be numeric string or number.',
    ],
    ['an amount of nothing', { amount: '0' }, 32, 'amount', 'Amount should be greater than 0.'],
    ['an amount below nothing', { amount: -1 }, 32, 'amount', 'Amount should be greater than 0.'],
    ['an amount between two steps', { amount: '0.0100001' }, 32, 'amount', 'Min amount step = 0.000001'],
    [
      'an amount below the least',
      { amount: '0.000009' },
      32,
      'amount',
      'Given amount is less than min amount 0.00001',
    ],
    ['more than the balance', { amount: '100' }, 17, 'amount', 'Not enough balance.'],
    [
      'a price that is no number',
      { price: true },
      33,
      'price',
      'Price field should be numeric string or number.',
    ],
    ['a price of nothing', { price: '0' }, 33, 'price', 'Price should be greater than 0.'],
    ['a price between two steps', { price: '61500.001' }, 33, 'price', 'Min price step = 0.01'],
    [
      'an activation price that is no text',
      { activation_price: 61000 },
      30,
      'activation_price',
      'Activation price should be numeric string.',
    ],
    [
      'an activation price below nothing',
      { activation_price: '-1' },
      30,
      'activationPrice',
      'Activation price should be greater than 0.',
    ],
    [
      'an activation price between two steps',
      { activation_price: '61000.005' },
      30,
      'activationPrice',
      'Min activation price step = 0.01',
    ],
    [
      'an activation at the last price',
      { activation_price: '60000.00' },
      30,
      'activationPrice',
      'Activation price should not be equal to the last price',
    ],
    ['too small a total', { amount: '0.00008' }, 30, 'total', 'Total(amount * price) is less than 5.05'],
    [
      'too big a total',
      { amount: '1000', price: '61500' },
      30,
      'total',
      'Total(amount * price) is more than 10000000',
    ],
    [
      'a client order id that is no text',
      { clientOrderId: 7 },
      36,
      'clientOrderId',
      'ClientOrderId field should be a string.',
    ],
    [
      'a client order id with strange characters',
      { clientOrderId: 'ö#1' },
      36,
      'clientOrderId',
      'ClientOrderId field should contain only latin letters, numbers and dashes.',
    ],
    [
      'a client order id of 65 characters',
      { clientOrderId: 'a'.repeat(65) },
      36,
      'clientOrderId',
      'ClientOrderId field should not be longer than 64.',
    ],
    [
      'a stop-loss that is no number',
      { stopLoss: 'low' },
      30,
      'stopLoss',
      'StopLoss field should be numeric string or number.',
    ],
    ['a stop-loss of nothing', { stopLoss: '0' }, 30, 'stopLoss', 'StopLoss should be greater than 0.'],
    [
      'a take-profit between steps',
      { takeProfit: '65000.001' },
      30,
      'takeProfit',
      'Min takeProfit step = 0.01',
    ],
    [
      "a buy's stop-loss above its price",
      { stopLoss: '61500.01' },
      106,
      'stopLoss',
      'Stop loss price is on the wrong side of 61500',
    ],
    [
      "a buy's stop-loss at its price",
      { stopLoss: '61500' },
      106,
      'stopLoss',
      'Stop loss price is on the wrong side of 61500',
    ],
    [
      "a buy's take-profit at its price",
      { takeProfit: '61500' },
      105,
      'takeProfit',
      'Take profit price is on the wrong side of 61500',
    ],
    [
      "a sale's stop-loss below its price",
      { side: 'sell', stopLoss: '60000' },
      106,
      'stopLoss',
      'Stop loss price is on the wrong side of 61500',
    ],
    [
      "a sale's take-profit above its price",
      { side: 'sell', takeProfit: '62000' },
      105,
      'takeProfit',
      'Take profit price is on the wrong side of 61500',
    ],
    [
      'a position side outside hedge mode',
      { positionSide: 'LONG' },
      114,
      'hedgeMode',
      "Order's position side does not match user's setting",
    ],
    [
      'an unknown position side',
      { positionSide: 'UP' },
      30,
      'positionSide',
      "PositionSide field should contain only 'LONG', 'SHORT' or 'BOTH' values.",
    ],
    [
      'an unknown self trade prevention',
      { stp: 'all' },
      30,
      'stp',
      "Stp field should contain only 'no', 'cb', 'cn' or 'co' values.",
    ],
  ])('for %s', async (_, fields, code, key, text) => {
    expect(await post(createPath, { ...order, ...fields })).toEqual(refusal(key, text, code));
    expect(paper.control.state().acceptedCreates).toBe(0);
  });
});

describe('a stop-limit order is accepted', () => {
  test('with amounts and prices as JSON numbers, and a client order id of maximum length', async () => {
    const clientOrderId = `${'a'.repeat(60)}._-Z`;

    const created = await post(createPath, { ...order, amount: 0.01, price: 61500, clientOrderId });
    const again = await post(createPath, { ...order, clientOrderId });
    await post('/api/v4/order/cancel', { market: 'BTC_USDT', clientOrderId });

    expect(created).toMatchObject({ status: 200, body: { amount: '0.01', price: '61500', clientOrderId } });
    expect(again).toEqual(
      refusal('clientOrderId', 'This client order id is already used by the current account.', 36),
    );
  });
});

describe('a cancellation is refused', () => {
  test.each<[string, Record<string, unknown>, string, string]>([
    ['without a market', { orderId: 1 }, 'market', 'Market field is required.'],
    ['without any id', { market: 'BTC_USDT' }, 'orderId', 'OrderId field is required.'],
    [
      'with the documented name',
      { market: 'BTC_USDT', order_id: 1 },
      'orderId',
      'OrderId field is required.',
    ],
    [
      'with an id that is no integer',
      { market: 'BTC_USDT', orderId: '1' },
      'orderId',
      'OrderId field should be an integer.',
    ],
    [
      'with both ids',
      { market: 'BTC_USDT', orderId: 1, clientOrderId: 'x' },
      'orderId',
      'Only one of OrderId and ClientOrderId should be set.',
    ],
  ])('%s', async (_, fields, key, text) => {
    expect(await post('/api/v4/order/cancel', fields)).toEqual(refusal(key, text));
  });

  test.each<[string, Record<string, unknown>]>([
    ['an unknown order id', { orderId: 1 }],
    ['an unknown client order id', { clientOrderId: 'nobody' }],
  ])('for %s', async (_, fields) => {
    expect(await post('/api/v4/order/cancel', { market: 'BTC_USDT', ...fields })).toEqual({
      status: 400,
      body: {
        code: 2,
        message: 'Inner validation failed',
        errors: { orderId: ['Unexecuted order was not found.'] },
      },
    });
  });

  test('for an invalid client order id', async () => {
    expect(await post('/api/v4/order/cancel', { market: 'BTC_USDT', clientOrderId: '?' })).toEqual(
      refusal(
        'clientOrderId',
        'ClientOrderId field should contain only latin letters, numbers and dashes.',
        36,
      ),
    );
  });
});

describe('a query is refused', () => {
  test.each<[Record<string, unknown>, string, string]>([
    [{ limit: 101 }, 'limit', 'Limit should not be greater than 100.'],
    [{ limit: 0 }, 'limit', 'Limit should be at least 1.'],
    [{ limit: 1.5 }, 'limit', 'Limit field should be an integer.'],
    [{ offset: -1 }, 'offset', 'Offset should be at least 0.'],
    [{ offset: '1' }, 'offset', 'Offset field should be an integer.'],
  ])('for conditional orders with %j', async (fields, key, text) => {
    expect(await post('/api/v4/conditional-orders', fields)).toEqual(refusal(key, text));
  });

  test('for conditional orders of an unknown market', async () => {
    expect(await post('/api/v4/conditional-orders', { market: 'XYZ_USDT' })).toEqual(
      refusal('market', 'Market is not available.', 31),
    );
  });

  test.each<[Record<string, unknown>, string, string]>([
    [{ limit: 101 }, 'limit', 'The limit may not be greater than 100.'],
    [{ limit: 0 }, 'limit', 'The limit must be at least 1.'],
    [{ limit: 'ten' }, 'limit', 'The limit must be an integer.'],
    [{ offset: -1 }, 'offset', 'The offset must be at least 0.'],
    [{ offset: 10001 }, 'offset', 'The offset may not be greater than 10000.'],
    [{ offset: 0.5 }, 'offset', 'The offset must be an integer.'],
    [{ planId: 'none' }, 'planId', 'The selected planId is invalid.'],
    [{ ticker: 'XYZ' }, 'ticker', 'The selected ticker is invalid.'],
  ])('for interest payments with %j', async (fields, key, text) => {
    expect(await post('/api/v4/main-account/smart/interest-payment-history', fields)).toEqual({
      status: 400,
      body: { code: 0, message: 'Validation failed', errors: { [key]: [text] } },
    });
  });

  test('for interest payments with an unknown plan and an unknown ticker, with both texts', async () => {
    const refused = await post('/api/v4/main-account/smart/interest-payment-history', {
      planId: 1,
      ticker: 'XYZ',
    });

    expect(refused.body).toMatchObject({
      errors: { planId: ['The selected planId is invalid.'], ticker: ['The selected ticker is invalid.'] },
    });
  });

  test('for an open order by its client order id without a market', async () => {
    expect(await post('/api/v4/orders', { clientOrderId: 'a' })).toEqual(
      refusal('market', 'Market field is required.'),
    );
  });

  test.each(['/api/v4/orders', '/api/v4/trade-account/order/history'])(
    'at %s for a client order id that is no text',
    async (path) => {
      expect(await post(path, { market: 'BTC_USDT', clientOrderId: 1 })).toEqual(
        refusal('clientOrderId', 'ClientOrderId field should be a string.', 36),
      );
    },
  );

  test.each([
    [{ limit: 101 }, 'limit', 'Limit should not be greater than 100.'],
    [{ offset: -1 }, 'offset', 'Offset should be at least 0.'],
  ])('for open orders with %j', async (page, key, text) => {
    expect(await post('/api/v4/orders', { market: 'BTC_USDT', ...page })).toEqual(refusal(key, text));
  });
});
