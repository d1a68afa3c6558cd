import { openSqlite, type SqliteFile } from '../../lib/base/sqlite.ts';
import { parseSignalMessage } from '../../lib/queue/parse-message.ts';
import { createSqliteDeadLetters } from '../../lib/queue/sqlite-dead-letters.ts';
import type { SqliteQueue } from '../../lib/queue/sqlite-queue.ts';
import { keyText } from './history.ts';
import type { Process, Stage } from './process.ts';

const mostDeadLetters = 1000;

/** Notes that the signals of dead letters are out of order: after a redrive they may be executed late. */
export async function noteDeadLetters({ history }: Stage, queue: SqliteQueue): Promise<void> {
  for (const { body } of await queue.deadLetters(mostDeadLetters))
    history.outOfTurn.set(keyText(parseSignalMessage(body)), 'dead letter');
}

/** Redrives dead letters over another connection to the same database, as the operator's tool does. */
export async function redriveFromOutside(operator: Process, path: string): Promise<number> {
  const file: SqliteFile = openSqlite(path);
  try {
    const redriven = await createSqliteDeadLetters(file, operator.clock).redrive();
    if (redriven.length > 0) operator.note(`redrives ${redriven.length}`, 'operator: redrive');
    return redriven.length;
  } finally {
    file.close();
  }
}
