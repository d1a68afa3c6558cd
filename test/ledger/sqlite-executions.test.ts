import { expect, test } from '@jest/globals';
import { migrateTables } from '../../lib/base/migrate-tables.ts';
import { openSqlite } from '../../lib/base/sqlite.ts';
import { createSqliteAccountFacts } from '../../lib/ledger/sqlite-account-facts.ts';
import { createSqliteExecutions, executionsMigrations } from '../../lib/ledger/sqlite-executions.ts';
import { createSqliteLedger } from '../../lib/ledger/sqlite-ledger.ts';
import { describeAccountFacts } from './account-facts-contract.ts';
import { describeExecutions } from './executions-contract.ts';

describeExecutions('executions in SQLite', async () => {
  const file = openSqlite(':memory:');
  return {
    ledger: createSqliteLedger(file),
    executions: createSqliteExecutions(file),
    close: async () => file.close(),
  };
});

describeAccountFacts('facts of an account in SQLite', async () => {
  const file = openSqlite(':memory:');
  return { facts: createSqliteAccountFacts(file), close: async () => file.close() };
});

test('fills that were stored by deal alone are kept', async () => {
  const file = openSqlite(':memory:');
  migrateTables(file, 'executions', executionsMigrations.slice(0, 1));
  const fill = { market: 'BTC_USDT', dealId: 7, orderId: 42 };
  file.database.exec(
    `INSERT INTO fills VALUES ('main', 'BTC_USDT', 7, 1000, 'buy-1', '${JSON.stringify(fill)}')`,
  );

  const executions = createSqliteExecutions(file);

  const query = { account: 'main', fromMs: 0, untilMs: 2000, limit: 5 };
  expect(await executions.listFills(query)).toEqual({ fills: [fill], next: null });
  file.close();
});
