import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { parseDecimal } from '../../lib/base/decimal.ts';
import type { ExchangeClient } from '../../lib/exchange/client.ts';
import { openOrder } from '../../lib/exchange/endpoints/open-order.ts';
import type { Order } from '../../lib/model/order.ts';
import { cancelExits } from '../../lib/relay/cancel/cancel-exits.ts';
import { type Aftermath, openAftermath } from '../support/aftermath.ts';

let relay: Aftermath;
let client: ExchangeClient;
beforeEach(async () => {
  relay = await openAftermath();
  client = await relay.services.exchangeFor('main');
});
afterEach(() => relay.close());

const market = 'BTC_USDT';
const options = { timeoutMs: 2000 };
const entry = {
  ticker: 'BTCUSDT',
  action: 'buy',
  orderType: 'market',
  maxSlippage: '0.1%',
  quantity: '0.01',
};
const send = (fields: object) => relay.send(JSON.stringify({ ...entry, ...fields }));
const statuses = () => relay.paper.control.state().orders.map(({ status }) => status);
/** What closes a long position and is not an order of an alert. */
const scope = { market, isExit: ({ side, clientOrderId }: Order) => side === 'sell' && clientOrderId === '' };

describe('cancelling the exits of a market', () => {
  test('does nothing where none is open', async () => {
    await send({ id: 'buy-1' });

    expect(await cancelExits(client, scope, options)).toEqual({ exits: [], left: [] });
  });

  test('cancels the pair of a filled entry, and leaves entries alone', async () => {
    await send({ id: 'buy-1', stopLoss: '2%', takeProfit: '4%' });
    const limit = { orderType: 'limit', limitPrice: '45000', maxSlippage: undefined };
    await send({ id: 'buy-2', ...limit, stopLoss: '2%' });
    await send({ id: 'sell-1', action: 'sell', ...limit, limitPrice: '55000' });

    expect(await cancelExits(client, scope, options)).toEqual({
      exits: [
        {
          name: 'OCO 10000000003',
          orderIds: [10000000004, 10000000005],
          result: 'cancelled',
          note: 'OCO 10000000003 is cancelled: orders 10000000004 and 10000000005',
        },
      ],
      left: [],
    });
    expect(statuses()).toEqual(['filled', 'cancelled', 'cancelled', 'open', 'open']);
  });

  test('cancels exits that stand alone, one by one', async () => {
    await send({ id: 'buy-1', stopLoss: '2%' });
    await send({ id: 'buy-2', takeProfit: '4%' });

    const { exits, left } = await cancelExits(client, scope, options);

    expect(exits.map(({ result }) => result)).toEqual(['cancelled', 'cancelled']);
    expect(left).toEqual([]);
    expect(statuses()).toEqual(['filled', 'cancelled', 'filled', 'cancelled']);
  });

  test('names what the exchange does not cancel, and what is left', async () => {
    await send({ id: 'buy-1', stopLoss: '2%', takeProfit: '4%' });
    relay.paper.control.addFault({ fault: 'refuse', endpoint: 'cancel-conditional', probability: 1 });

    expect(await cancelExits(client, scope, options)).toEqual({
      exits: [
        {
          name: 'OCO 10000000003',
          orderIds: [10000000004, 10000000005],
          result: 'failed',
          note: 'OCO 10000000003: cancel-conditional: refused with HTTP 422, code 30: Validation failed',
        },
      ],
      left: [{ name: 'OCO 10000000003', orderIds: [10000000004, 10000000005] }],
    });
  });

  test('names what the exchange does not cancel, too, when the lists do not show it any more', async () => {
    await send({ id: 'buy-1', stopLoss: '2%', takeProfit: '4%' });
    relay.paper.control.addFault({ fault: 'refuse', endpoint: 'cancel-conditional', probability: 1 });
    const lagging: typeof client.call = async (endpoint, params, sending) => {
      const result = await client.call(endpoint, params, sending);
      if (endpoint.name === 'open-order')
        for (const late of ['open-order', 'conditional-orders'])
          relay.paper.control.addFault({ fault: 'read_lag', endpoint: late, delayMs: 5000, probability: 1 });
      return result;
    };

    const done = await cancelExits({ ...client, prepare: client.prepare, call: lagging }, scope, options);

    expect(done.left).toEqual([{ name: 'OCO 10000000003', orderIds: [10000000004, 10000000005] }]);
  });

  test('cannot say what is left while the lists cannot be read back', async () => {
    await send({ id: 'buy-1', stopLoss: '2%', takeProfit: '4%' });
    const slow: typeof client.call = async (endpoint, params, sending) => {
      const result = await client.call(endpoint, params, sending);
      if (endpoint.name === 'open-order')
        relay.paper.control.addFault({ fault: 'drop_before', endpoint: 'open-order', probability: 1 });
      return result;
    };

    const done = await cancelExits({ ...client, prepare: client.prepare, call: slow }, scope, options);

    expect(done.exits).toMatchObject([{ result: 'cancelled' }]);
    expect(done.left).toBeNull();
  });

  test('does nothing when the exits cannot be listed', async () => {
    await send({ id: 'buy-1', stopLoss: '2%', takeProfit: '4%' });
    relay.paper.control.addFault({ fault: 'drop_before', endpoint: 'open-order', probability: 1 });

    await expect(cancelExits(client, scope, options)).rejects.toThrow('open-order');

    expect(statuses()).toEqual(['filled', 'open', 'open']);
  });

  test('cannot say what is left when there are more orders than it reads', async () => {
    await send({ id: 'buy-1', orderType: 'limit', limitPrice: '45000', maxSlippage: undefined });
    const { records } = await client.call(openOrder, { market, limit: 1, offset: 0 });
    const page: unknown = { records: Array(100).fill(records[0]), count: 100, oddities: [] };
    const endless: typeof client.call = async (endpoint, params, sending) => {
      const result = await client.call(endpoint, params, sending);
      return endpoint.name === 'open-order' ? (page as typeof result) : result;
    };

    const done = await cancelExits({ ...client, prepare: client.prepare, call: endless }, scope, options);

    expect(done).toEqual({ exits: [], left: null });
  });

  test('reports the orders of a pair that ended meanwhile as gone', async () => {
    await send({ id: 'buy-1', stopLoss: '2%', takeProfit: '4%' });
    const late: typeof client.call = async (endpoint, params, sending) => {
      const result = await client.call(endpoint, params, sending);
      if (endpoint.name === 'open-order') relay.setPrice('53000');
      return result;
    };

    const done = await cancelExits({ ...client, prepare: client.prepare, call: late }, scope, options);

    const gone = [10000000004, 10000000005].map((orderId) => ({
      name: `order ${orderId}`,
      orderIds: [orderId],
      result: 'gone',
      note: `order ${orderId} is not open: it ended before`,
    }));
    expect(done).toEqual({ exits: gone, left: [] });
  });

  test('cancels each order of a pair by its id when the response to its cancellation is lost', async () => {
    await send({ id: 'buy-1', quantity: '0.1', stopLoss: '2%', takeProfit: '4%' });
    relay.paper.control.addFault({ fault: 'drop_before', endpoint: 'cancel-conditional', count: 1 });
    // The take-profit fills in part before the cancellation is sent again, so that the pair is gone by then.
    const late: typeof client.call = async (endpoint, params, sending) => {
      const result = await client.call(endpoint, params, sending);
      if (endpoint.name === 'open-order')
        relay.paper.control.setPrice(market, parseDecimal('52001'), parseDecimal('0.04'));
      return result;
    };

    const done = await cancelExits({ ...client, prepare: client.prepare, call: late }, scope, options);

    expect(done.exits.map(({ result }) => result)).toEqual(['gone', 'cancelled']);
    expect(done.left).toEqual([]);
    expect(statuses().filter((status) => status === 'partially_filled')).toEqual([]);
  });
});
