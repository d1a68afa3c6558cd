import { expect, test } from '@jest/globals';
import { openSqlite } from '../../lib/base/sqlite.ts';
import type { WireOutcome, WireRequest } from '../../lib/base/wire.ts';
import { createExchangeClient } from '../../lib/exchange/client.ts';
import { parseConfig } from '../../lib/host/config.ts';
import { createSqliteAccountFacts } from '../../lib/ledger/sqlite-account-facts.ts';
import { createSqliteExecutions } from '../../lib/ledger/sqlite-executions.ts';
import { createSqliteLedger } from '../../lib/ledger/sqlite-ledger.ts';
import { reconcileSignals } from '../../lib/relay/settle/reconcile-signals.ts';
import { orderEntry } from '../ledger/ledger-contract.ts';
import { acceptOne } from '../support/accept-one.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { createScriptedTransport } from '../support/scripted-transport.ts';
import { testConfig } from '../support/world.ts';

const noonMs = 1_767_268_800_000;
const silence = () => undefined;

test('a lookup of many requests to a slow exchange stops at the end of its run, and continues in a later one', async () => {
  const file = openSqlite(':memory:');
  const ledger = createSqliteLedger(file);
  const step = { atMs: noonMs, note: '' };
  for (let number = 1; number <= 25; number += 1) {
    const key = { account: 'main', signalId: `order-${number}` };
    await acceptOne(ledger, orderEntry(key.signalId), null);
    await ledger.start(key, { ...step, status: 'sending' }, null);
    await ledger.move(key, { from: 'sending', step: { ...step, status: 'placed' }, orderOpen: true });
  }
  const all = { account: 'main', signalId: 'all' };
  const cancelAll = { ticker: 'BTCUSDT', market: 'BTC_USDT', timeMs: null, maxLagMs: null };
  const signal = { ...cancelAll, action: 'cancel_all' } as const;
  await acceptOne(ledger, orderEntry('all', { signal, clientOrderId: null }), null);
  await ledger.start(all, { ...step, status: 'sending' }, null);
  await ledger.move(all, { from: 'sending', step: { ...step, status: 'unknown' } });

  const clock = createManualClock(noonMs + 60_000);
  const respondSlowly = async ({ path }: WireRequest): Promise<WireOutcome> => {
    clock.advance(3_000);
    return { kind: 'answered', status: 200, body: path.endsWith('/history') ? '{}' : '[]' };
  };
  const transport = createScriptedTransport(Array(50).fill(respondSlowly));
  const client = createExchangeClient({
    address: 'http://127.0.0.1:9',
    dialect: 'live',
    credentials: { apiKey: 'k', apiSecret: 's' },
    clock,
    transport,
  });
  const run = await reconcileSignals({
    clock,
    log: { info: silence, warn: silence, error: silence },
    alarms: { raise: silence },
    settings: parseConfig(testConfig).settings,
    ledger,
    executions: createSqliteExecutions(file),
    facts: createSqliteAccountFacts(file),
    entrance: ledger,
    isPaperExchange: true,
    queue: { enqueue: async () => undefined },
    exchangeTimeoutMs: 5_000,
    exchangeFor: async () => client,
  });

  // Of its fifty requests, those at 0, 3, … 39 s.
  expect(transport.sent).toHaveLength(14);
  expect(clock.nowMs() - noonMs - 60_000).toBe(42_000);
  expect(run).toMatchObject({ lookedUp: 1, settled: 0 });
  expect((await ledger.read(all))?.lookup).toMatchObject({ count: 1, notFound: 0 });
  file.close();
});
