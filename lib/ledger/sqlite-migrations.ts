import { migrateTables, readTablesVersion } from '../base/migrate-tables.ts';
import type { SqliteFile } from '../base/sqlite.ts';

/**
 * The ledger's tables, one script per version. Every index costs each order a part of a write, so an index holds only the
 * rows that its queries ask for. `seq` is the order of arrival. `accepted_at_ms` is null for
 * refused alerts and for signals that were stored without a limit, `ordered_at_ms` for cancellations and for signals that were never sent: they count against
 * no limit, and a limit is counted within an index. `look_due_at_ms` is null unless the entry is `unknown`.
 */
export const migrations: readonly string[] = [
  `CREATE TABLE entries (
     seq INTEGER PRIMARY KEY,
     account TEXT NOT NULL,
     signal_id TEXT NOT NULL,
     status TEXT NOT NULL,
     signal TEXT,
     market TEXT,
     client_order_id TEXT,
     fingerprint TEXT NOT NULL,
     created_at_ms INTEGER NOT NULL,
     updated_at_ms INTEGER NOT NULL,
     accepted_at_ms INTEGER,
     ordered_at_ms INTEGER,
     steps TEXT NOT NULL,
     order_id INTEGER,
     order_open INTEGER NOT NULL DEFAULT 0,
     UNIQUE (account, signal_id)
   ) STRICT;
   CREATE INDEX entries_by_time ON entries (created_at_ms);
   CREATE INDEX entries_by_status ON entries (status, created_at_ms);
   CREATE INDEX signals_by_account ON entries (account, accepted_at_ms) WHERE accepted_at_ms IS NOT NULL;
   CREATE INDEX orders_by_account ON entries (account, ordered_at_ms) WHERE ordered_at_ms IS NOT NULL;
   CREATE INDEX open_orders ON entries (account, market, created_at_ms) WHERE order_open = 1;
   CREATE TABLE pauses (
     account TEXT PRIMARY KEY,
     since_ms INTEGER NOT NULL,
     reason TEXT NOT NULL
   ) STRICT, WITHOUT ROWID;`,
  `ALTER TABLE entries ADD COLUMN look TEXT;
   ALTER TABLE entries ADD COLUMN look_due_at_ms INTEGER;
   UPDATE entries SET look_due_at_ms = updated_at_ms, look = json_object('count', 0, 'misses', 0,
     'firstMissAtMs', NULL, 'lastAtMs', NULL, 'dueAtMs', updated_at_ms, 'alarmedAtMs', updated_at_ms, 'finding', NULL)
     WHERE status = 'unknown';
   CREATE INDEX looks_due ON entries (look_due_at_ms) WHERE look_due_at_ms IS NOT NULL;`,
  `CREATE INDEX entries_waiting ON entries (account, market, seq) WHERE status = 'accepted' AND market IS NOT NULL;
   CREATE INDEX entries_by_order ON entries (account, order_id) WHERE order_id IS NOT NULL;
   CREATE INDEX entries_by_account ON entries (account, created_at_ms);
   CREATE INDEX entries_by_account_and_status ON entries (account, status, created_at_ms);`,
  // Earlier releases kept the waiting signals and the dead letters in tables of their own. A signal that is in both was
  // enqueued again after it had become a dead letter.
  `CREATE TABLE IF NOT EXISTS messages (body TEXT NOT NULL);
   CREATE TABLE IF NOT EXISTS dead_letters (body TEXT, died_at_ms INTEGER);
   ALTER TABLE entries ADD COLUMN set_aside_at_ms INTEGER;
   UPDATE entries SET set_aside_at_ms = letters.died_at_ms
     FROM (SELECT json_extract(body, '$.account') AS account, json_extract(body, '$.signalId') AS signal_id, died_at_ms
       FROM dead_letters WHERE json_valid(body) AND body NOT IN (SELECT body FROM messages)) AS letters
     WHERE entries.account = letters.account AND entries.signal_id = letters.signal_id AND entries.status = 'accepted';
   DROP TABLE messages;
   DROP TABLE dead_letters;
   DELETE FROM schema_versions WHERE store = 'queue';
   DROP INDEX signals_by_account;
   DROP INDEX entries_waiting;
   DROP INDEX entries_by_time;
   DROP INDEX entries_by_status;
   DROP INDEX entries_by_account_and_status;
   CREATE INDEX entries_under_way ON entries (status, created_at_ms) WHERE status IN ('accepted', 'sending');
   CREATE INDEX entries_ended_by_account ON entries (account, status, created_at_ms)
     WHERE NOT status IN ('accepted', 'sending');`,
  // `order_open`: 1 while the order may be open, 2 while it has ended and is followed all the same.
  `ALTER TABLE entries ADD COLUMN execution TEXT;
   DROP INDEX open_orders;
   CREATE INDEX followed_orders ON entries (account, market, created_at_ms) WHERE order_open > 0;`,
  // When bytes without id and time arrived last, and the ids of their signals as a JSON array.
  `CREATE TABLE arrivals (
     account TEXT NOT NULL,
     fingerprint TEXT NOT NULL,
     at_ms INTEGER NOT NULL,
     signal_ids TEXT NOT NULL,
     PRIMARY KEY (account, fingerprint)
   ) STRICT, WITHOUT ROWID;`,
  // What a pause stops; null in a pause that an older release made.
  'ALTER TABLE pauses ADD COLUMN kind TEXT;',
  // What alerts said, once for all signals of an alert and for its resends. Nothing that executes a signal reads it.
  `CREATE TABLE received_messages (
     account TEXT NOT NULL,
     fingerprint TEXT NOT NULL,
     text TEXT NOT NULL,
     omitted_bytes INTEGER NOT NULL,
     PRIMARY KEY (account, fingerprint)
   ) STRICT, WITHOUT ROWID;`,
  // 1 for a signal that counts as one that only reduces; null for every other.
  'ALTER TABLE entries ADD COLUMN reduces INTEGER;',
  // For each entry, by its number: a new row is appended. By fingerprint, each one changed another page of the table.
  `ALTER TABLE received_messages RENAME TO messages_by_fingerprint;
   CREATE TABLE received_messages (
     seq INTEGER PRIMARY KEY,
     text TEXT NOT NULL,
     omitted_bytes INTEGER NOT NULL
   ) STRICT;
   INSERT INTO received_messages
     SELECT seq, text, omitted_bytes FROM entries CROSS JOIN messages_by_fingerprint USING (account, fingerprint)
     ORDER BY seq;
   DROP TABLE messages_by_fingerprint;`,
];

/** @throws RelayError `store_unavailable` when the file was written by a newer release */
export function migrateLedgerTables(file: SqliteFile): void {
  migrateTables(file, 'ledger', migrations);
}

/**
 * Whether an older release made the ledger's tables. It may still be running, and need what a migration removes.
 *
 * @throws RelayError `store_unavailable` when the file cannot be read
 */
export function isOlderLedger(file: SqliteFile): boolean {
  const version = file.read(() => readTablesVersion(file.database, 'ledger'));
  return version > 0 && version < migrations.length;
}
