import { afterEach, describe, expect, test } from '@jest/globals';
import { RelayError } from '../../lib/base/errors.ts';
import type { SignalMessage } from '../../lib/queue/queue.ts';
import { createQueuedEntrance } from '../../lib/relay/receive/queued-entrance.ts';
import { buyAlert } from '../support/alerts.ts';
import { type Functions, openFunctions } from '../support/functions.ts';
import { override } from '../support/override.ts';

const outOfOrder = new RelayError('store_unavailable', 'the disk is full');

describe('an alert that could not be stored or enqueued', () => {
  let functions: Functions;
  afterEach(() => functions.close());

  /** A queue that fails this often, and then works. */
  function failingQueue(failures: number) {
    const enqueued: SignalMessage[] = [];
    let left = failures;
    return {
      enqueued,
      enqueue: async (message: SignalMessage) => {
        if (left > 0) {
          left -= 1;
          throw outOfOrder;
        }
        enqueued.push(message);
      },
    };
  }

  test('gets a 503 when it was not enqueued, and the resend completes it', async () => {
    const queue = failingQueue(1);
    functions = await openFunctions(({ ledger }) => ({
      ledger: override(ledger, createQueuedEntrance(ledger, queue)),
    }));

    const first = await functions.receive(buyAlert());
    const resent = await functions.receive(buyAlert());

    expect([first.statusCode, resent.statusCode]).toEqual([503, 200]);
    // Its entry is already in the ledger, so the response must not say that it was not stored.
    expect(JSON.parse(first.body)).toMatchObject({
      error: {
        code: 'not_stored',
        message:
          'the alert was not completely stored and queued (the disk is full): send the same bytes again',
      },
    });
    expect(queue.enqueued).toEqual([{ account: 'main', signalId: 'buy-1', market: 'BTC_USDT' }]);
  });

  test('of several signals is continued where it stopped', async () => {
    const queue = failingQueue(1);
    functions = await openFunctions(({ ledger }) => ({
      ledger: override(ledger, createQueuedEntrance(ledger, queue)),
    }));
    const alert = `[${buyAlert({ id: 'a' })},${buyAlert({ id: 'b' })}]`;

    await functions.receive(alert);
    await functions.receive(alert);

    expect(queue.enqueued.map(({ signalId }) => signalId)).toEqual(['a', 'b']);
  });

  test('gets a 503 when the ledger fails', async () => {
    functions = await openFunctions(({ ledger }) => ({
      ledger: override(ledger, {
        accept: async () => {
          throw outOfOrder;
        },
      }),
    }));

    expect(await functions.receive(buyAlert())).toMatchObject({ statusCode: 503 });
  });

  test('gets a 503, and so is sent again, when not even its refusal could be stored', async () => {
    functions = await openFunctions(({ ledger }) => ({
      ledger: override(ledger, {
        refuse: async () => {
          throw outOfOrder;
        },
      }),
    }));

    expect(await functions.receive('no json')).toMatchObject({ statusCode: 503 });
  });

  test('gets a 503 that does not reveal the cause when an unexpected error occurs', async () => {
    functions = await openFunctions(() => ({
      webhookTokens: async () => {
        throw new TypeError('secret internals');
      },
    }));

    const response = await functions.receive(buyAlert());

    expect(response.statusCode).toBe(503);
    expect(response.body).not.toContain('secret internals');
  });
});

describe('the token of an alert', () => {
  const current = 'a-token-of-this-test';

  /** A secret store with one token in its cache and another one as the newest. */
  async function openWithTokens(remembered: string, newest: string) {
    const asked: string[] = [];
    const functions = await openFunctions(() => ({
      async webhookTokens(_, age) {
        asked.push(age);
        return [age === 'newest' ? newest : remembered];
      },
    }));
    return { asked, functions };
  }

  test('is valid as soon as it is the newest, although another one is cached', async () => {
    const { asked, functions } = await openWithTokens('an-outdated-token', current);
    expect(await functions.receive(buyAlert())).toMatchObject({ statusCode: 202 });
    expect(asked).toEqual(['remembered', 'newest']);
    await functions.close();
  });

  test('causes no second read when it is the cached one', async () => {
    const { asked, functions } = await openWithTokens(current, 'another-token');
    expect(await functions.receive(buyAlert())).toMatchObject({ statusCode: 202 });
    expect(asked).toEqual(['remembered']);
    await functions.close();
  });

  test('is refused when it is neither the cached nor the newest one', async () => {
    const { functions } = await openWithTokens('an-outdated-token', 'another-token');
    expect(await functions.receive(buyAlert())).toMatchObject({ statusCode: 401 });
    expect((await functions.ledger.list({ limit: 1 })).entries).toEqual([]);
    await functions.close();
  });
});

describe('an alert of several signals', () => {
  test('is refused as a whole when one of its ids belongs to another alert', async () => {
    const functions = await openFunctions();
    await functions.receive(buyAlert({ id: 'taken' }));

    const response = await functions.receive(
      `[${buyAlert({ id: 'free' })},${buyAlert({ id: 'taken', quantity: '0.5' })}]`,
    );

    expect(response.statusCode).toBe(400);
    expect(await functions.ledger.read({ account: 'main', signalId: 'free' })).toBeNull();
    await functions.close();
  });

  test('is refused when it gives one id to two signals', async () => {
    const functions = await openFunctions();

    const response = await functions.receive(
      `[${buyAlert({ id: 'same' })},${buyAlert({ id: 'same', quantity: '0.5' })}]`,
    );

    expect(response.statusCode).toBe(400);
    await functions.close();
  });

  test('names the stale one', async () => {
    const functions = await openFunctions();
    const old = buyAlert({ id: 'old', time: '2020-01-01T00:00:00Z' });

    const response = await functions.receive(`[${buyAlert()},${old}]`);

    expect(JSON.parse(response.body)).toMatchObject({
      error: { code: 'stale', issues: [{ path: '[1].time' }] },
    });
    await functions.close();
  });
});
