import { once } from 'node:events';
import { connect } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { parseDecimal } from '../../lib/base/decimal.ts';
import { type PaperExchange, startPaperExchange } from '../../lib/paper/server/server.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { createPost, receive } from './paper-client.ts';

let paper: PaperExchange;

beforeEach(async () => {
  const clock = createManualClock(1_790_000_000_000);
  paper = await startPaperExchange({ port: 0, dialect: 'live', clock, walk: false });
});

afterEach(() => paper.close());

async function control(method: string, path: string, body?: unknown) {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const init = text === undefined ? { method } : { method, body: text };
  return receive(await fetch(`${paper.url}/control/${path}`, init));
}

const order = { market: 'BTC_USDT', side: 'buy', amount: '2', price: '61500', activation_price: '61000' };

describe('the price route', () => {
  test('makes one trade with the given volume', async () => {
    await createPost(paper.url)('/api/v4/order/collateral/stop-limit', order);

    const moved = await control('POST', 'price', { market: 'BTC_USDT', price: '61200.50', volume: '0.5' });

    expect(moved).toEqual({ status: 200, body: { market: 'BTC_USDT', price: '61200.5' } });
    expect(paper.control.state().prices['BTC_USDT']).toBe('61200.5');
    expect(paper.control.state().orders[0]).toMatchObject({ status: 'partially_filled', remaining: '1.5' });
  });

  test.each<[unknown, string]>([
    ['no json', 'the body must be JSON'],
    [{ market: 'BTC_USDT' }, 'price'],
    [{ market: 'BTC_USDT', price: 61200 }, 'expected string'],
    [{ market: 'BTC_USDT', price: 'high' }, 'must be a decimal number as text, for example "60000.5"'],
    [{ market: 'BTC_USDT', price: '0' }, 'a price must be above 0; 0 is not'],
    [{ market: 'BTC_USDT', price: '1', volume: '-1' }, 'a volume must be above 0; -1 is not'],
    [
      { market: 'BTCUSDT', price: '1' },
      'the paper exchange has no market "BTCUSDT"; it has BTC_USDT, ETH_USDT, SOL_USDT, BTC_PERP, DBTC_DUSDT',
    ],
    [{ market: 'BTC_USDT', price: '1', amount: '1' }, 'amount'],
  ])('says what is wrong with %j', async (body, reason) => {
    const refused = await control('POST', 'price', body);

    expect(refused).toEqual({ status: 400, body: { error: expect.stringContaining(reason) } });
    expect(paper.control.state().prices['BTC_USDT']).toBe('60000');
  });
});

test('the state route returns the same state as the control in the process', async () => {
  await createPost(paper.url)('/api/v4/order/collateral/stop-limit', { ...order, stopLoss: '60000' });
  paper.control.setPrice('BTC_USDT', parseDecimal('61200'));

  const { status, body } = await control('GET', 'state');

  expect(status).toBe(200);
  expect(body).toEqual(paper.control.state());
  expect(body).toMatchObject({
    prices: { BTC_USDT: '61200', ETH_USDT: '3000' },
    accounts: {
      main: {
        main: { USDT: '25000.75' },
        collateral: {
          USDT: { available: '999877.6', reserved: '0' },
          BTC: { available: '10', reserved: '0' },
        },
        leverage: 1,
        positions: {
          BTC_USDT: { positionId: 30_000_000_001, amount: '2', basePrice: '61200', margin: '122400' },
        },
      },
      second: { collateral: { USDT: { available: '1000000', reserved: '0' } } },
    },
    acceptedCreates: 1,
    acceptedOrderIds: [10_000_000_001],
    fees: { USDT: '122.4' },
    counterparty: { USDT: '0' },
  });
});

describe('the fault routes', () => {
  test('set, list and clear', async () => {
    const set = await control('POST', 'faults', { fault: 'delay', delayMs: 5, endpoint: 'ping' });
    const listed = await control('GET', 'faults');
    const cleared = await control('DELETE', 'faults');

    const view = {
      id: 1,
      fault: 'delay',
      endpoint: 'ping',
      remaining: 1,
      probability: null,
      delayMs: 5,
      durationMs: null,
      struck: 0,
    };
    expect(set).toEqual({ status: 201, body: view });
    expect(listed).toEqual({ status: 200, body: [view] });
    expect(cleared).toEqual({ status: 200, body: [] });
    expect(paper.control.faults()).toEqual([]);
  });

  test('respond before the exchange goes down', async () => {
    const set = await control('POST', 'faults', { fault: 'down', durationMs: 3_600_000 });

    expect(set).toMatchObject({ status: 201, body: { fault: 'down' } });
    const socket = connect(paper.port, '127.0.0.1');
    await expect(once(socket, 'connect')).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  });

  test('name the validation issue of a request', async () => {
    expect(await control('POST', 'faults', { fault: 'delay' })).toEqual({
      status: 400,
      body: { error: 'fault "delay" needs "delayMs"' },
    });
  });

  test('are not affected by faults', async () => {
    paper.control.addFault({ fault: 'error_before', probability: 1 });

    expect((await control('GET', 'faults')).status).toBe(200);
  });
});

test('an unknown control route lists the known ones', async () => {
  expect(await control('GET', 'price')).toEqual({
    status: 404,
    body: {
      error: 'unknown route: GET /control/price',
      routes: [
        'GET /control/state',
        'POST /control/price',
        'POST /control/balance',
        'POST /control/funds',
        'POST /control/leverage',
        'POST /control/hedge',
        'POST /control/exits',
        'POST /control/fee',
        'POST /control/interest',
        'GET /control/faults',
        'POST /control/faults',
        'DELETE /control/faults',
      ],
    },
  });
});

test('the control in the process refuses what the route refuses', () => {
  expect(() => paper.control.setPrice('BTCUSDT', parseDecimal('1'))).toThrow('has no market "BTCUSDT"');
  expect(() => paper.control.setPrice('BTC_USDT', parseDecimal('-1'))).toThrow('a price must be above 0');
});
