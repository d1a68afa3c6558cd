/**
 * The tables as releases before this one made them, word for word: what is in use out there must be upgraded in place.
 * A script is added here with the release that changes the tables, and never changes.
 */
export const ledgerScripts: readonly string[] = [
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
];

export const queueScripts: readonly string[] = [
  `CREATE TABLE messages (
     position INTEGER PRIMARY KEY,
     deduplication_id TEXT NOT NULL UNIQUE,
     group_name TEXT NOT NULL,
     body TEXT NOT NULL,
     sent_at_ms INTEGER NOT NULL,
     failed_count INTEGER NOT NULL DEFAULT 0
   ) STRICT;
   CREATE TABLE dead_letters (
     seq INTEGER PRIMARY KEY,
     group_name TEXT NOT NULL,
     body TEXT NOT NULL,
     receive_count INTEGER NOT NULL,
     sent_at_ms INTEGER NOT NULL,
     died_at_ms INTEGER NOT NULL
   ) STRICT;`,
];
