import { openSqlite } from '../../lib/base/sqlite.ts';
import type { EntryKey } from '../../lib/ledger/entry.ts';
import { createSqliteDeadLetters } from '../../lib/queue/sqlite-dead-letters.ts';
import { keyText } from './history.ts';
import type { Process, Stage } from './process.ts';

/** Notes that the signal of a dead letter is out of order: after a redrive it may be executed late. */
export function noteDeadLetter({ history }: Stage, key: EntryKey): void {
  history.outOfTurn.set(keyText(key), 'dead letter');
  if (history.waited.get(keyText(key)) === true) history.deadByWaiting.push(key);
}

/** Redrives dead letters over another connection to the same database, as the operator's tool does. */
export async function redriveFromOutside(operator: Process, path: string): Promise<number> {
  // Committed before the next event of the simulated world: an open transaction locks the tables of a database in memory.
  const file = openSqlite(path, { scheduleFlush: queueMicrotask });
  try {
    const redriven = await createSqliteDeadLetters(file).redrive();
    noteRedrive(operator, redriven.length);
    return redriven.length;
  } finally {
    file.close();
  }
}

export function noteRedrive(operator: Process, count: number): void {
  if (count > 0) operator.note(`redrives ${count}`, 'operator: redrive');
}
