import { describe, expect, test } from '@jest/globals';
import { conditionalOrders } from '../../lib/exchange/endpoints/conditional-orders.ts';
import { mainBalance } from '../../lib/exchange/endpoints/main-balance.ts';
import { stopLimit } from '../../lib/exchange/endpoints/stop-limit.ts';
import { readResponse, type Verdict } from '../../lib/exchange/response.ts';
import { placed } from './scripted-exchange.ts';

const accepted = {
  order_id: 4_180_284_841,
  client_order_id: 'main-7f3a',
  market: 'BTC_USDT',
  side: 'buy',
  type: 'stop limit',
  timestamp: 1_594_605_801.49815,
  deal_money: '0',
  deal_stock: '0',
  amount: '0.001',
  left: '0.001',
  deal_fee: '0',
  price: '40000',
  activation_price: '39900.5',
  status: 'NEW',
  stp: 'no',
  positionSide: 'LONG',
};

function judge(status: number, body: string): Verdict<unknown> {
  return readResponse(stopLimit, 'documented', { kind: 'answered', status, body }, []);
}

function judgeOrder(changes: Record<string, unknown>): Verdict<unknown> {
  return judge(200, JSON.stringify({ ...accepted, ...changes }));
}

test('an accepted order stays accepted when a flag that is only shown cannot be read', () => {
  const content = {
    ...JSON.parse(placed.kind === 'answered' ? placed.body : '{}'),
    ioc: 'no',
    rpi: '',
    postOnly: null,
  };
  const response = { kind: 'answered', status: 200, body: JSON.stringify(content) } as const;

  expect(readResponse(stopLimit, 'live', response, [])).toMatchObject({
    kind: 'accepted',
    result: { orderId: 7 },
  });
});

describe('an acceptance', () => {
  test.each([200, 201])('is HTTP %i with every required field', (status) => {
    expect(judge(status, JSON.stringify(accepted))).toMatchObject({
      kind: 'accepted',
      result: { orderId: 4_180_284_841, status: 'open', type: 'stop_limit' },
    });
  });

  test('may have unknown fields, and may omit or leave empty those that do not apply', () => {
    const verdict = judgeOrder({
      novelty: { deep: [1] },
      activation_price: null,
      stp: null,
      positionSide: null,
      oto: null,
    });

    expect(verdict).toMatchObject({ kind: 'accepted', result: { clientOrderId: 'main-7f3a' } });
  });

  test.each([
    ['order_id', { order_id: undefined }, 'order_id: Invalid input: expected number, received undefined'],
    ['order_id above zero', { order_id: 0 }, 'order_id: Too small'],
    ['order_id above zero', { order_id: -5 }, 'order_id: Too small'],
    ['order_id below 2^53', { order_id: 2 ** 53 }, 'order_id: '],
    ['client_order_id', { client_order_id: 7 }, 'client_order_id: Invalid input'],
    ['deal_fee', { deal_fee: 0 }, 'deal_fee: Invalid input: expected string, received number'],
    ['a price', { price: 'cheap' }, 'price: must be a decimal number as text'],
    ['activation_price', { activation_price: 'x' }, 'activation_price: must be a decimal number as text'],
    ['a status', { status: 'PENDING' }, 'status: is a status this relay does not know'],
    ['an id beyond 53 bits', { order_id: 1e300 }, 'order_id: '],
    ['a time', { timestamp: '1594605801' }, 'timestamp: '],
    ['an exit', { oto: { otoId: 1, stopLoss: 'x' } }, 'oto.stopLoss: must be a decimal'],
  ])('without a valid %s is ambiguous, and the reason has the wire name', (_, changes, text) => {
    expect(judgeOrder(changes)).toMatchObject({
      kind: 'ambiguous',
      reason: expect.stringContaining(`HTTP 200, but the body is incomplete: ${text}`),
    });
  });

  test.each([[{ client_order_id: undefined }], [{ client_order_id: null }], [{ client_order_id: '' }]])(
    'without a client order id is one, whose id is empty: %j',
    (changes) => {
      expect(judgeOrder(changes)).toMatchObject({ kind: 'accepted', result: { clientOrderId: '' } });
    },
  );

  test('in the other dialect is ambiguous', () => {
    const { order_id: orderId, client_order_id: clientOrderId, ...rest } = accepted;
    const body = JSON.stringify({ ...rest, orderId, clientOrderId });

    expect(judge(200, body)).toMatchObject({ reason: expect.stringContaining('order_id') });
  });

  test('names a field deep within what it reports', () => {
    const body = JSON.stringify({ ...accepted, oto: { otoId: 1, stopLoss: 7 } });

    expect(judge(200, body)).toMatchObject({
      reason: expect.stringContaining('oto.stopLoss: Invalid input'),
    });
  });

  test('names the field of a record that it leaves out of a list, and an unknown kind of record', () => {
    const leg = { ...accepted, deal_money: undefined };
    const records = [
      { id: 1, type: 'trailing' },
      { id: 2, type: 'oto', conditionalOrder: leg },
    ];
    const body = JSON.stringify({ limit: 50, offset: 0, total: 2, records });

    const response = { kind: 'answered', status: 200, body } as const;

    expect(readResponse(conditionalOrders, 'documented', response, [])).toMatchObject({
      result: {
        records: [],
        oddities: [
          { market: null, issues: expect.stringContaining('type') },
          {
            market: 'BTC_USDT',
            issues: expect.stringContaining('conditionalOrder.dealMoney: Invalid input'),
          },
        ],
      },
    });
  });
});

describe('a hostile response', () => {
  test('cannot change a prototype', () => {
    const body =
      '{"__proto__":{"mainBalance":"1"},"constructor":{"main_balance":"2"},"BTC":{"main_balance":"3"}}';

    const verdict = readResponse(mainBalance, 'live', { kind: 'answered', status: 200, body }, []);

    if (verdict.kind !== 'accepted') throw new Error('the balance was not read');
    expect(Object.keys(verdict.result)).toEqual(['constructor', 'BTC']);
    expect(Object.getPrototypeOf(verdict.result)).toBe(Object.prototype);
  });

  test('that nests too deeply is ambiguous', () => {
    const body = `{"extra":${'['.repeat(100_000)}${']'.repeat(100_000)}}`;

    expect(judge(200, body)).toEqual({ kind: 'ambiguous', reason: 'HTTP 200, but the body cannot be read' });
  });

  test('with a number that is too large is ambiguous', () => {
    const body = JSON.stringify(accepted).replace('1594605801.49815', '1e999');

    expect(judge(200, body)).toMatchObject({
      kind: 'ambiguous',
      reason: expect.stringContaining('timestamp'),
    });
  });
});
