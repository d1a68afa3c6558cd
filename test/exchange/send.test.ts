import { describe, expect, test } from '@jest/globals';
import { createExchangeClient } from '../../lib/exchange/client.ts';
import { mainBalance } from '../../lib/exchange/endpoints/main-balance.ts';
import { stopLimit } from '../../lib/exchange/endpoints/stop-limit.ts';
import { wasTurnedAway } from '../../lib/exchange/errors.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { createScriptedTransport } from '../support/scripted-transport.ts';
import {
  balance,
  connect,
  failureOf,
  lostResponse,
  noConnection,
  nonceOf,
  nonceRefused,
  order,
  outage,
  placed,
  refused,
  startMs,
  tooMany,
} from './scripted-exchange.ts';

describe('a create', () => {
  test.each([
    ['the response was lost', lostResponse],
    ['a gateway failed', outage],
    ['the response is incomplete', { kind: 'answered', status: 200, body: '{"orderId":7}' } as const],
  ])('is never sent again after %s', async (_, outcome) => {
    const { transport, create } = connect([outcome, placed]);

    const error = await failureOf(create());

    expect(error.failure.kind).toBe('ambiguous');
    expect(error.code).toBe('exchange_ambiguous');
    expect(transport.sent).toHaveLength(1);
  });

  test('is signed and sent again after it was provably not sent', async () => {
    const { transport, create, clock } = connect([noConnection, noConnection, placed]);

    const result = await create();

    expect(result.orderId).toBe(7);
    expect(clock.sleptMs).toEqual([100, 200]);
    expect(transport.sent.map(nonceOf)).toEqual([startMs + 500, startMs + 600, startMs + 800]);
    expect(new Set(transport.sent.map(({ headers }) => headers['X-TXC-SIGNATURE'])).size).toBe(3);
  });

  test.each([
    ['a refused nonce', nonceRefused],
    ['a rate limit', tooMany],
  ])('is never sent again after HTTP 429 (%s): it may have been taken all the same', async (_, outcome) => {
    const { transport, create, clock } = connect([outcome, placed]);

    const error = await failureOf(create());

    expect(error.failure).toMatchObject({ kind: 'ambiguous', reason: expect.stringContaining('HTTP 429') });
    expect(wasTurnedAway(error)).toBe(true);
    expect(clock.sleptMs).toEqual([]);
    expect(transport.sent).toHaveLength(1);
  });

  test('is not tried again when another worker has taken over from the caller', async () => {
    const { transport, client } = connect([noConnection, placed]);
    const call = client.call(stopLimit, order, { timeoutMs: 10_000, isStillOwn: async () => false });

    const error = await failureOf(call);

    expect(error.failure.kind).toBe('not_sent');
    expect(transport.sent).toHaveLength(1);
  });

  test('is not sent again after the first ambiguous response', async () => {
    const { transport, create } = connect([noConnection, lostResponse, placed]);

    const error = await failureOf(create());

    expect(error.attempts.map(({ failure }) => failure.kind)).toEqual(['not_sent', 'ambiguous']);
    expect(transport.sent).toHaveLength(2);
  });

  test('starts no attempt at or after the time `notAfterMs`', async () => {
    const { transport, client } = connect([noConnection, noConnection, placed]);

    const call = client.call(stopLimit, order, { timeoutMs: 10_000, notAfterMs: startMs + 300 });

    expect((await failureOf(call)).attempts.map(({ atMs }) => atMs)).toEqual([startMs, startMs + 100]);
    expect(transport.sent).toHaveLength(2);
  });

  test('ends by the time `endByMs`, although its timeout is later', async () => {
    const { transport, client } = connect([lostResponse]);

    const call = client.call(stopLimit, order, { timeoutMs: 10_000, endByMs: startMs + 4000 });

    expect((await failureOf(call)).failure.kind).toBe('ambiguous');
    expect(transport.sent.map(({ timeoutMs }) => timeoutMs)).toEqual([4000]);
  });

  test('is not sent when the time `endByMs` has passed', async () => {
    const { transport, client } = connect([placed]);

    const call = client.call(stopLimit, order, { timeoutMs: 10_000, endByMs: startMs });

    expect((await failureOf(call)).failure).toEqual({
      kind: 'not_sent',
      reason: 'the time was up before it could be sent',
    });
    expect(transport.sent).toEqual([]);
  });

  test('is not sent when no time is left for its response', async () => {
    const slowRefusal = async () => {
      clock.advance(8999);
      return noConnection;
    };
    const { transport, create, clock } = connect([slowRefusal, noConnection, placed]);

    const error = await failureOf(create(10_000));

    // The pause of 100 ms ends with 901 ms left.
    expect(error.failure).toEqual(noConnection);
    expect(transport.sent).toHaveLength(1);
  });

  test('keeps a quarter of a short time for the response', async () => {
    const { transport, create } = connect([noConnection, noConnection, placed]);

    const error = await failureOf(create(400));

    // The third attempt would have started at 300 ms.
    expect(error.failure).toEqual(noConnection);
    expect(transport.sent).toHaveLength(2);
  });

  test('that waits for a connection gives up while there is time for a response', async () => {
    const { transport, create } = connect(Array(5).fill(noConnection));

    await failureOf(create(2500));

    // 625 ms are reserved for the response.
    expect(transport.sent.map(({ connectTimeoutMs }) => connectTimeoutMs)).toEqual([
      1875, 1775, 1575, 1175, 375,
    ]);
  });

  test('waits for its response for all of the time that is left', async () => {
    const { transport, create } = connect([noConnection, placed]);

    await create(10_000);

    expect(transport.sent.map(({ timeoutMs }) => timeoutMs)).toEqual([10_000, 9900]);
  });

  test('that was prepared once can be sent by one call only, whatever the outcome', async () => {
    const { transport, client } = connect([lostResponse, placed]);
    const request = client.prepare(stopLimit, order);
    await failureOf(request.send());

    await expect(request.send()).rejects.toMatchObject({ code: 'exchange_request_invalid' });
    expect(transport.sent).toHaveLength(1);
  });
});

