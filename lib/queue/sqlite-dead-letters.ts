import type { Clock } from '../base/clock.ts';
import type { SqliteFile } from '../base/sqlite.ts';
import type { BuriedMessage, DeadLetters } from './dead-letters.ts';
import { migrateQueueTables } from './sqlite-queue.ts';

/** The message counts of an embedded queue, as another process reads them. */
export interface QueueCounts {
  readonly waiting: number;
  readonly deadLetters: number;
  /** Null when nothing waits. */
  readonly oldestSentAtMs: number | null;
}

/**
 * The dead letters of an embedded queue, for a process other than the one that owns the queue. The owner
 * loads the messages that were put back when it next checks the file.
 *
 * @throws RelayError `store_unavailable` when the file was written by a newer release
 */
export function createSqliteDeadLetters(
  file: SqliteFile,
  clock: Clock,
): DeadLetters & { count(): QueueCounts } {
  migrateQueueTables(file);
  const statements = prepareStatements(file);
  return {
    redrive: () =>
      file.write(() => {
        const buried = statements.all.all() as unknown as readonly (BuriedMessage & { seq: number })[];
        for (const { seq, group, body } of buried) {
          statements.insert.run(`redriven.${seq}.${clock.nowMs()}`, group, body, clock.nowMs());
          statements.remove.run(seq);
        }
        return buried.map(({ group, body }) => ({ group, body }));
      }),
    count: () => file.read(() => statements.count.get()) as unknown as QueueCounts,
  };
}

function prepareStatements({ database }: SqliteFile) {
  return {
    all: database.prepare('SELECT seq, group_name AS "group", body FROM dead_letters ORDER BY seq'),
    insert: database.prepare(
      'INSERT INTO messages (deduplication_id, group_name, body, sent_at_ms) VALUES (?, ?, ?, ?)',
    ),
    remove: database.prepare('DELETE FROM dead_letters WHERE seq = ?'),
    count: database.prepare(
      `SELECT (SELECT count(*) FROM messages) AS waiting,
         (SELECT min(sent_at_ms) FROM messages) AS oldestSentAtMs,
         (SELECT count(*) FROM dead_letters) AS deadLetters`,
    ),
  };
}
