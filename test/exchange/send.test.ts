import { describe, expect, test } from '@jest/globals';
import { parseDecimal } from '../../lib/base/decimal.ts';
import { createExchangeClient } from '../../lib/exchange/client.ts';
import { fees } from '../../lib/exchange/endpoints/fees.ts';
import { mainBalance } from '../../lib/exchange/endpoints/main-balance.ts';
import { ping } from '../../lib/exchange/endpoints/ping.ts';
import { stopLimit } from '../../lib/exchange/endpoints/stop-limit.ts';
import { ExchangeError } from '../../lib/exchange/errors.ts';
import { createRateBudgets } from '../../lib/exchange/rate-limit.ts';
import type { WireOutcome, WireRequest } from '../../lib/exchange/transport.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { createScriptedTransport } from '../support/scripted-transport.ts';

const startMs = 1_594_297_865_000;

const noConnection: WireOutcome = { kind: 'not_sent', reason: 'no connection' };
const lostAnswer: WireOutcome = { kind: 'ambiguous', reason: 'the answer was lost' };
const nonceRefused: WireOutcome = {
  kind: 'answered',
  status: 429,
  body: '{"code":0,"message":"Too many requests.","errors":{}}',
};
const tooMany: WireOutcome = { kind: 'answered', status: 429, body: 'Too Many Requests' };
const refused: WireOutcome = {
  kind: 'answered',
  status: 422,
  body: '{"code":31,"message":"No such market"}',
};
const outage: WireOutcome = { kind: 'answered', status: 503, body: 'unavailable' };
const balance: WireOutcome = { kind: 'answered', status: 200, body: '{"BTC":{"main_balance":"1"}}' };
const placed: WireOutcome = {
  kind: 'answered',
  status: 200,
  body: '{"orderId":7,"clientOrderId":"main-1","market":"BTC_USDT","side":"buy","type":"margin stop limit","timestamp":1594297865.5,"dealMoney":"0","dealStock":"0","amount":"1","left":"1","dealFee":"0","price":"2","status":"OPEN"}',
};

const order = {
  market: 'BTC_USDT',
  side: 'buy',
  amount: parseDecimal('1'),
  price: parseDecimal('2'),
  activationPrice: parseDecimal('2'),
  clientOrderId: 'main-1',
} as const;

type Step = WireOutcome | ((request: WireRequest) => Promise<WireOutcome>);

function connect(steps: readonly Step[], dialect: 'live' | 'documented' = 'live') {
  const clock = createManualClock(startMs);
  const transport = createScriptedTransport(steps);
  const client = createExchangeClient({
    address: 'https://exchange.test',
    dialect,
    credentials: { apiKey: 'key-1', apiSecret: 'secret-1' },
    clock,
    random: () => 0,
    transport,
  });
  const create = (timeoutMs = 10_000) => client.call(stopLimit, order, { timeoutMs });
  const read = (timeoutMs = 10_000) => client.call(mainBalance, {}, { timeoutMs });
  return { clock, transport, client, create, read };
}

async function failureOf(call: Promise<unknown>): Promise<ExchangeError> {
  const outcome = await call.catch((error: unknown) => error);
  if (outcome instanceof ExchangeError) return outcome;
  throw new Error('the call was expected to fail at the exchange', { cause: outcome });
}

function nonceOf({ body }: WireRequest): unknown {
  return JSON.parse(body ?? '').nonce;
}

describe('a create', () => {
  test.each([
    ['the answer was lost', lostAnswer],
    ['a gateway failed', outage],
    ['the answer is incomplete', { kind: 'answered', status: 200, body: '{"orderId":7}' } as const],
  ])('is never sent again after %s', async (_, outcome) => {
    const { transport, create } = connect([outcome, placed]);

    const error = await failureOf(create());

    expect(error.failure.kind).toBe('ambiguous');
    expect(error.code).toBe('exchange_ambiguous');
    expect(transport.sent).toHaveLength(1);
  });

  test('is sent again after it provably was not taken in, and signed anew', async () => {
    const { transport, create, clock } = connect([noConnection, tooMany, nonceRefused, placed]);

    const result = await create();

    expect(result.orderId).toBe(7);
    expect(clock.sleptMs).toEqual([100, 200]);
    expect(transport.sent.map(nonceOf)).toEqual([startMs, startMs + 100, startMs + 300, startMs + 301]);
    expect(new Set(transport.sent.map(({ headers }) => headers['X-TXC-SIGNATURE'])).size).toBe(4);
  });

  test('stops being sent at the first answer that leaves doubt', async () => {
    const { transport, create } = connect([noConnection, lostAnswer, placed]);

    const error = await failureOf(create());

    expect(error.attempts.map(({ failure }) => failure.kind)).toEqual(['not_sent', 'ambiguous']);
    expect(transport.sent).toHaveLength(2);
  });

  test('is given the whole time that is left to answer', async () => {
    const { transport, create } = connect([noConnection, placed]);

    await create(10_000);

    expect(transport.sent.map(({ timeoutMs }) => timeoutMs)).toEqual([10_000, 9900]);
  });

  test('that was prepared once is sent by one call only, whatever came of it', async () => {
    const { transport, client } = connect([lostAnswer, placed]);
    const request = client.prepare(stopLimit, order);
    await failureOf(request.send());

    await expect(request.send()).rejects.toMatchObject({ code: 'exchange_request_invalid' });
    expect(transport.sent).toHaveLength(1);
  });
});

