import { threadId } from 'node:worker_threads';
import { createSqliteFile, openSqlite, type SqliteFile } from '../../lib/base/sqlite.ts';
import type { Dialect } from '../../lib/exchange/dialect.ts';
import { createSqliteAccountFacts } from '../../lib/ledger/sqlite-account-facts.ts';
import { createSqliteExecutions } from '../../lib/ledger/sqlite-executions.ts';
import { createSqliteLedger } from '../../lib/ledger/sqlite-ledger.ts';
import { createSqliteMarketCopies } from '../../lib/ledger/sqlite-market-copies.ts';
import type { Settings } from '../../lib/model/settings.ts';
import { createSimulatedExchange } from './exchange.ts';
import type { Outages } from './faults.ts';
import type { Mutation } from './mutation.ts';
import { fillSecrets } from './operator.ts';
import type { Stage } from './process.ts';
import { exchangeAddress, type LocalFlush, type SimulatedWorld, settingsIn } from './simulated-world.ts';

let databaseCount = 0;

/** Creates a new simulated world. Its database must be closed with `file.close()`. */
export function openSimulatedWorld(
  stage: Stage,
  outages: Outages,
  dialect: Dialect,
  mutation: Mutation = {},
  ownSettings: (settings: Settings) => Settings = (usual) => usual,
): SimulatedWorld {
  databaseCount += 1;
  // In memory, but with a name, so that a second connection can play another process.
  const name = `simulation-${process.pid}-${threadId}-${databaseCount}`;
  const databasePath = `file:${name}?mode=memory&cache=shared`;
  const localFlush: LocalFlush = { run: null };
  const { database } = openSqlite(databasePath);
  // Committed before the next event of the simulated world.
  const file = waitingFor(localFlush, createSqliteFile(database, { scheduleFlush: queueMicrotask }));
  const own = ownSettings(settingsIn(dialect));
  const world: SimulatedWorld = {
    stage,
    dialect,
    settings: mutation.settings?.(own) ?? own,
    databasePath,
    file,
    localFlush,
    ledger: createSqliteLedger(file),
    executions: createSqliteExecutions(file),
    facts: createSqliteAccountFacts(file),
    copies: createSqliteMarketCopies(file, exchangeAddress),
    exchange: createSimulatedExchange(dialect),
    outages,
    secrets: { tokens: new Map(), keys: new Map() },
    mutation,
  };
  fillSecrets(world);
  return world;
}

/** Both use one connection, because connections to one database in memory cannot wait for each other. */
function waitingFor(flush: LocalFlush, file: SqliteFile): SqliteFile {
  return {
    database: file.database,
    execute(operation) {
      flush.run?.();
      return file.execute(operation);
    },
    insist(operation, committed) {
      flush.run?.();
      file.insist(operation, committed);
    },
    write(operation) {
      flush.run?.();
      return file.write(operation);
    },
    read: (query) => file.read(query),
    readDurable(query) {
      flush.run?.();
      return file.readDurable(query);
    },
    flushed() {
      flush.run?.();
      return file.flushed();
    },
    close() {
      flush.run?.();
      file.close();
    },
  };
}
