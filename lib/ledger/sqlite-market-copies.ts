import { migrateTables } from '../base/migrate-tables.ts';
import type { SqliteFile } from '../base/sqlite.ts';
import { formatCopy, type MarketCopies, parseCopy } from './market-copies.ts';

/** One row: the copy that was saved last. */
export const marketCopiesMigrations: readonly string[] = [
  `CREATE TABLE market_copies (
     place INTEGER PRIMARY KEY CHECK (place = 1),
     copy TEXT NOT NULL
   ) STRICT;`,
];

/**
 * The stored copy of the market list on SQLite.
 *
 * @param exchange the address of the exchange that the list comes from
 * @throws RelayError `store_unavailable` when the file was written by a newer release
 */
export function createSqliteMarketCopies(file: SqliteFile, exchange: string): MarketCopies {
  migrateTables(file, 'market-copies', marketCopiesMigrations);
  const select = file.database.prepare('SELECT copy FROM market_copies WHERE place = 1');
  const replace = file.database.prepare('INSERT OR REPLACE INTO market_copies VALUES (1, ?)');
  return {
    async load() {
      const row = file.read(() => select.get());
      return row === undefined ? null : parseCopy(exchange, String(row['copy']));
    },
    async save(copy) {
      const text = formatCopy(exchange, copy);
      await file.write(() => replace.run(text));
    },
  };
}