describe('a read', () => {
  test('is tried again after every failure but a refusal, with growing pauses', async () => {
    const { read, clock } = connect([noConnection, lostAnswer, tooMany, outage, balance]);

    const result = await read();

    expect(result['BTC']?.mainBalance.toFixed()).toBe('1');
    expect(clock.sleptMs).toEqual([100, 200, 400, 800]);
  });

  test('that was refused is not tried again', async () => {
    const { read, transport } = connect([refused, balance]);

    const error = await failureOf(read());

    expect(error.failure).toMatchObject({ kind: 'rejected', httpStatus: 422, exchangeCode: 31 });
    expect(error.message).toBe('main-balance: refused with HTTP 422, code 31: No such market');
    expect(transport.sent).toHaveLength(1);
  });

  test('of a path the exchange does not have says so', async () => {
    const { read } = connect([{ kind: 'answered', status: 404, body: '' }]);

    await expect(read()).rejects.toThrow('main-balance: refused with HTTP 404: no such path');
  });

  test('leaves time for another try', async () => {
    const { read, transport } = connect([lostAnswer, balance]);

    await read(10_000);

    expect(transport.sent.map(({ timeoutMs }) => timeoutMs)).toEqual([5000, 4950]);
  });

  test('gives up when the next pause would outlast its time, with every attempt', async () => {
    const { read } = connect([noConnection, noConnection, noConnection, noConnection]);

    const error = await failureOf(read(1000));

    expect(error.code).toBe('exchange_not_sent');
    expect(error.attempts).toEqual([
      { atMs: startMs, failure: noConnection },
      { atMs: startMs + 100, failure: noConnection },
      { atMs: startMs + 300, failure: noConnection },
      { atMs: startMs + 700, failure: noConnection },
    ]);
  });

  test('pauses no longer than five seconds, and not as long as everybody else', async () => {
    const transport = createScriptedTransport([...Array(9).fill(outage), balance]);
    const clock = createManualClock(startMs);
    const client = createExchangeClient({
      address: 'https://exchange.test',
      dialect: 'live',
      credentials: { apiKey: 'key-1', apiSecret: 'secret-1' },
      clock,
      random: () => 0.5,
      transport,
    });

    await client.call(mainBalance, {}, { timeoutMs: 60_000 });

    expect(clock.sleptMs).toEqual([150, 300, 600, 1200, 2400, 3750, 3750, 3750, 3750]);
  });

  test('without any time is not sent', async () => {
    const { read, transport } = connect([balance]);

    const error = await failureOf(read(0));

    expect(error.failure).toEqual({ kind: 'not_sent', reason: 'the time was up before it could be sent' });
    expect(transport.sent).toEqual([]);
  });
});

describe('what several attempts prove together', () => {
  test('stays unknown when an answer was lost and later attempts went nowhere', async () => {
    const { read } = connect([lostAnswer, noConnection, tooMany]);

    const error = await failureOf(read(600));

    expect(error.failure).toEqual({
      kind: 'ambiguous',
      reason: 'the answer was lost; and then: HTTP 429: the exchange takes no more requests for now',
    });
  });

  test('is what the exchange said last', async () => {
    const { read } = connect([lostAnswer, refused]);

    const error = await failureOf(read());

    expect(error.failure.kind).toBe('rejected');
    expect(error.attempts.map(({ failure }) => failure.kind)).toEqual(['ambiguous', 'rejected']);
  });
});

describe('a refused nonce', () => {
  test('is replaced at once, without a pause', async () => {
    const { create, clock, transport } = connect([...Array(5).fill(nonceRefused), placed]);

    await create();

    expect(clock.sleptMs).toEqual([]);
    expect(new Set(transport.sent.map(nonceOf)).size).toBe(6);
  });

  test('is replaced with patience from the sixth on, and told when it does not help', async () => {
    const { create, clock } = connect(Array(8).fill(nonceRefused));

    const error = await failureOf(create(500));

    expect(clock.sleptMs).toEqual([100, 200]);
    expect(error.failure).toMatchObject({ kind: 'rate_limited', reason: expect.stringContaining('nonce') });
  });
});

