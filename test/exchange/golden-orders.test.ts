import { describe, expect, test } from '@jest/globals';
import { parseDecimal } from '../../lib/base/decimal.ts';
import { type OrderRequest, orderTypes } from '../../lib/model/order.ts';
import { prepareOrder } from '../../lib/orders/order-types.ts';
import { connect, sentBy } from './scripted-exchange.ts';

async function wireOf(request: OrderRequest): Promise<readonly [path: string, body: unknown]> {
  const { path, body } = await sentBy((client) => prepareOrder(client, request).send());
  return [path, JSON.parse(body ?? '')];
}

const envelope = { nonce: 1_594_297_865_500, nonceWindow: true };
const placement = { market: 'BTC_PERP', side: 'buy', clientOrderId: 'main-7f3a' } as const;
const amount = parseDecimal('0.0010');
const price = parseDecimal('4e4');
const activationPrice = parseDecimal('39900.50');

/** Every create endpoint: what the relay asks for, and the path and the fields that the exchange publishes. */
const creates: Readonly<
  Record<OrderRequest['type'], { request: OrderRequest; path: string; fields: Record<string, unknown> }>
> = {
  limit: {
    request: { type: 'limit', ...placement, amount, price },
    path: '/api/v4/order/collateral/limit',
    fields: { ...placement, amount: '0.001', price: '40000' },
  },
  market: {
    request: { type: 'market', ...placement, amount },
    path: '/api/v4/order/collateral/market',
    fields: { ...placement, amount: '0.001' },
  },
  stop_limit: {
    request: { type: 'stop_limit', ...placement, amount, price, activationPrice },
    path: '/api/v4/order/collateral/stop-limit',
    fields: { ...placement, amount: '0.001', price: '40000', activation_price: '39900.5' },
  },
  stop_market: {
    request: { type: 'stop_market', ...placement, amount, activationPrice },
    path: '/api/v4/order/collateral/trigger-market',
    fields: { ...placement, amount: '0.001', activation_price: '39900.5' },
  },
  spot_limit: {
    request: { type: 'spot_limit', ...placement, amount, price },
    path: '/api/v4/order/new',
    fields: { ...placement, amount: '0.001', price: '40000' },
  },
  spot_market: {
    request: { type: 'spot_market', ...placement, amount: parseDecimal('25.50') },
    path: '/api/v4/order/market',
    fields: { ...placement, amount: '25.5' },
  },
  spot_stock_market: {
    request: { type: 'spot_stock_market', ...placement, amount },
    path: '/api/v4/order/stock_market',
    fields: { ...placement, amount: '0.001' },
  },
  spot_stop_limit: {
    request: { type: 'spot_stop_limit', ...placement, amount, price, activationPrice },
    path: '/api/v4/order/stop_limit',
    fields: { ...placement, amount: '0.001', price: '40000', activation_price: '39900.5' },
  },
  spot_stop_market: {
    request: { type: 'spot_stop_market', ...placement, amount: parseDecimal('25.5'), activationPrice },
    path: '/api/v4/order/stop_market',
    fields: { ...placement, amount: '25.5', activation_price: '39900.5' },
  },
};

type Flags = Partial<Pick<OrderRequest, Exclude<keyof OrderRequest, 'type' | 'market'>>>;

const onLimits: readonly [Flags, Record<string, unknown>][] = [
  [{ postOnly: true }, { postOnly: true }],
  [{ postOnly: false }, { postOnly: false }],
  [{ ioc: true }, { ioc: true }],
  [{ ioc: false }, { ioc: false }],
];
const onCollateral: readonly [Flags, Record<string, unknown>][] = [
  [{ reduceOnly: true }, { reduceOnly: true }],
  [{ reduceOnly: false }, { reduceOnly: false }],
  [{ positionSide: 'LONG' }, { positionSide: 'LONG' }],
  [{ positionSide: 'SHORT' }, { positionSide: 'SHORT' }],
  [{ positionSide: 'BOTH' }, { positionSide: 'BOTH' }],
  [{ stopLoss: parseDecimal('30000.10') }, { stopLoss: '30000.1' }],
  [{ takeProfit: parseDecimal('5E4') }, { takeProfit: '50000' }],
];
const onAll: readonly [Flags, Record<string, unknown>][] = [
  [{}, {}],
  [{ side: 'sell' }, { side: 'sell' }],
  [{ amount: parseDecimal('1e-8') }, { amount: '0.00000001' }],
  [{ amount: parseDecimal('123456789.123456789') }, { amount: '123456789.123456789' }],
  [{ stp: 'no' }, { stp: 'no' }],
  [{ stp: 'cb' }, { stp: 'cb' }],
  [{ stp: 'cn' }, { stp: 'cn' }],
  [{ stp: 'co' }, { stp: 'co' }],
];

const cases = orderTypes.flatMap((type) =>
  [
    ...onAll,
    ...(type === 'limit' || type === 'spot_limit' ? onLimits : []),
    ...(type.startsWith('spot_') ? [] : onCollateral),
  ].map(([flags, wire]) => ({ type, flags, wire, name: JSON.stringify(flags) })),
);

describe('an order', () => {
  test.each(cases)('of type $type with $name is sent exactly so', async ({ type, flags, wire }) => {
    const { request, path, fields } = creates[type];

    expect(await wireOf({ ...request, ...flags })).toEqual([
      path,
      { request: path, ...envelope, ...fields, ...wire },
    ]);
  });

  test('is signed and sent as JSON without a space, a null or an exponent', async () => {
    const request = creates.limit.request;

    const { method, headers, body } = await sentBy((client) =>
      prepareOrder(client, { ...request, postOnly: undefined, stp: undefined }).send(),
    );

    expect(method).toBe('POST');
    expect(headers['Content-type']).toBe('application/json');
    expect(headers['X-TXC-PAYLOAD']).toBe(Buffer.from(body ?? '').toString('base64'));
    expect(body).toBe(
      '{"request":"/api/v4/order/collateral/limit","nonce":1594297865500,"nonceWindow":true,"market":"BTC_PERP","side":"buy","amount":"0.001","price":"40000","clientOrderId":"main-7f3a"}',
    );
  });

  /** A market order with a bound on its price goes out as a limit order that only takes. */
  test.each([
    ['limit', '/api/v4/order/collateral/limit'],
    ['spot_limit', '/api/v4/order/new'],
  ] as const)('guarded by a bound goes out as %s with ioc', async (type, path) => {
    const bound = parseDecimal('60300.00');

    expect(await wireOf({ type, ...placement, amount, price: bound, ioc: true })).toEqual([
      path,
      { request: path, ...envelope, ...placement, amount: '0.001', price: '60300', ioc: true },
    ]);
  });

  test.each([
    ['market', { price }],
    ['market', { ioc: true }],
    ['market', { activationPrice }],
    ['limit', { activationPrice }],
    ['stop_limit', { postOnly: true }],
    ['stop_market', { price }],
    ['spot_limit', { reduceOnly: true }],
    ['spot_limit', { positionSide: 'LONG' }],
    ['spot_limit', { stopLoss: price }],
    ['spot_market', { takeProfit: price }],
    ['spot_stop_limit', { ioc: true }],
    ['spot_stop_market', { reduceOnly: true }],
  ] as const)('of type %s with a field that its endpoint does not have is not sent: %j', (type, fields) => {
    const { client, transport } = connect([]);

    expect(() => prepareOrder(client, { ...creates[type].request, ...fields })).toThrow('nothing was sent');
    expect(transport.sent).toEqual([]);
  });
});
