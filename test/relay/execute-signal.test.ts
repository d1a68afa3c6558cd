import { afterEach, describe, expect, test } from '@jest/globals';
import { systemClock } from '../../lib/base/clock.ts';
import { RelayError } from '../../lib/base/errors.ts';
import type { Entry } from '../../lib/ledger/entry.ts';
import type { Account } from '../../lib/model/account.ts';
import { findAccount } from '../../lib/model/settings.ts';
import { beginToCount } from '../../lib/relay/execute/begin-to-count.ts';
import { executeSignal } from '../../lib/relay/execute/execute-signal.ts';
import { buyAlert } from '../support/alerts.ts';
import { type Functions, openFunctions } from '../support/functions.ts';
import { override } from '../support/override.ts';
import { recordAlarms } from '../support/record-alarms.ts';

const key = { account: 'main', signalId: 'buy-1', market: 'BTC_USDT' };

describe('executing a stored signal', () => {
  let functions: Functions;
  afterEach(() => functions.close());

  async function entry(): Promise<Entry> {
    const found = await functions.ledger.read(key);
    if (found === null) throw new Error('the signal was not stored');
    return found;
  }
  const orderCount = () => functions.paper.control.state().orders.length;

  test('a second delivery of an executed signal does nothing', async () => {
    functions = await openFunctions();
    await functions.receive(buyAlert());

    await functions.execute('buy-1');
    const again = await functions.execute('buy-1');

    expect(again).toEqual({ batchItemFailures: [] });
    expect((await entry()).steps.map(({ status }) => status)).toEqual(['accepted', 'sending', 'placed']);
    expect(orderCount()).toBe(1);
  });

  test('a delivery that finds "sending" never sends: the outcome is unknown', async () => {
    functions = await openFunctions();
    await functions.receive(buyAlert());
    await functions.ledger.start(key, { status: 'sending', atMs: 1, note: 'a worker that died here' }, null);

    await functions.execute('buy-1');

    expect(await entry()).toMatchObject({ status: 'unknown', orderOpen: true });
    expect(orderCount()).toBe(0);
  });

  test('two workers with the same signal send it once', async () => {
    functions = await openFunctions();
    await functions.receive(buyAlert());

    await Promise.all(Array.from({ length: 10 }, () => functions.execute('buy-1')));

    expect(orderCount()).toBe(1);
    expect(await entry()).toMatchObject({ status: 'placed' });
  });

  test('a worker that was wrongly taken for dead stores the outcome that it knows', async () => {
    functions = await openFunctions(({ exchangeFor }) => ({
      exchangeFor: async (account) => {
        const client = await exchangeFor(account);
        return override(client, {
          prepare: (endpoint, params) => {
            const request = client.prepare(endpoint, params);
            return {
              ...request,
              send: async (options) => {
                await functions.execute('buy-1');
                return await request.send(options);
              },
            };
          },
        });
      },
    }));
    await functions.receive(buyAlert());

    await functions.execute('buy-1');

    expect((await entry()).steps.map(({ status }) => status)).toEqual([
      'accepted',
      'sending',
      'unknown',
      'placed',
    ]);
    expect(orderCount()).toBe(1);
  });

  describe('of an account in paper mode', () => {
    const paperMode = ({ settings }: Functions['services'], isPaperExchange: boolean) => ({
      isPaperExchange,
      settings: {
        ...settings,
        accounts: { main: { ...(settings.accounts['main'] as Account), mode: 'paper' as const } },
      },
    });

    test('places its order on a paper exchange', async () => {
      functions = await openFunctions((services) => paperMode(services, true));
      await functions.receive(buyAlert());

      await functions.execute('buy-1');

      expect(await entry()).toMatchObject({ status: 'placed' });
      expect(orderCount()).toBe(1);
    });

    test('sends nothing where there is no paper exchange, and says so', async () => {
      functions = await openFunctions((services) => paperMode(services, false));
      await functions.receive(buyAlert());

      await functions.execute('buy-1');

      const { status, steps } = await entry();
      expect(status).toBe('dry_run');
      expect(steps.at(-1)).toMatchObject({
        note: "the account is in paper mode and this relay has no paper exchange (to trade real money, set the account's mode to 'live' in relay.config.ts, then deploy or start again): nothing was sent; these requests would have been sent",
        evidence: { requests: [{ path: '/api/v4/order/collateral/stop-limit' }] },
      });
      expect(orderCount()).toBe(0);
    });

    test('sends no cancellation either where there is no paper exchange', async () => {
      functions = await openFunctions((services) => paperMode(services, false));
      await functions.receive(
        JSON.stringify({ id: 'buy-1', ticker: 'BTCUSDT', action: 'cancel', clientOrderId: 'mine' }),
      );

      await functions.execute('buy-1');

      const { status, steps } = await entry();
      expect(status).toBe('dry_run');
      expect(steps.at(-1)?.evidence).toMatchObject({ requests: [{ path: '/api/v4/order/cancel' }] });
    });
  });

  test('a cancellation that is only rehearsed is an alarm while an order of before is open', async () => {
    const { alarms, raised } = recordAlarms();
    let mode: 'live' | 'paper' = 'live';
    functions = await openFunctions((services) => ({
      alarms,
      settings: {
        ...services.settings,
        accounts: {
          main: {
            ...(services.settings.accounts['main'] as Account),
            get mode() {
              return mode;
            },
          },
        },
      },
    }));
    await functions.receive(buyAlert());
    await functions.execute('buy-1');
    mode = 'paper';
    await functions.receive(JSON.stringify({ id: 'all', ticker: 'BTCUSDT', action: 'cancel_all' }));

    await functions.execute('all');

    const all = await functions.ledger.read({ account: 'main', signalId: 'all' });
    expect(all?.status).toBe('dry_run');
    expect(raised).toEqual([
      { name: 'orders_left_open', account: 'main', market: 'BTC_USDT', signalId: 'all' },
    ]);
    expect(orderCount()).toBe(1);
  });

  test('a signal that becomes stale in the queue is denied', async () => {
    let lateMs = 0;
    const clock = { nowMs: () => Date.now() + lateMs, sleep: systemClock.sleep };
    functions = await openFunctions(undefined, clock);
    await functions.receive(buyAlert({ time: new Date().toISOString(), maxLag: 30 }));

    lateMs = 31_000;
    await functions.execute('buy-1');

    expect(await entry()).toMatchObject({ status: 'denied' });
    expect(orderCount()).toBe(0);
  });

  test('a signal without a time is denied once it has waited longer than an alert may be old', async () => {
    let lateMs = 0;
    const clock = { nowMs: () => Date.now() + lateMs, sleep: systemClock.sleep };
    functions = await openFunctions(undefined, clock);
    await functions.receive(buyAlert());

    lateMs = 61_000;
    await functions.execute('buy-1');

    expect((await entry()).steps.at(-1)).toMatchObject({
      status: 'denied',
      evidence: { rule: 'stale', limit: '60 s' },
    });
    expect(orderCount()).toBe(0);
  });

  test('a signal that becomes stale while it is prepared is denied just before it would be sent', async () => {
    let lateMs = 0;
    const clock = { nowMs: () => Date.now() + lateMs, sleep: systemClock.sleep };
    functions = await openFunctions(
      ({ exchangeFor }) => ({
        exchangeFor: async (account) => {
          lateMs = 31_000;
          return await exchangeFor(account);
        },
      }),
      clock,
    );
    await functions.receive(buyAlert({ time: new Date().toISOString(), maxLag: 30 }));

    await functions.execute('buy-1');

    expect((await entry()).steps.map(({ status }) => status)).toEqual(['accepted', 'denied']);
    expect(orderCount()).toBe(0);
  });

  test('a retry does not send a signal that became stale while the exchange was busy', async () => {
    let lateMs = 0;
    const clock = {
      nowMs: () => Date.now() + lateMs,
      sleep: async (durationMs: number) => {
        lateMs += Math.ceil(durationMs);
      },
    };
    let hasBegun = false;
    functions = await openFunctions(
      ({ exchangeFor }) => ({
        exchangeTimeoutMs: 60_000,
        exchangeFor: async (account) => {
          // The market list has been read by now.
          if (hasBegun) functions.paper.control.addFault({ fault: 'down', durationMs: 60_000 });
          return await exchangeFor(account);
        },
      }),
      clock,
    );
    const account = findAccount(functions.services.settings, 'main');
    if (account === null) throw new Error('there is no account "main"');
    await beginToCount(functions.services, account, clock.nowMs());
    hasBegun = true;
    await functions.receive(buyAlert({ time: new Date().toISOString(), maxLag: 2 }));

    await functions.execute('buy-1');

    const { status, steps } = await entry();
    expect(status).toBe('not_sent');
    // Pauses double from 0.1 s at least: a minute would hold many more attempts than two seconds do.
    const { attempts } = (steps.at(-1)?.evidence ?? {}) as { attempts: unknown[] };
    expect(attempts.length).toBeGreaterThan(1);
    expect(attempts.length).toBeLessThan(6);
  });

  test('without a stored key nothing is sent, and the entry says what to do', async () => {
    functions = await openFunctions(() => ({
      exchangeFor: async () => {
        throw new RelayError('secrets_missing', 'account main has no exchange key stored');
      },
    }));
    await functions.receive(buyAlert());

    await functions.execute('buy-1');

    const { status, steps } = await entry();
    expect(status).toBe('not_sent');
    expect(steps.at(-1)?.evidence).toMatchObject({ code: 'secrets_missing' });
  });

  test('without the rules of its market nothing is sent', async () => {
    functions = await openFunctions();
    await functions.receive(buyAlert());
    functions.paper.control.addFault({ fault: 'error_before', endpoint: 'markets', probability: 1 });

    await functions.execute('buy-1');

    expect(await entry()).toMatchObject({ status: 'not_sent' });
  });

  test('a market the exchange does not list is denied', async () => {
    functions = await openFunctions(() => ({ markets: { find: async () => null } }));
    await functions.receive(buyAlert());

    await functions.execute('buy-1');

    expect((await entry()).steps.at(-1)?.evidence).toMatchObject({
      rule: 'unknown_market',
      actual: 'BTC_USDT',
    });
  });

  test('a signal of an account that was removed from the configuration is denied', async () => {
    functions = await openFunctions();
    await functions.receive(buyAlert());

    const settings = { ...functions.services.settings, accounts: {} };
    const status = await executeSignal({ ...functions.services, settings }, key);

    expect(status).toBe('denied');
  });

  test('when the ledger fails before sending, the message is delivered again and the order is sent then', async () => {
    let failures = 1;
    functions = await openFunctions(({ ledger }) => ({
      ledger: override(ledger, {
        start: (...args) => {
          failures -= 1;
          if (failures >= 0) throw new RelayError('store_unavailable', 'the disk is full');
          return ledger.start(...args);
        },
      }),
    }));
    await functions.receive(buyAlert());

    expect(await functions.execute('buy-1')).toEqual({ batchItemFailures: [{ itemIdentifier: 'buy-1' }] });
    expect(await functions.execute('buy-1')).toEqual({ batchItemFailures: [] });
    expect(await entry()).toMatchObject({ status: 'placed' });
  });

  /** A ledger that fails to store outcomes this often, and then works. */
  async function openWithFailingMoves(failures: number): Promise<Functions> {
    let left = failures;
    const clock = { nowMs: () => Date.now(), sleep: async () => undefined };
    return await openFunctions(
      ({ ledger }) => ({
        ledger: override(ledger, {
          move: (...args) => {
            left -= 1;
            if (left >= 0) throw new RelayError('store_unavailable', 'the disk is full');
            return ledger.move(...args);
          },
        }),
      }),
      clock,
    );
  }

  test('when the ledger is busy after sending, the outcome is stored as soon as possible', async () => {
    functions = await openWithFailingMoves(3);
    await functions.receive(buyAlert());

    await functions.execute('buy-1');

    expect((await entry()).steps.map(({ status }) => status)).toEqual(['accepted', 'sending', 'placed']);
    expect(orderCount()).toBe(1);
  });

  test('when the ledger keeps failing, the message is delivered again and nothing is sent twice', async () => {
    functions = await openWithFailingMoves(4);
    await functions.receive(buyAlert());

    expect(await functions.execute('buy-1')).toEqual({ batchItemFailures: [{ itemIdentifier: 'buy-1' }] });
    await functions.execute('buy-1');

    expect(await entry()).toMatchObject({ status: 'unknown' });
    expect(orderCount()).toBe(1);
  });

  test('the alarm about an unknown outcome is raised even when the response to the ledger write is lost', async () => {
    let isLost = false;
    const { alarms, raised } = recordAlarms();
    functions = await openFunctions(({ ledger }) => ({
      alarms,
      ledger: override(ledger, {
        move: async (...args) => {
          const moved = await ledger.move(...args);
          if (isLost) return moved;
          isLost = true;
          throw new RelayError('store_unavailable', 'the response was lost');
        },
      }),
    }));
    await functions.receive(buyAlert());
    functions.paper.control.addFault({ fault: 'drop_after', endpoint: 'stop-limit' });

    await functions.execute('buy-1');

    expect(await entry()).toMatchObject({ status: 'unknown' });
    expect(raised).toMatchObject([{ name: 'outcome_unknown', signalId: 'buy-1' }]);
  });

  test('an outcome that arrives after the signal was settled with another one is an alarm', async () => {
    const { alarms, raised } = recordAlarms();
    functions = await openFunctions(({ ledger, exchangeFor }) => ({
      alarms,
      exchangeFor: async (account) => {
        const client = await exchangeFor(account);
        return override(client, {
          prepare: (endpoint, params) => {
            const request = client.prepare(endpoint, params);
            return {
              ...request,
              send: async (options) => {
                const step = { atMs: 1, note: 'by an operator who took it for dead' };
                await ledger.move(key, { from: 'sending', step: { ...step, status: 'unknown' } });
                await ledger.move(key, { from: 'unknown', step: { ...step, status: 'not_placed' } });
                return await request.send(options);
              },
            };
          },
        });
      },
    }));
    await functions.receive(buyAlert());

    await functions.execute('buy-1');

    expect(await entry()).toMatchObject({ status: 'not_placed' });
    expect(raised).toMatchObject([
      { name: 'outcome_contradicted', settledAs: 'not_placed', status: 'placed', orderId: 10_000_000_001 },
    ]);
  });

  test('a message without a ledger entry is released, to become a dead letter', async () => {
    functions = await openFunctions();

    expect(await functions.execute('never-stored')).toEqual({
      batchItemFailures: [{ itemIdentifier: 'never-stored' }],
    });
  });
});
