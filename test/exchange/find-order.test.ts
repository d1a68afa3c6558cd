import { afterEach, describe, expect, test } from '@jest/globals';
import { parseDecimal } from '../../lib/base/decimal.ts';
import { toJson } from '../../lib/base/json.ts';
import type { WireOutcome } from '../../lib/base/wire.ts';
import { createExchangeClient, type ExchangeClient } from '../../lib/exchange/client.ts';
import type { Dialect } from '../../lib/exchange/dialect.ts';
import { cancelOrder } from '../../lib/exchange/endpoints/cancel-order.ts';
import { stopLimit } from '../../lib/exchange/endpoints/stop-limit.ts';
import { findOrder } from '../../lib/exchange/find-order.ts';
import { type PaperExchange, startPaperExchange } from '../../lib/paper/server/server.ts';
import { connect, failureOf, lostResponse, outage } from './scripted-exchange.ts';

const market = 'BTC_USDT';
const options = { timeoutMs: 2_000 };

describe('looking an order up at the exchange', () => {
  let paper: PaperExchange;
  let client: ExchangeClient & { close(): void };

  async function open(dialect: Dialect): Promise<void> {
    paper = await startPaperExchange({ port: 0, dialect, walk: false });
    const credentials = { apiKey: 'paper-key', apiSecret: 'paper-secret' };
    client = createExchangeClient({ address: paper.url, dialect, credentials });
    setPrice('50000');
  }
  afterEach(async () => {
    client.close();
    await paper.close();
  });

  const setPrice = (price: string, volume?: string) =>
    paper.control.setPrice(
      market,
      parseDecimal(price),
      volume === undefined ? undefined : parseDecimal(volume),
    );

  async function place(clientOrderId: string, planned: object = {}): Promise<number> {
    const order = {
      market,
      side: 'buy',
      amount: parseDecimal('0.01'),
      activationPrice: parseDecimal('50100'),
      price: parseDecimal('50200'),
      clientOrderId,
      ...planned,
    } as const;
    return (await client.call(stopLimit, order)).orderId;
  }
  const planned = { stopLoss: parseDecimal('49000'), takeProfit: parseDecimal('52000') };
  const find = (clientOrderId: string) => findOrder(client, { market, clientOrderId }, options);

  describe('of the live service', () => {
    test('finds an open order among others', async () => {
      await open('live');
      await place('tr-other');
      const orderId = await place('tr-1');

      expect(await find('tr-1')).toMatchObject({
        kind: 'found',
        isOpen: true,
        others: 0,
        order: { orderId, clientOrderId: 'tr-1', status: 'open' },
      });
    });

    test('finds a partially filled order as open', async () => {
      await open('live');
      await place('tr-1');
      setPrice('50150', '0.004');

      const place1 = await find('tr-1');

      expect(place1).toMatchObject({ kind: 'found', isOpen: true, order: { status: 'partially_filled' } });
      expect(place1.kind === 'found' && place1.order.filled.toFixed()).toBe('0.004');
    });

    test('finds a filled order', async () => {
      await open('live');
      const orderId = await place('tr-1');
      setPrice('50150');

      expect(await find('tr-1')).toMatchObject({
        kind: 'found',
        isOpen: false,
        others: 0,
        order: { orderId, status: 'filled' },
      });
    });

    test('finds a cancelled order', async () => {
      await open('live');
      const orderId = await place('tr-1');
      await client.call(cancelOrder, { market, orderId });

      expect(await find('tr-1')).toMatchObject({
        kind: 'found',
        isOpen: false,
        order: { status: 'cancelled' },
      });
    });

    test('does not find an order that was never placed', async () => {
      await open('live');
      await place('tr-other');

      expect(await find('tr-1')).toEqual({ kind: 'not_found' });
    });

    test('fails when a list cannot be read, because that proves nothing', async () => {
      await open('live');
      paper.control.addFault({ fault: 'garbage', endpoint: 'ended-order', probability: 1 });

      expect((await failureOf(find('tr-1'))).failure).toMatchObject({ kind: 'ambiguous' });
    });

    test('fails on a refusal that is not about the order, because that proves nothing', async () => {
      await open('live');
      paper.control.addFault({ fault: 'refuse', endpoint: 'ended-order', probability: 1 });

      expect((await failureOf(find('tr-1'))).failure).toMatchObject({ kind: 'rejected', httpStatus: 422 });
    });
  });

  describe('of the written API', () => {
    test('finds an order that waits with take-profit and stop-loss', async () => {
      await open('documented');
      const orderId = await place('tr-1', planned);

      expect(await find('tr-1')).toMatchObject({
        kind: 'found',
        isOpen: true,
        others: 0,
        order: { orderId, status: 'open' },
      });
    });

    test('does not list a plain stop-limit order, which proves nothing', async () => {
      await open('documented');
      await place('tr-1');

      expect(await find('tr-1')).toEqual({ kind: 'not_listed' });
    });

    test('does not list a filled order: its take-profit and stop-loss have no client order id', async () => {
      await open('documented');
      await place('tr-1', planned);
      setPrice('50150');

      expect(paper.control.state().ocos).toMatchObject([{ isOpen: true }]);
      expect(await find('tr-1')).toEqual({ kind: 'not_listed' });
    });

    test('finds an order on the last of many pages', async () => {
      await open('documented');
      const orderId = await place('tr-first', planned);
      for (let count = 1; count <= 200; count += 1) await place(`tr-later-${count}`, planned);

      expect(await find('tr-first')).toMatchObject({ kind: 'found', order: { orderId } });
      expect(await find('tr-never')).toEqual({ kind: 'not_listed' });
    });
  });
});

