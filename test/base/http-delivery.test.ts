import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { systemClock } from '../../lib/base/clock.ts';
import { Delivery } from '../../lib/base/http-delivery.ts';
import type { WireRequest } from '../../lib/base/wire.ts';

const request: WireRequest = {
  baseUrl: 'https://exchange.example',
  method: 'GET',
  path: '/',
  headers: {},
  body: null,
  connectTimeoutMs: 3000,
  timeoutMs: 10_000,
};

function deliver(change: Partial<WireRequest> = {}): Delivery {
  return new Delivery({ ...request, ...change }, 'GET / HTTP/1.1\r\n\r\n', 'latin1', systemClock);
}

test('a request has the time to connect until it is written, and then the time to respond', () => {
  const delivery = deliver();
  const dueToConnectMs = delivery.dueMs;
  delivery.markWritten();

  expect(delivery.dueMs - dueToConnectMs).toBeCloseTo(7000);
});

test('a request has no longer to connect than to respond', () => {
  const delivery = deliver({ timeoutMs: 500 });
  const dueToConnectMs = delivery.dueMs;
  delivery.markWritten();

  expect(delivery.dueMs).toBe(dueToConnectMs);
});

test.each([
  [
    false,
    { kind: 'not_sent', reason: 'no connection to https://exchange.example: no connection within 3000 ms' },
  ],
  [
    true,
    {
      kind: 'ambiguous',
      reason: 'the response was lost after the request was written: no response within 10000 ms',
    },
  ],
])('a request whose time is up (written: %s) ends as what is proven', async (isWritten, outcome) => {
  const delivery = deliver();
  delivery.holder = { abandon: (abandoned, reason) => abandoned.fail(reason) };
  if (isWritten) delivery.markWritten();

  delivery.expire();

  expect(await delivery.outcome).toEqual(outcome);
});

describe('the timer', () => {
  beforeEach(() => {
    jest.useFakeTimers({ doNotFake: ['performance', 'nextTick', 'queueMicrotask', 'setImmediate'] });
  });

  afterEach(() => {
    jest.useRealTimers();
  });

  test('ends a request that is never written when the time to connect is up', () => {
    const reasons: string[] = [];
    const delivery = deliver();
    delivery.holder = { abandon: (_, reason) => reasons.push(reason) };
    delivery.startTimer();

    jest.advanceTimersByTime(3001);

    expect(reasons).toEqual(['no connection within 3000 ms']);
  });

  test('gives a request that is written meanwhile the time to respond', () => {
    const reasons: string[] = [];
    const delivery = deliver();
    delivery.holder = { abandon: (_, reason) => reasons.push(reason) };
    delivery.startTimer();
    delivery.markWritten();

    jest.advanceTimersByTime(3001);
    const afterConnectTime = [...reasons];
    jest.advanceTimersByTime(7000);

    expect([afterConnectTime, reasons]).toEqual([[], ['no response within 10000 ms']]);
  });

  test('does not outlive the request', () => {
    const ended = deliver();
    ended.startTimer();
    ended.fail('ECONNREFUSED');
    const endedBefore = deliver();
    endedBefore.fail('ECONNREFUSED');
    endedBefore.startTimer();

    expect(jest.getTimerCount()).toBe(0);
  });
});
