import { describe, expect, test } from '@jest/globals';
import { parseDecimal } from '../../lib/base/decimal.ts';
import type { WireOutcome } from '../../lib/base/wire.ts';
import { conditionalOrders } from '../../lib/exchange/endpoints/conditional-orders.ts';
import { endedOrder } from '../../lib/exchange/endpoints/ended-order.ts';
import { executedHistory } from '../../lib/exchange/endpoints/executed-history.ts';
import { openOrder } from '../../lib/exchange/endpoints/open-order.ts';
import { openPositions } from '../../lib/exchange/endpoints/open-positions.ts';
import { orderDeals } from '../../lib/exchange/endpoints/order-deals.ts';
import { findOrder } from '../../lib/exchange/find-order.ts';
import { listAccountDeals, readListedOrder } from '../../lib/exchange/list-account.ts';
import { listGroups } from '../../lib/exchange/list-groups.ts';
import { listOpenOrders } from '../../lib/exchange/list-open-orders.ts';
import { listPositionsIn } from '../../lib/exchange/list-positions.ts';
import { connect, failureOf } from './scripted-exchange.ts';

const answer = (body: unknown): WireOutcome => ({
  kind: 'answered',
  status: 200,
  body: JSON.stringify(body),
});
const clientFor = (...bodies: readonly unknown[]) => connect(bodies.map(answer)).client;
const market = 'BTC_USDT';
const options = { timeoutMs: 1_000 };

const fields = {
  clientOrderId: 'tr-1',
  side: 'buy',
  type: 'margin limit',
  dealMoney: '0',
  dealStock: '0',
  dealFee: '0',
  amount: '0.01',
  price: '50200',
};
const open = (orderId: number, changes: object = {}) => ({
  ...fields,
  orderId,
  market,
  timestamp: 1_594_297_865.5,
  left: '0.01',
  status: 'OPEN',
  ...changes,
});
const ended = (id: number, changes: object = {}) => ({
  ...fields,
  id,
  ctime: 1_594_297_865.5,
  ftime: 1_594_297_866.5,
  status: 'CANCELED',
  ...changes,
});
const deal = (id: number, changes: object = {}) => ({
  id,
  time: 1_594_297_866.5,
  role: 1,
  side: 'buy',
  orderId: 7,
  amount: '0.01',
  price: '50200',
  deal: '502',
  fee: '0.5',
  feeAsset: 'USDT',
  ...changes,
});
const position = (positionId: number, changes: object = {}) => ({
  positionId,
  market,
  amount: '0.01',
  basePrice: '50000',
  positionSide: 'BOTH',
  ...changes,
});