/** Responses that the paper exchange never gives. */
describe('lists of the live service that contradict each other', () => {
  const name = { market, clientOrderId: 'tr-1' };

  function response(status: number, content: unknown): WireOutcome {
    return { kind: 'answered', status, body: JSON.stringify(content) };
  }

  const fields = {
    clientOrderId: 'tr-1',
    side: 'buy',
    type: 'margin stop limit',
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
  const ended = (id: number, status: string, changes: object = {}) => ({
    ...fields,
    id,
    ctime: 1_594_297_865.5,
    ftime: 1_594_297_866.5,
    status,
    ...changes,
  });
  const noneEnded = response(422, {
    code: 30,
    message: 'Validation failed',
    errors: { orderHistory: ['OrderHistory was not found.'] },
  });

  const find = (...steps: readonly WireOutcome[]) => findOrder(connect(steps).client, name, options);

  test('count an order that ends between the two reads once, as ended', async () => {
    const place = await find(response(200, [open(7)]), response(200, { [market]: [ended(7, 'FILLED')] }));

    expect(place).toMatchObject({
      kind: 'found',
      isOpen: false,
      others: 0,
      order: { orderId: 7, status: 'filled' },
    });
  });

  test('report every order with the id, the open one first', async () => {
    const place = await find(
      response(200, [open(9)]),
      response(200, { [market]: [ended(8, 'CANCELED'), ended(7, 'FILLED')] }),
    );

    expect(place).toMatchObject({ kind: 'found', isOpen: true, others: 2, order: { orderId: 9 } });
  });

  test.each([
    ['CANCELED_STP'],
    ['CANCELED_TAKER_BAND'],
    ['AUTO_CANCELED_USER_MARGIN'],
    ['AUTO_CANCELED_LIQUIDATION'],
    ['DELISTING'],
  ])('report why an order ended: %s', async (status) => {
    const place = await find(response(200, []), response(200, { [market]: [ended(7, status)] }));

    expect(place).toMatchObject({
      kind: 'found',
      isOpen: false,
      order: { status: 'cancelled', endReason: status },
    });
  });

  test('do not find the order in an empty history or in one of other markets', async () => {
    expect(await find(response(200, []), response(200, {}), noneEnded)).toEqual({ kind: 'not_found' });
    expect(await find(response(200, []), response(200, { ETH_USDT: [] }), noneEnded)).toEqual({
      kind: 'not_found',
    });
  });

  const fill = (changes: object = {}) => ({
    id: 1,
    time: 1_700_000_000.5,
    side: 'buy',
    role: 2,
    amount: '0.25',
    price: '100',
    deal: '25',
    fee: '0.1',
    feeAsset: 'USDT',
    orderId: 7,
    ...changes,
  });

  test('find the fills of an order that no list holds, as for a partner whose order was cancelled', async () => {
    const fills = response(200, [fill(), fill({ id: 2, amount: '0.5', deal: '50' })]);

    expect(toJson(await find(response(200, []), noneEnded, fills))).toEqual({
      kind: 'filled',
      orderId: 7,
      side: 'buy',
      filled: '0.75',
      filledNotional: '75',
    });
  });

  test.each([
    ['of two orders', { id: 2, orderId: 8 }],
    ['of both sides', { id: 2, side: 'sell' }],
    ['of an order without an id', { id: 2, orderId: null }],
    ['with another client order id', { id: 2, clientOrderId: 'tr-2' }],
  ])('prove nothing when they hold fills %s: the server ignored the filter', async (_, changes) => {
    const fills = response(200, [fill(), fill(changes)]);

    expect(await find(response(200, []), noneEnded, fills)).toEqual({ kind: 'not_listed' });
  });

  test.each([
    ['open', [response(200, [open(7, { clientOrderId: 'tr-2' })]), noneEnded]],
    [
      'ended',
      [response(200, []), response(200, { [market]: [ended(7, 'FILLED', { clientOrderId: 'tr-2' })] })],
    ],
  ] as const)(
    'prove nothing when the %s one holds other orders: the server ignored the filter',
    async (_, steps) => {
      expect(await find(...steps)).toEqual({ kind: 'not_listed' });
    },
  );

  test('find an order among other orders', async () => {
    const place = await find(response(200, [open(6, { clientOrderId: '' }), open(7)]), noneEnded);

    expect(place).toMatchObject({ kind: 'found', others: 0, order: { orderId: 7 } });
  });

  test.each([
    ['the response is lost', lostResponse],
    ['the exchange is out of order', outage],
    ['a record has no name', response(200, [open(7, { clientOrderId: undefined })])],
    ['a status is not known', response(200, [open(7, { status: 'PENDING' })])],
  ])('are an error when %s', async (_, outcome) => {
    const failure = await failureOf(find(...Array.from({ length: 20 }, () => outcome)));

    expect(failure.failure).toMatchObject({ kind: 'ambiguous' });
  });
});
