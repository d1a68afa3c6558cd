import { type Json, parseOwnJson } from '../base/json.ts';
import { migrateTables } from '../base/migrate-tables.ts';
import type { SqliteFile } from '../base/sqlite.ts';
import type { AllAccountFacts, ContestedFacts, FactName } from './account-facts.ts';

export const accountFactsMigrations: readonly string[] = [
  `CREATE TABLE account_facts (
     account TEXT NOT NULL,
     name TEXT NOT NULL,
     fact TEXT NOT NULL,
     PRIMARY KEY (account, name)
   ) STRICT, WITHOUT ROWID;`,
];

/** @throws RelayError `store_unavailable` when the file was written by a newer release */
export function createSqliteAccountFacts(file: SqliteFile): AllAccountFacts & ContestedFacts {
  migrateTables(file, 'account-facts', accountFactsMigrations);
  const select = file.database.prepare('SELECT fact FROM account_facts WHERE account = ? AND name = ?');
  const replace = file.database.prepare('INSERT OR REPLACE INTO account_facts VALUES (?, ?, ?)');
  const insert = file.database.prepare('INSERT OR IGNORE INTO account_facts VALUES (?, ?, ?)');
  const update = file.database.prepare(
    'UPDATE account_facts SET fact = ? WHERE account = ? AND name = ? AND fact = ?',
  );
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
    async replace(account, name, fact, was) {
      const text = JSON.stringify(fact);
      const { changes } = await file.write(() =>
        was === null ? insert.run(account, name, text) : update.run(text, account, name, JSON.stringify(was)),
      );
      return changes === 1;
    },
  };
}
