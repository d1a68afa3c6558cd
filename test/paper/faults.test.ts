import { once } from 'node:events';
import { connect } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { createRandom } from '../../lib/base/random.ts';
import { createFaultBox, type FaultRequest } from '../../lib/paper/faults/faults.ts';
import { type PaperExchange, startPaperExchange } from '../../lib/paper/server/server.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { createPost, get, type Post } from './paper-client.ts';

const clock = createManualClock(1_790_000_000_000);
let paper: PaperExchange;
let post: Post;

beforeEach(async () => {
  paper = await startPaperExchange({ port: 0, dialect: 'live', clock, walk: false });
  post = createPost(paper.url);
});

afterEach(() => paper.close());

const order = { market: 'BTC_USDT', side: 'buy', amount: '0.01', price: '61500', activation_price: '61000' };
const createOrder = () => post('/api/v4/order/collateral/stop-limit', order);
const acceptedCreates = () => paper.control.state().acceptedCreates;

describe('a fault on a create', () => {
  test.each<[FaultRequest['fault'], number, unknown, number]>([
    ['refuse', 422, { code: 30, message: 'Validation failed', errors: {} }, 0],
    ['error_before', 503, 'Service Unavailable', 0],
    ['error_after', 500, { error: ['Internal server error.'] }, 1],
    ['garbage', 200, '<html><body>Please wait</body></html>', 1],
    ['nonce_429', 429, { code: 0, message: 'Too many requests.', errors: {} }, 0],
    ['rate_429', 429, 'Too Many Requests', 0],
  ])('%s responds with %i, once', async (fault, status, body, accepted) => {
    paper.control.addFault({ fault });

    expect(await createOrder()).toEqual({ status, body });
    expect(acceptedCreates()).toBe(accepted);
    expect((await createOrder()).status).toBe(200);
    expect(acceptedCreates()).toBe(accepted + 1);
  });

  test.each<[FaultRequest['fault'], number]>([
    ['drop_before', 0],
    ['drop_after', 1],
  ])('%s breaks the connection', async (fault, accepted) => {
    paper.control.addFault({ fault });

    await expect(createOrder()).rejects.toThrow('fetch failed');
    expect(acceptedCreates()).toBe(accepted);
    expect((await createOrder()).status).toBe(200);
  });

  test('delay accepts at once and responds later', async () => {
    paper.control.addFault({ fault: 'delay', delayMs: 30 });

    const startedMs = performance.now();
    const created = await createOrder();

    // Timers may fire up to a millisecond early.
    expect(performance.now() - startedMs).toBeGreaterThan(28);
    expect(created.status).toBe(200);
    expect(acceptedCreates()).toBe(1);
  });

  test('does not accept a request that the service itself would refuse', async () => {
    paper.control.addFault({ fault: 'delay', delayMs: 1 });

    const refused = await post('/api/v4/order/collateral/stop-limit', { ...order, side: 'up' });

    expect(refused.status).toBe(422);
    expect(acceptedCreates()).toBe(0);
  });
});