describe('requests of one key', () => {
  /** Holds every request until it is let go, and notes which are on the wire at once. */
  function createGate() {
    const gates = Array.from({ length: 3 }, () => Promise.withResolvers<WireOutcome>());
    const arrived = Array.from({ length: 3 }, () => Promise.withResolvers<void>());
    const steps = gates.map(({ promise }, index) => async () => {
      arrived[index]?.resolve();
      return await promise;
    });
    return { gates, arrived, steps };
  }

  test('follow one another where nonces must arrive in order', async () => {
    const { gates, arrived, steps } = createGate();
    const { read, transport } = connect(steps, 'documented');
    const calls = [read(), read(), read()];

    const onWire: number[] = [];
    for (const [index, gate] of gates.entries()) {
      await arrived[index]?.promise;
      onWire.push(transport.sent.length);
      gate.resolve(balance);
    }
    await Promise.all(calls);

    expect(onWire).toEqual([1, 2, 3]);
    expect(transport.sent.map(nonceOf)).toEqual(['1594297865000', '1594297865001', '1594297865002']);
  });

  test('go side by side where the order does not matter', async () => {
    const { gates, arrived, steps } = createGate();
    const { read, transport } = connect(steps, 'live');
    const calls = [read(), read(), read()];

    await arrived[2]?.promise;
    const onWire = transport.sent.length;
    for (const gate of gates) gate.resolve(balance);
    await Promise.all(calls);

    expect(onWire).toBe(3);
  });

  test('end as not sent when those before them take all of their time', async () => {
    const { gates, arrived, steps } = createGate();
    const { create, read, transport } = connect(steps, 'documented');
    const first = read();
    await arrived[0]?.promise;

    const error = await failureOf(create(30));
    gates[0]?.resolve(balance);
    await first;

    expect(error.failure.kind).toBe('not_sent');
    expect(transport.sent).toHaveLength(1);
  });

  test('pass the turn on even when one breaks', async () => {
    const broken = () => Promise.reject(new Error('broken transport'));
    const { read } = connect([broken, balance], 'documented');

    await expect(read()).rejects.toThrow('broken transport');

    expect(Object.keys(await read())).toEqual(['BTC']);
  });
});

describe('the rate budget', () => {
  const twoPer10s = { ...ping, requestsPer10s: 2 };
  const pong: WireOutcome = { kind: 'answered', status: 200, body: '["pong"]' };

  test('makes a call wait for its place', async () => {
    const { client, clock } = connect([pong, pong, pong]);

    for (let count = 0; count < 3; count += 1) await client.call(twoPer10s, {}, { timeoutMs: 20_000 });

    expect(clock.sleptMs).toEqual([10_001]);
  });

  test('fails a call at once that would wait beyond its time', async () => {
    const { client, clock, transport } = connect([pong, pong]);
    await client.call(twoPer10s, {});
    await client.call(twoPer10s, {});

    const error = await failureOf(client.call(twoPer10s, {}, { timeoutMs: 10_000 }));

    expect(error.failure).toEqual({
      kind: 'not_sent',
      reason: 'the 2 requests the exchange takes in 10 s are used up for another 10001 ms',
    });
    expect(clock.sleptMs).toEqual([]);
    expect(transport.sent).toHaveLength(2);
  });

  test('is one for all clients that share it, retries included', async () => {
    const clock = createManualClock(startMs);
    const transport = createScriptedTransport([outage, pong, pong]);
    const shared = { address: 'https://exchange.test', dialect: 'live', credentials: null, clock } as const;
    const budgets = createRateBudgets(clock);
    const clients = [1, 2].map(() =>
      createExchangeClient({ ...shared, transport, budgets, random: () => 0 }),
    );

    for (const client of clients) await client.call(twoPer10s, {}, { timeoutMs: 20_000 });

    expect(clock.sleptMs).toEqual([100, 9901]);
  });

  test('lets others of the key pass while it waits', async () => {
    const noFees: WireOutcome = { kind: 'answered', status: 200, body: '[]' };
    const { client, clock, transport } = connect([balance, noFees, balance], 'documented');
    const onePer10s = { ...mainBalance, requestsPer10s: 1 };
    await client.call(onePer10s, {});

    const waiting = client.call(onePer10s, {}, { timeoutMs: 20_000 });
    await client.call(fees, {});
    await waiting;

    expect(transport.sent.map(({ path }) => path)).toEqual([
      '/api/v4/main-account/balance',
      '/api/v4/main-account/fee',
      '/api/v4/main-account/balance',
    ]);
    expect(clock.sleptMs).toEqual([10_001]);
  });
});
