import { writeSync } from 'node:fs';
import { systemClock } from '../../lib/base/clock.ts';
import { openSqlite } from '../../lib/base/sqlite.ts';
import { createSqliteLedger } from '../../lib/ledger/sqlite-ledger.ts';
import { createSqliteLine } from '../../lib/queue/sqlite-line.ts';

/**
 * Runs only the storage part of a relay until it is killed: some lanes store
 * alerts of three signals, others execute them as soon as they are in line, which is before they are durable. It
 * prints each step to standard output as soon as the step is acknowledged.
 */
const file = openSqlite(process.argv[2] ?? '');
const line = createSqliteLine(file, { clock: systemClock, maxDeliveries: 5 });
const ledger = createSqliteLedger(file, line);
let count = 0;

function tell(what: string, signalId: string): void {
  writeSync(1, `${what} ${signalId}\n`);
}

async function storeForever(): Promise<void> {
  for (;;) {
    count += 1;
    const ids = [0, 1, 2].map((index) => `s-${count}-${index}`);
    const market = `M${count % 5}_USDT`;
    const signal = { action: 'cancel_all', ticker: 'X', market, timeMs: null, maxLagMs: null } as const;
    const atMs = systemClock.nowMs();
    const rest = { account: 'main', signal, fingerprint: 'f', atMs };
    const alert = ids.map((signalId) => ({ ...rest, signalId, clientOrderId: `r-${signalId}` }));
    await ledger.accept(alert, null);
    for (const signalId of ids) tell('stored', signalId);
  }
}

async function executeForever(): Promise<void> {
  for (;;) {
    await line.waitForWork();
    const delivery = line.take();
    if (delivery === null) continue;
    const { key } = delivery;
    const atMs = systemClock.nowMs();
    tell('starting', key.signalId);
    await ledger.start(key, { status: 'sending', atMs, note: '' }, null);
    tell('sending', key.signalId);
    await ledger.move(key, { from: 'sending', step: { status: 'placed', atMs, note: '' } });
    tell('placed', key.signalId);
    line.finish(delivery);
  }
}

await Promise.all([storeForever(), storeForever(), storeForever(), executeForever(), executeForever()]);
