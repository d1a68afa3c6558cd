import { type Json, parseOwnJson } from '../base/json.ts';
import { migrateTables } from '../base/migrate-tables.ts';
import type { SqliteFile } from '../base/sqlite.ts';
import type { AllAccountFacts, FactName } from './account-facts.ts';

export const accountFactsMigrations: readonly string[] = [
  `CREATE TABLE account_facts (
     account TEXT NOT NULL,
     name TEXT NOT NULL,
     fact TEXT NOT NULL,
     PRIMARY KEY (account, name)
   ) STRICT, WITHOUT ROWID;`,
];

/** @throws RelayError `store_unavailable` when the file was written by a newer release */
export function createSqliteAccountFacts(file: SqliteFile): AllAccountFacts {
  migrateTables(file, 'account-facts', accountFactsMigrations);
  const select = file.database.prepare('SELECT fact FROM account_facts WHERE account = ? AND name = ?');
  const replace = file.database.prepare('INSERT OR REPLACE INTO account_facts VALUES (?, ?, ?)');
  const read = (account: string, name: FactName): Json => {
    const row = file.read(() => select.get(account, name));
    return row === undefined ? null : parseOwnJson(String(row['fact']));
  };
  return {
    read: async (account, name) => read(account, name),
    readOfAll: async (accounts, name) => accounts.map((account) => read(account, name)),
    async write(account, name, fact) {
      const text = JSON.stringify(fact);
      await file.write(() => replace.run(account, name, text));
    },
  };
}
