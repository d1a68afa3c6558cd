import { openSqlite } from '../../lib/base/sqlite.ts';
import { createSqliteAccountFacts } from '../../lib/ledger/sqlite-account-facts.ts';
import { createSqliteExecutions } from '../../lib/ledger/sqlite-executions.ts';
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
