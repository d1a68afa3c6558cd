import { DatabaseSync } from 'node:sqlite';

/** How far apart the copied signals are: three million of them are three years. */
const spacingMs = 32_000;

/**
 * Fills a ledger with copies of the ended signals that a relay has stored in it. Each copy is a signal of its own, with
 * ids, fingerprint and times of its own. The columns and indexes are those of the file, whatever release wrote it.
 *
 * @param databasePath of a relay that does not run
 * @param count how many signals the ledger has afterwards
 */
export function fillLedger(databasePath: string, count: number): void {
  const database = new DatabaseSync(databasePath);
  // A file that is lost in a crash is made anew, so nothing is flushed.
  database.exec(
    'PRAGMA journal_mode = DELETE; PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -1000000;',
  );
  const indexes = database
    .prepare(
      "SELECT name, sql FROM sqlite_master WHERE type = 'index' AND tbl_name = 'entries' AND sql IS NOT NULL",
    )
    .all() as unknown as readonly { readonly name: string; readonly sql: string }[];
  // Indexes made at once over all rows are much quicker than row by row.
  for (const { name } of indexes) database.exec(`DROP INDEX ${name}`);
  copyEnded(database, count, Date.now() - spacingMs * 3_100_000);
  for (const { sql } of indexes) database.exec(sql);
  database.exec('PRAGMA journal_mode = WAL');
  database.close();
}

/** @param startMs the time of the first copy */
export function copyEnded(database: DatabaseSync, count: number, startMs: number): void {
  database.exec(`CREATE TEMP TABLE templates AS
    SELECT * FROM entries WHERE status NOT IN ('accepted', 'sending', 'unknown') ORDER BY seq LIMIT 1000`);
  const { templates, stored } = database
    .prepare('SELECT (SELECT count(*) FROM templates) AS templates, (SELECT count(*) FROM entries) AS stored')
    .get() as unknown as { readonly templates: number; readonly stored: number };
  database.prepare(copyStatement(database)).run({ first: stored, last: count - 1, templates, startMs });
}

/** What a copied column holds; `n` is the number of the copy. Other columns are copied as they are. */
const ownValues: Readonly<Record<string, string>> = {
  signal_id: "printf('s%08d', n)",
  client_order_id: "iif(client_order_id IS NULL, NULL, printf('tr-%029d', n))",
  fingerprint: 'lower(hex(randomblob(32)))',
  order_id: 'iif(order_id IS NULL, NULL, 1000000000 + n)',
  order_open: '0',
};

function copyStatement(database: DatabaseSync): string {
  const columns = database
    .prepare("SELECT name FROM pragma_table_info('entries') WHERE name <> 'seq'")
    .all()
    .map(({ name }) => String(name));
  const values = columns.map((name) =>
    name.endsWith('_at_ms')
      ? `${name} - updated_at_ms + :startMs + n * ${spacingMs}`
      : (ownValues[name] ?? name),
  );
  return `WITH RECURSIVE numbers (n) AS (SELECT :first UNION ALL SELECT n + 1 FROM numbers WHERE n < :last)
    INSERT INTO entries (${columns.join(', ')})
    SELECT ${values.join(', ')} FROM numbers JOIN templates ON templates.rowid = n % :templates + 1`;
}