describe('lists that lag', () => {
  const lookup = { market: 'BTC_USDT', clientOrderId: 'late-1' };
  const listOpen = () => post('/api/v4/orders', lookup);
  const listEnded = () => post('/api/v4/trade-account/order/history', lookup);
  const createLookedUp = () =>
    post('/api/v4/order/collateral/stop-limit', { ...order, clientOrderId: 'late-1', takeProfit: '65000' });

  test('do not show an order that was just placed, for as many requests as the fault affects', async () => {
    paper.control.addFault({ fault: 'read_lag', delayMs: 3000, count: 2 });

    expect((await createLookedUp()).status).toBe(200);

    expect(await listOpen()).toEqual({ status: 200, body: [] });
    expect(await post('/api/v4/conditional-orders')).toMatchObject({ status: 200, body: { total: 0 } });
    expect(paper.control.faults()).toEqual([]);
    expect(await listOpen()).toMatchObject({ status: 200, body: [{ clientOrderId: 'late-1' }] });
    expect(await post('/api/v4/conditional-orders')).toMatchObject({ status: 200, body: { total: 1 } });
  });

  test('show the order once it is older than the lag', async () => {
    paper.control.addFault({ fault: 'read_lag', delayMs: 3000, probability: 1 });
    await createLookedUp();

    clock.advance(3000);
    expect((await listOpen()).body).toMatchObject([{ clientOrderId: 'late-1' }]);
    await post('/api/v4/order/cancel', lookup);
    expect((await listOpen()).body).toEqual([]);
    expect((await listEnded()).status).toBe(422);
    clock.advance(3000);

    expect((await listEnded()).body).toMatchObject({ BTC_USDT: [{ status: 'CANCELED' }] });
  });

  test('can be a single list', async () => {
    paper.control.addFault({ fault: 'read_lag', delayMs: 3000, probability: 1, endpoint: 'open-order' });
    await createLookedUp();

    expect((await listOpen()).body).toEqual([]);
    expect((await post('/api/v4/conditional-orders')).body).toMatchObject({ total: 1 });
  });

  test('still refuse an invalid request', async () => {
    paper.control.addFault({ fault: 'read_lag', delayMs: 3000 });

    expect((await post('/api/v4/orders', { market: 'BTC_EUR', clientOrderId: 'late-1' })).status).toBe(422);
  });

  test('use up no random number for requests to other endpoints', () => {
    const faults = createFaultBox(() => {
      throw new Error('no chance was to be taken');
    }, 'live');
    faults.add({ fault: 'read_lag', delayMs: 1, probability: 0.5 });

    expect(faults.strike({ name: 'stop-limit', access: 'private' })).toBeNull();
  });
});

describe('a fault', () => {
  test('of one endpoint does not affect the others', async () => {
    paper.control.addFault({ fault: 'error_before', endpoint: 'stop-limit' });

    expect((await post('/api/v4/main-account/fee')).status).toBe(200);
    expect((await createOrder()).status).toBe(503);
  });

  test('of every endpoint has the public form at public endpoints', async () => {
    paper.control.addFault({ fault: 'refuse' });

    expect(await get(paper.url, '/api/v4/public/ping')).toEqual({
      status: 422,
      body: { success: false, message: 'Validation failed', params: [] },
    });
  });

  test('affects the given number of requests, and counts them', async () => {
    paper.control.addFault({ fault: 'rate_429', count: 2 });

    expect((await createOrder()).status).toBe(429);
    expect(paper.control.faults()).toEqual([
      {
        id: 1,
        fault: 'rate_429',
        endpoint: null,
        remaining: 1,
        probability: null,
        delayMs: null,
        durationMs: null,
        struck: 1,
      },
    ]);
    expect((await createOrder()).status).toBe(429);
    expect(paper.control.faults()).toEqual([]);
    expect((await createOrder()).status).toBe(200);
  });

  test('takes effect after the faults that were set before it', async () => {
    paper.control.addFault({ fault: 'rate_429' });
    paper.control.addFault({ fault: 'error_before' });

    expect([(await createOrder()).status, (await createOrder()).status]).toEqual([429, 503]);
  });

  test('by chance affects requests as the seed decides, until it is cleared', () => {
    const endpoint = { name: 'ping', access: 'public' } as const;
    const strikesOf = (seed: number) => {
      const faults = createFaultBox(createRandom(seed), 'live');
      faults.add({ fault: 'rate_429', probability: 0.25 });
      return Array.from({ length: 1000 }, () => faults.strike(endpoint) !== null);
    };

    const strikes = strikesOf(5);

    expect(strikesOf(5)).toEqual(strikes);
    expect(strikesOf(6)).not.toEqual(strikes);
    expect(strikes.filter(Boolean).length).toBeGreaterThan(200);
    expect(strikes.filter(Boolean).length).toBeLessThan(300);
  });

  test('that is cleared has no more effect', async () => {
    paper.control.addFault({ fault: 'error_before', probability: 1 });

    expect((await createOrder()).status).toBe(503);
    paper.control.clearFaults();

    expect((await createOrder()).status).toBe(200);
  });

  test.each<[unknown, string]>([
    [{ fault: 'magic' }, 'Invalid option'],
    [
      { fault: 'refuse', endpoint: 'orders' },
      '"orders" is no endpoint; it is one of ping, server-time, markets',
    ],
    [{ fault: 'refuse', count: 1, probability: 0.5 }, 'give one of them'],
    [{ fault: 'refuse', count: 0 }, 'count'],
    [{ fault: 'refuse', chance: 1 }, 'chance'],
    [{ fault: 'delay' }, 'fault "delay" needs "delayMs"'],
    [{ fault: 'refuse', delayMs: 5 }, 'fault "refuse" takes no "delayMs"'],
    [{ fault: 'read_lag' }, 'fault "read_lag" needs "delayMs"'],
    [
      { fault: 'read_lag', delayMs: 5, endpoint: 'stop-limit' },
      'fault "read_lag" cannot strike "stop-limit"; it strikes open-order, ended-order, conditional-orders, executed-history',
    ],
    [{ fault: 'down' }, 'fault "down" needs "durationMs"'],
    [{ fault: 'down', durationMs: 5, count: 2 }, 'it takes neither "count" nor "probability"'],
  ])('that is invalid is refused with the reason: %j', (request, reason) => {
    expect(() => paper.control.addFault(request as FaultRequest)).toThrow(reason);
    expect(paper.control.faults()).toEqual([]);
  });
});

