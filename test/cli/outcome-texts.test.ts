import { afterEach, describe, expect, test } from '@jest/globals';
import { describeMeaning } from '../../cli/show/describe-meaning.ts';
import type { Entry } from '../../lib/ledger/entry.ts';
import { acceptOne } from '../support/accept-one.ts';
import { runCli, runForJson } from './run-cli.ts';
import { startRelay } from './running-relay.ts';
import { buySignal, type StoredSignals, startMs, storeSignals } from './stored-signals.ts';

describe('an unknown outcome', () => {
  let stored: StoredSignals;
  afterEach(() => stored.remove());

  /** A signal whose response was lost, and that is looked up next at that time. */
  async function loseResponse(dueAtMs: number, count: number): Promise<string> {
    stored = await storeSignals();
    const key = { account: 'main', signalId: 'lost-1' };
    await acceptOne(
      stored.ledger,
      { ...key, signal: buySignal, clientOrderId: 'tr-8', fingerprint: 'f8', atMs: startMs },
      null,
    );
    await stored.ledger.start(key, { status: 'sending', atMs: startMs, note: 'on its way' }, null);
    const step = { status: 'unknown', atMs: startMs, note: 'the response was lost' } as const;
    await stored.ledger.move(key, { from: 'sending', step, orderOpen: true });
    const lookup = (await stored.ledger.read(key))?.lookup ?? null;
    if (lookup === null) throw new Error('there is no lookup to postpone');
    const finding = count === 0 ? null : 'neither among the open nor the ended orders';
    await stored.ledger.postpone(key, lookup, { ...lookup, count, notFound: count, dueAtMs, finding });
    return (await runCli(['signal', 'lost', '--data', stored.folder.path])).stdout;
  }

  const longAgoMs = 1_000_000_000_000;
  const farAheadMs = 7_258_118_400_000;

  test('whose next lookup is overdue names no time in the past', async () => {
    const stdout = await loseResponse(longAgoMs, 0);
    expect(stdout).toMatch(/^lookups +none yet; due now$/m);
    expect(stdout).not.toContain('next at');
  });

  test('shows when it is looked up next, and the findings so far', async () => {
    expect(await loseResponse(farAheadMs, 2)).toMatch(
      /^lookups +2 times, 2 of them not found; next at 2200-01-01 00:00:00 UTC; last: neither among/m,
    );
  });

  test('names the command that settles it', async () => {
    expect(await loseResponse(farAheadMs, 1)).toMatch(/^what to do +.*npx relay resolve lost-1$/m);
  });
});

describe('a cancellation without effect', () => {
  test.each(['live', 'documented'] as const)(
    'says that nothing was open, in the %s dialect',
    async (dialect) => {
      const relay = await startRelay(dialect);
      await relay.world.post(JSON.stringify({ id: 'stop', ticker: 'BTCUSDT', action: 'cancel', orderId: 5 }));
      await relay.world.settled('stop');

      const document = await runForJson(relay.here('signal', 'stop'));
      const { stdout } = await runCli(relay.here('signal', 'stop'));
      await relay.world.close();

      const meaning = 'without effect: the order was no longer open';
      expect(document).toMatchObject({ status: 'rejected', meaning });
      expect(stdout).toContain(meaning);
      expect(stdout).not.toContain('may still be open');
    },
  );

  const rejected: Entry = {
    account: 'main',
    signalId: 'stop',
    status: 'rejected',
    signal: {
      action: 'cancel',
      ticker: 'BTCUSDT',
      market: 'BTC_USDT',
      timeMs: null,
      maxLagMs: null,
      target: { by: 'orderId', orderId: 5 },
    },
    clientOrderId: null,
    fingerprint: 'f',
    createdAtMs: 1,
    updatedAtMs: 2,
    steps: [{ status: 'rejected', atMs: 2, note: 'no', facts: {} }],
    orderId: null,
    orderOpen: false,
    lookup: null,
    execution: null,
  };

  test('warns that the order may be open if nothing proves otherwise', () => {
    expect(describeMeaning(rejected)).toBe('without effect: the order may still be open');
    expect(describeMeaning({ ...rejected, steps: [] })).toContain('may still be open');
  });

  test('knows what a lookup proved', () => {
    const steps = [
      { status: 'rejected', atMs: 2, note: 'it was executed', facts: { wasGone: true } } as const,
    ];
    expect(describeMeaning({ ...rejected, steps })).toContain('was no longer open');
  });

  test('is described differently from a refused order', () => {
    expect(describeMeaning({ ...rejected, signal: buySignal })).toBe(
      'the exchange refused it: there is no order',
    );
  });
});
