import { writeSync } from 'node:fs';
import { systemClock } from '../../lib/base/clock.ts';
import { openSqlite } from '../../lib/base/sqlite.ts';
import { createSqliteLedger } from '../../lib/ledger/sqlite-ledger.ts';
import { parseSignalMessage } from '../../lib/queue/parse-message.ts';
import { createSqliteQueue } from '../../lib/queue/sqlite-queue.ts';
import { messagesOf } from '../../lib/relay/message-of.ts';

/**
 * Runs only the storage part of a relay until it is killed: some lanes store
 * alerts of three signals, others execute them and remove their messages. It
 * prints each step to standard output as soon as the step is acknowledged.
 */
const file = openSqlite(process.argv[2] ?? '');
const queue = createSqliteQueue(file, { clock: systemClock, maxReceives: 5 });
const ledger = createSqliteLedger(file, (entries) => queue.stage(messagesOf(entries)));
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
    await queue.waitForWork();
    for (const { body, receipt } of await queue.receive(1)) {
      const message = parseSignalMessage(body);
      const atMs = systemClock.nowMs();
      await ledger.start(message, { status: 'sending', atMs, note: '' }, null);
      tell('sending', message.signalId);
      await ledger.move(message, { from: 'sending', step: { status: 'placed', atMs, note: '' } });
      tell('placed', message.signalId);
      tell('removing', message.signalId);
      await queue.remove([receipt]);
      tell('removed', message.signalId);
    }
  }
}

await Promise.all([storeForever(), storeForever(), storeForever(), executeForever(), executeForever()]);