describe('the list of ended orders', () => {
  const readEnded = async (...records: readonly object[]) =>
    await clientFor({ [market]: records }).call(endedOrder, { market });

  test.each([
    'CANCELED_POSITION_SIDE_NOT_MATCH',
    'MAINTENANCE',
    'AUTO_CANCELED_MARGIN_EXCHANGE_BALANCE',
    'PARTIALLY_FILLED',
  ])('ends an order with the documented word %s as its reason', async (status) => {
    expect(await readEnded(ended(7, { status, dealStock: '0.004' }))).toMatchObject({
      records: [{ orderId: 7, status: 'cancelled', endReason: status }],
      oddities: [],
    });
  });

  test.each([['EXPIRED_BY_BROKER'], ['OPEN'], ['NEW']])(
    'ends an order with a word that is not known there, and tells the word: %s',
    async (status) => {
      expect(await readEnded(ended(7, { status }), ended(6))).toMatchObject({
        records: [{ orderId: 7, status: 'cancelled', endReason: status }, { orderId: 6 }],
        count: 2,
        oddities: [{ kind: 'word', market, field: 'status', word: status }],
      });
    },
  );

  test.each<[string, object, string]>([
    ['in base units', { dealStock: '0.01', dealMoney: '502' }, 'filled'],
    ['in base units, in part', { dealStock: '0.009', dealMoney: '452' }, 'cancelled'],
    ['in quote units', { type: 'market', amount: '5', dealStock: '10', dealMoney: '5' }, 'filled'],
    [
      'in quote units, in part',
      { type: 'market', amount: '5', dealStock: '10', dealMoney: '4' },
      'cancelled',
    ],
  ])('takes an order that filled wholly for filled, whatever its word: %s', async (_, changes, status) => {
    expect(await readEnded(ended(7, { status: 'DONE', ...changes }))).toMatchObject({
      records: [{ status, endReason: 'DONE' }],
    });
  });

  test.each<[string, unknown, string]>([
    ['long', 'W'.repeat(5_000), 'W'.repeat(64)],
    ['with control characters', 'A\nB', 'A B'],
    ['null', null, 'null'],
    ['a number', 7, '7'],
    ['missing', undefined, 'undefined'],
  ])('keeps a word that is %s in bounds', async (_, status, kept) => {
    expect(await readEnded(ended(7, { status }))).toMatchObject({
      records: [{ status: 'cancelled', endReason: kept }],
      oddities: [{ word: kept }],
    });
  });

  test.each<[string, object]>([
    ['no id', { id: undefined }],
    ['no amount', { amount: null }],
    ['no side that is known', { side: 'both' }],
  ])('leaves out a record with %s, tells it, and reads the others', async (_, changes) => {
    expect(await readEnded(ended(8), ended(7, changes), ended(6))).toMatchObject({
      records: [{ orderId: 8 }, { orderId: 6 }],
      count: 3,
      oddities: [{ kind: 'record', market, issues: expect.stringContaining(Object.keys(changes)[0] ?? '') }],
    });
  });

  test('leaves out a market whose orders are no list', async () => {
    const page = await clientFor({ ETH_USDT: 'none', [market]: [ended(7)] }).call(endedOrder, {});

    expect(page).toMatchObject({
      records: [{ orderId: 7, market }],
      oddities: [{ kind: 'record', market: 'ETH_USDT' }],
    });
  });

  test.each([[[]], [{}]])('may be empty: %j', async (body) => {
    expect(await clientFor(body).call(endedOrder, {})).toEqual({ records: [], count: 0, oddities: [] });
  });

  test('that is no list at all cannot be read', async () => {
    const error = await failureOf(clientFor('none', 'none', 'none').call(endedOrder, {}, { timeoutMs: 1 }));

    expect(error.attempts[0].failure.kind).toBe('ambiguous');
  });
});

describe('the list of open orders', () => {
  test.each([
    ['0', 'open'],
    ['0.004', 'partially_filled'],
  ])('keeps an order open whose word is not known; filled: %s', async (dealStock, status) => {
    const page = await clientFor([open(7, { status: 'SUSPENDED', dealStock })]).call(openOrder, { market });

    expect(page).toMatchObject({
      records: [{ orderId: 7, status, unknownStatus: 'SUSPENDED' }],
      oddities: [{ kind: 'word', market, field: 'status', word: 'SUSPENDED' }],
    });
  });

  test('is not whole with a record that cannot be read', async () => {
    const listed = await listOpenOrders(clientFor([open(7), open(6, { orderId: null })]), null, options);

    expect(listed).toMatchObject({ orders: [{ orderId: 7 }], isWhole: false, hidden: [market] });
  });

  test('counts records that it leaves out, so that a full page has a next one', async () => {
    const page = Array.from({ length: 100 }, (_, index) => open(index + 1));
    const client = clientFor([...page.slice(0, 99), 'no order'], [open(900)]);

    const { orders, isWhole, hidden } = await listOpenOrders(client, market, options);

    expect([orders.length, isWhole, hidden]).toEqual([100, false, [null]]);
  });
});

describe('the list of conditional orders', () => {
  const leg = (orderId: number, changes: object = {}) => open(orderId, { clientOrderId: '', ...changes });
  const pair = (id: number, changes: object = {}) => ({
    id,
    type: 'oco',
    stopLoss: leg(id + 1),
    takeProfit: leg(id + 2),
    ...changes,
  });
  const page = (...records: readonly unknown[]) => ({
    limit: 100,
    offset: 0,
    total: records.length,
    records,
  });

  test.each<[string, object]>([
    ['of a kind that is not known', { type: 'otoco' }],
    ['without a leg', { stopLoss: null }],
    ['without an id', { id: undefined }],
  ])('is read beside a record %s, and is not whole', async (_, changes) => {
    const listed = await listGroups(clientFor(page(pair(20), pair(10, changes))), market, options);

    expect(listed).toMatchObject({ groups: [{ kind: 'oco', id: 20 }], isWhole: false });
  });

  test('keeps a leg open whose word is not known', async () => {
    const listed = page(pair(10, { stopLoss: leg(11, { status: 'ARMED' }) }));

    expect(await clientFor(listed).call(conditionalOrders, { market })).toMatchObject({
      records: [{ stopLoss: { orderId: 11, status: 'open', unknownStatus: 'ARMED' } }],
      oddities: [{ kind: 'word', market, field: 'status', word: 'ARMED' }],
    });
  });
});