async function isRefused(): Promise<boolean> {
  const socket = connect(paper.port, '127.0.0.1');
  const refused = await once(socket, 'connect').then(
    () => false,
    (error: NodeJS.ErrnoException) => error.code === 'ECONNREFUSED',
  );
  socket.destroy();
  return refused;
}

async function untilUp(): Promise<void> {
  while (await isRefused()) await new Promise((resolve) => setImmediate(resolve));
}

describe('an outage', () => {
  test('breaks connections, refuses new ones, and ends by itself on the same port', async () => {
    await createOrder();
    const socket = connect(paper.port, '127.0.0.1');
    await once(socket, 'connect');
    const broken = once(socket, 'close');

    paper.control.addFault({ fault: 'down', durationMs: 20 });

    expect(paper.control.faults()).toMatchObject([{ fault: 'down', durationMs: 20, endpoint: null }]);
    await broken;
    await untilUp();
    expect((await createOrder()).status).toBe(200);
    expect(paper.control.faults()).toEqual([]);
    expect(acceptedCreates()).toBe(2);
  });

  test('ends at once when faults are cleared', async () => {
    paper.control.addFault({ fault: 'down', durationMs: 3_600_000 });
    expect(await isRefused()).toBe(true);

    paper.control.clearFaults();

    await untilUp();
    expect((await createOrder()).status).toBe(200);
  });

  test('can be set again while the exchange is coming back', async () => {
    paper.control.addFault({ fault: 'down', durationMs: 3_600_000 });
    paper.control.clearFaults();

    paper.control.addFault({ fault: 'down', durationMs: 3_600_000 });
    await untilUp().catch(() => {});
    paper.control.clearFaults();

    await untilUp();
    expect((await createOrder()).status).toBe(200);
  });

  test('is prolonged by another one', async () => {
    paper.control.addFault({ fault: 'down', durationMs: 3_600_000 });

    paper.control.addFault({ fault: 'down', durationMs: 10 });

    await untilUp();
    expect(paper.control.faults()).toEqual([]);
  });

  test('does not keep the exchange from closing', async () => {
    paper.control.addFault({ fault: 'down', durationMs: 3_600_000 });

    await paper.close();

    expect(await isRefused()).toBe(true);
    paper.control.addFault({ fault: 'down', durationMs: 1 });
    expect(await isRefused()).toBe(true);
  });
});

test('closing drops responses that are still delayed', async () => {
  paper.control.addFault({ fault: 'delay', delayMs: 3_600_000 });
  const response = createOrder().catch((error: Error) => error.message);
  while (acceptedCreates() === 0) await new Promise((resolve) => setImmediate(resolve));

  await paper.close();

  expect(await response).toBe('fetch failed');
});