describe('a read', () => {
  test('is tried again after every failure but a refusal, with growing pauses', async () => {
    const { read, clock } = connect([noConnection, lostResponse, outage, outage, balance]);

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

  test('is tried again after an empty 404, which proves nothing', async () => {
    const { read, transport } = connect([{ kind: 'answered', status: 404, body: '' }, balance]);

    await read();

    expect(transport.sent).toHaveLength(2);
  });

  test('that the exchange does not know twice is not tried again', async () => {
    const nowhere = { kind: 'answered', status: 404, body: '' } as const;
    const { read, transport } = connect([nowhere, nowhere, balance]);

    await failureOf(read());

    expect(transport.sent).toHaveLength(2);
  });

  test.each([
    [451, 'Unavailable'],
    [403, '<html>Access denied</html>'],
  ])('that is refused by place (HTTP %i) is not tried again', async (status, body) => {
    const { read, transport } = connect([{ kind: 'answered', status, body }, balance]);

    const error = await failureOf(read());

    expect(error.message).toContain('run the relay where the exchange may be used');
    expect(transport.sent).toHaveLength(1);
  });

  test('leaves time for another attempt', async () => {
    const { read, transport } = connect([lostResponse, balance]);

    await read(10_000);

    expect(transport.sent.map(({ timeoutMs }) => timeoutMs)).toEqual([5000, 4950]);
  });

  test('takes no longer when the clock is set back by an hour in between', async () => {
    const setBack = async () => {
      clock.advance(-3_600_000);
      return lostResponse;
    };
    const { clock, read, transport } = connect([setBack, balance]);

    await read(10_000);

    expect(transport.sent.map(({ timeoutMs }) => timeoutMs)).toEqual([5000, 5000]);
  });

  test('fails with every attempt when the next pause would exceed its timeout', async () => {
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

  test('pauses for at most five seconds, with jitter', async () => {
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

  test('backs off from one second to thirty while the exchange accepts no more requests', async () => {
    const transport = createScriptedTransport([...Array(7).fill(tooMany), balance]);
    const clock = createManualClock(startMs);
    const client = createExchangeClient({
      address: 'https://exchange.test',
      dialect: 'live',
      credentials: { apiKey: 'key-1', apiSecret: 'secret-1' },
      clock,
      random: () => 0.5,
      transport,
    });

    await client.call(mainBalance, {}, { timeoutMs: 300_000 });

    expect(clock.sleptMs).toEqual([1250, 2500, 5000, 10_000, 20_000, 30_000, 30_000]);
  });

  test('with a timeout of zero is not sent', async () => {
    const { read, transport } = connect([balance]);

    const error = await failureOf(read(0));

    expect(error.failure).toEqual({ kind: 'not_sent', reason: 'the time was up before it could be sent' });
    expect(transport.sent).toEqual([]);
  });
});

describe('what several attempts prove together', () => {
  test('is ambiguous when a response was lost and later attempts were not processed', async () => {
    const { read } = connect([lostResponse, noConnection, tooMany]);

    const error = await failureOf(read(1300));

    expect(error.failure).toEqual({
      kind: 'ambiguous',
      reason: 'the response was lost; and then: HTTP 429: the exchange accepts no more requests for now',
    });
  });

  test('is the last refusal of the exchange', async () => {
    const { read } = connect([lostResponse, refused]);

    const error = await failureOf(read());

    expect(error.failure.kind).toBe('rejected');
    expect(error.attempts.map(({ failure }) => failure.kind)).toEqual(['ambiguous', 'rejected']);
  });
});

describe('a refused nonce', () => {
  test('is replaced at once, without a pause', async () => {
    const { read, clock, transport } = connect([...Array(5).fill(nonceRefused), balance]);

    await read();

    expect(clock.sleptMs).toEqual([]);
    expect(new Set(transport.sent.map(nonceOf)).size).toBe(6);
  });

  test('is replaced after a pause from the sixth on, and reported when that does not help', async () => {
    const { read, clock } = connect(Array(8).fill(nonceRefused));

    const error = await failureOf(read(500));

    expect(clock.sleptMs).toEqual([100, 200]);
    expect(error.failure).toMatchObject({ kind: 'rate_limited', reason: expect.stringContaining('nonce') });
  });
});