describe('the lists of fills', () => {
  test('read a fill whose role is not known', async () => {
    const client = clientFor([deal(1, { role: 3 })], { records: [deal(1, { role: 'rfq' })] });

    expect(await client.call(executedHistory, { market })).toMatchObject({
      records: [{ id: 1, role: '3' }],
      oddities: [{ kind: 'word', field: 'role', word: '3' }],
    });
    expect(await client.call(orderDeals, { orderId: 7 })).toMatchObject({
      records: [{ id: 1, role: '"rfq"' }],
      oddities: [{ field: 'role' }],
    });
  });

  test('read the fills beside one that cannot be read', async () => {
    const client = clientFor({ [market]: [deal(2, { amount: 'much' }), deal(1)] });

    expect(await listAccountDeals(client, 1_000, options)).toMatchObject([{ id: 1, market }]);
  });
});

describe('the list of positions', () => {
  test('tells the attached exits by their ids', async () => {
    const tpsl = { takeProfitId: 11, takeProfit: '60000', stopLossId: 12, stopLoss: '45000.5' };
    const { records } = await clientFor([
      position(1, { tpsl }),
      position(2, { tpsl: null }),
      position(3),
      position(4, { tpsl: { stopLossId: 12, stopLoss: '', takeProfitId: 'none' } }),
      position(5, { tpsl: 'attached' }),
    ]).call(openPositions, {});

    const nothing = { takeProfitId: null, takeProfit: null, stopLossId: null, stopLoss: null };
    expect(records.map((each) => each.tpsl)).toEqual([
      {
        takeProfitId: 11,
        takeProfit: parseDecimal('60000'),
        stopLossId: 12,
        stopLoss: parseDecimal('45000.5'),
      },
      null,
      null,
      { ...nothing, stopLossId: 12 },
      nothing,
    ]);
  });

  test('reads a state that is not known, and tells it', async () => {
    const page = await clientFor([position(1, { liquidationState: 'insured' })]).call(openPositions, {});

    expect(page).toMatchObject({
      records: [{ liquidationState: 'insured' }],
      oddities: [{ kind: 'word', market, field: 'liquidationState', word: 'insured' }],
    });
  });

  test('does not know the position of a market with a record that cannot be read', async () => {
    const odd = [position(1, { market: 'ETH_USDT' }), position(2, { positionSide: 'NET' })];

    const error = await failureOf(listPositionsIn(clientFor(odd), market, 5, options));
    expect(error.message).toContain('a position in BTC_USDT cannot be read');
    expect(await listPositionsIn(clientFor(odd), 'ETH_USDT', 5, options)).toMatchObject([{ positionId: 1 }]);
  });

  test('knows no position while a record does not say its market', async () => {
    await failureOf(listPositionsIn(clientFor([position(1), { positionId: 2 }]), market, 5, options));
  });
});

describe('an order that is looked for', () => {
  const name = { market, clientOrderId: 'tr-1' };
  const unreadable = [{ nothing: true }];

  test.each<[string, readonly unknown[]]>([
    ['open orders', [unreadable, {}, []]],
    ['ended orders', [[], { [market]: unreadable }, []]],
    ['fills', [[], {}, unreadable]],
  ])('is not taken for absent while a record of the %s cannot be read', async (_, bodies) => {
    expect(await findOrder(clientFor(...bodies), name, options)).toEqual({ kind: 'not_listed' });
  });

  test('has ended in the list of ended orders, whatever its word', async () => {
    const bodies = [[], { [market]: [ended(7, { status: 'PARTIALLY_FILLED', dealStock: '0.004' })] }];

    expect(await findOrder(clientFor(...bodies), name, options)).toMatchObject({
      kind: 'found',
      isOpen: false,
      order: { orderId: 7, status: 'cancelled', endReason: 'PARTIALLY_FILLED' },
    });
  });

  test.each<[string, readonly unknown[], boolean]>([
    ['whole', [[], {}, { records: [] }], true],
    ['without an open order', [unreadable, {}, { records: [] }], false],
    ['without an ended order', [[], { [market]: unreadable }, { records: [] }], false],
    ['without a fill', [[], {}, { records: unreadable }], false],
  ])('alone gets an answer that is %s', async (_, bodies, isWhole) => {
    const listed = await readListedOrder(clientFor(...bodies), { market, orderId: 7 }, options);

    expect(listed).toEqual({ open: null, ended: null, deals: [], isWhole });
  });
});
