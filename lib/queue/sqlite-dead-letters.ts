import type { SqliteFile } from '../base/sqlite.ts';
import { migrateLedgerTables } from '../ledger/sqlite-migrations.ts';
import type { BuriedMessage, DeadLetters } from './dead-letters.ts';
import { groupOf, type SignalMessage } from './queue.ts';

/** The signals that wait in an embedded ledger, as another process counts them. */
export interface QueueCounts {
  /** Without the dead letters. */
  readonly waiting: number;
  readonly deadLetters: number;
  /** Null when nothing waits. */
  readonly oldestSentAtMs: number | null;
}

/**
 * The dead letters of an embedded ledger, for a process other than the one that executes its signals. That one delivers
 * what was put back when it next checks the file.
 *
 * @throws RelayError `store_unavailable` when the file was written by a newer release
 */
export function createSqliteDeadLetters(file: SqliteFile): DeadLetters & { count(): QueueCounts } {
  migrateLedgerTables(file);
  const statements = prepareStatements(file);
  return {
    redrive: () =>
      file.write(() => {
        const buried = statements.all.all() as unknown as readonly SignalMessage[];
        statements.putBack.run();
        return buried.map(
          ({ account, signalId, market }): BuriedMessage => ({
            group: groupOf({ account, signalId, market }),
            body: JSON.stringify({ account, signalId, market }),
          }),
        );
      }),
    count: () => file.read(() => statements.count.get()) as unknown as QueueCounts,
  };
}

const isBuried = `status = 'accepted' AND set_aside_at_ms IS NOT NULL`;

function prepareStatements({ database }: SqliteFile) {
  return {
    all: database.prepare(
      `SELECT account, signal_id AS signalId, market FROM entries WHERE ${isBuried} ORDER BY seq`,
    ),
    putBack: database.prepare(`UPDATE entries SET set_aside_at_ms = NULL WHERE ${isBuried}`),
    count: database.prepare(
      `SELECT count(*) FILTER (WHERE set_aside_at_ms IS NULL) AS waiting,
         min(created_at_ms) FILTER (WHERE set_aside_at_ms IS NULL) AS oldestSentAtMs,
         count(*) FILTER (WHERE set_aside_at_ms IS NOT NULL) AS deadLetters
       FROM entries WHERE status = 'accepted' AND market IS NOT NULL`,
    ),
  };
}
