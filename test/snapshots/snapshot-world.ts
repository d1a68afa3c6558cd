import { systemClock } from '../../lib/base/clock.ts';
import type { LogFacts } from '../../lib/base/log.ts';
import { openSqlite } from '../../lib/base/sqlite.ts';
import type { ExchangeClient } from '../../lib/exchange/client.ts';
import type { Dialect } from '../../lib/exchange/dialect.ts';
import { createExchangeClients } from '../../lib/host/exchange-clients.ts';
import { type PaperExchange, startPaperExchange } from '../../lib/paper/server/server.ts';
import type { ImportServices } from '../../lib/snapshots/import-interest.ts';
import type { SnapshotStore } from '../../lib/snapshots/snapshot-store.ts';
import { createSqliteSnapshots } from '../../lib/snapshots/sqlite-snapshots.ts';
import type { LoggedLine } from '../support/listening-log.ts';
import { override } from '../support/override.ts';
import { type RaisedAlarm, recordAlarms } from '../support/record-alarms.ts';

/**
 * The services of the snapshot jobs: a paper exchange over
 * HTTP, a store in memory, keys that a test may change.
 */
export interface SnapshotWorld {
  readonly paper: PaperExchange;
  readonly store: SnapshotStore;
  readonly services: ImportServices;
  readonly logged: LoggedLine[];
  readonly raised: readonly RaisedAlarm[];
  /** Account → name of the endpoint → how often it was called. */
  callsOf(account: string, endpoint: string): number;
  /** Runs before each request that is sent. */
  beforeCall: (endpoint: string) => void;
  setKey(account: string, apiKey: string, apiSecret: string): void;
  close(): Promise<void>;
}

const partnerKey = { apiKey: 'paper-key', apiSecret: 'paper-secret' };
const customerKey = { apiKey: 'paper-key-2', apiSecret: 'paper-secret-2' };

export async function openSnapshotWorld(dialect: Dialect = 'live'): Promise<SnapshotWorld> {
  const paper = await startPaperExchange({ port: 0, dialect, walk: false });
  const file = openSqlite(':memory:');
  const store = createSqliteSnapshots(file);
  const keys = new Map([
    ['main', partnerKey],
    ['second', customerKey],
  ]);
  const secrets = {
    webhookTokens: async () => [],
    exchangeKeys: async (account: string) => keys.get(account) ?? null,
  };
  const clients = createExchangeClients({ address: paper.url, dialect, secrets, clock: systemClock });
  const calls: string[] = [];
  const logged: LoggedLine[] = [];
  const { alarms, raised } = recordAlarms();
  const writer = (level: LoggedLine['level']) => (message: string, facts: LogFacts) =>
    void logged.push({ level, message, facts });

  function watch(account: string, client: ExchangeClient): ExchangeClient {
    return override(client, {
      call(endpoint, params, options) {
        calls.push(`${account} ${endpoint.name}`);
        world.beforeCall(endpoint.name);
        return client.call(endpoint, params, options);
      },
    });
  }

  const world: SnapshotWorld = {
    paper,
    store,
    logged,
    raised,
    services: {
      clock: systemClock,
      log: { info: writer('info'), warn: writer('warn'), error: writer('error') },
      alarms,
      accounts: ['main', 'second'],
      store,
      exchangeTimeoutMs: 5_000,
      exchangeFor: async (account) => watch(account, await clients.forAccount(account)),
      keyNameOf: clients.keyNameOf,
      isPaperExchange: false,
    },
    callsOf: (account, endpoint) => calls.filter((call) => call === `${account} ${endpoint}`).length,
    beforeCall: () => undefined,
    setKey: (account, apiKey, apiSecret) => void keys.set(account, { apiKey, apiSecret }),
    async close() {
      clients.close();
      await paper.close();
      file.close();
    },
  };
  return world;
}
