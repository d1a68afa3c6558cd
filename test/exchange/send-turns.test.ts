import { describe, expect, test } from '@jest/globals';
import type { WireOutcome } from '../../lib/base/wire.ts';
import { createExchangeClient } from '../../lib/exchange/client.ts';
import { fees } from '../../lib/exchange/endpoints/fees.ts';
import { mainBalance } from '../../lib/exchange/endpoints/main-balance.ts';
import { ping } from '../../lib/exchange/endpoints/ping.ts';
import { createRateBudgets } from '../../lib/exchange/rate-limit.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { createScriptedTransport } from '../support/scripted-transport.ts';
import { balance, connect, failureOf, nonceOf, outage, startMs } from './scripted-exchange.ts';

describe('requests of one key', () => {
  /** Holds every request until it is released, and records which are in flight at the same time. */
  function createGate() {
    const gates = Array.from({ length: 3 }, () => Promise.withResolvers<WireOutcome>());
    const arrived = Array.from({ length: 3 }, () => Promise.withResolvers<void>());
    const steps = gates.map(({ promise }, index) => async () => {
      arrived[index]?.resolve();
      return await promise;
    });
    return { gates, arrived, steps };
  }

  test('are sent one after another where nonces must arrive in order', async () => {
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

  test('are sent in parallel where the order does not matter', async () => {
    const { gates, arrived, steps } = createGate();
    const { read, transport } = connect(steps, 'live');
    const calls = [read(), read(), read()];

    await arrived[2]?.promise;
    const onWire = transport.sent.length;
    for (const gate of gates) gate.resolve(balance);
    await Promise.all(calls);

    expect(onWire).toBe(3);
  });

  test('end as not sent when earlier requests use up their time', async () => {
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

  test('are not sent when their turn comes too late, and give the turn to the next', async () => {
    const { gates, arrived, steps } = createGate();
    const { create, read, clock, transport } = connect(steps, 'documented');
    const first = read(60_000);
    await arrived[0]?.promise;
    const late = failureOf(create(10_000));
    const patient = read(60_000);

    clock.advance(10_000);
    gates[0]?.resolve(balance);
    gates[1]?.resolve(balance);
    await Promise.all([first, patient]);

    expect((await late).failure.kind).toBe('not_sent');
    expect(transport.sent.map(({ path }) => path)).toEqual(Array(2).fill('/api/v4/main-account/balance'));
  });

  test('give the turn to the next even after an exception', async () => {
    const broken = () => Promise.reject(new Error('broken transport'));
    const { read } = connect([broken, balance], 'documented');

    await expect(read()).rejects.toThrow('broken transport');

    expect(Object.keys(await read())).toEqual(['BTC']);
  });
});

describe('the rate budget', () => {
  const twoPer10s = { ...ping, requestsPer10s: 2 };
  const pong: WireOutcome = { kind: 'answered', status: 200, body: '["pong"]' };

  test('makes a call wait until it may be sent', async () => {
    const { client, clock } = connect([pong, pong, pong]);

    for (let count = 0; count < 3; count += 1) await client.call(twoPer10s, {}, { timeoutMs: 20_000 });

    expect(clock.sleptMs).toEqual([10_001]);
  });

  test('fails a call at once if it would have to wait longer than its timeout', async () => {
    const { client, clock, transport } = connect([pong, pong]);
    await client.call(twoPer10s, {});
    await client.call(twoPer10s, {});

    const error = await failureOf(client.call(twoPer10s, {}, { timeoutMs: 10_000 }));

    expect(error.failure).toEqual({
      kind: 'not_sent',
      reason: 'the limit of 2 requests in 10 s is used up for another 10001 ms',
    });
    expect(clock.sleptMs).toEqual([]);
    expect(transport.sent).toHaveLength(2);
  });

  test('counts the requests and retries of all clients that share it', async () => {
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

  test('does not block other requests of the key while one waits', async () => {
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
