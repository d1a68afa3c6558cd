import type { Clock } from '../../lib/base/clock.ts';
import { parseDecimal } from '../../lib/base/decimal.ts';
import { openSqlite, type SqliteFile } from '../../lib/base/sqlite.ts';
import { createTransport } from '../../lib/base/transport.ts';
import type { Transport } from '../../lib/base/wire.ts';
import { createExchangeClient } from '../../lib/exchange/client.ts';
import type { Dialect } from '../../lib/exchange/dialect.ts';
import { parseConfig } from '../../lib/host/config.ts';
import { tellOddities } from '../../lib/host/telling-client.ts';
import { createSqliteAccountFacts } from '../../lib/ledger/sqlite-account-facts.ts';
import { createSqliteExecutions } from '../../lib/ledger/sqlite-executions.ts';
import { createSqliteLedger } from '../../lib/ledger/sqlite-ledger.ts';
import { createSqliteMarketCopies } from '../../lib/ledger/sqlite-market-copies.ts';
import { type Settings, tradedMarkets } from '../../lib/model/settings.ts';
import { type PaperExchange, startPaperExchange } from '../../lib/paper/server/server.ts';
import { createSqliteLine, type SqliteLine } from '../../lib/queue/sqlite-line.ts';
import { createMarketCatalogue } from '../../lib/relay/execute/market-catalogue.ts';
import type { FollowServices } from '../../lib/relay/follow/follow-services.ts';
import { createOverloadWatch } from '../../lib/relay/receive/overload.ts';
import { createRepeatWatch } from '../../lib/relay/receive/repeated-alert.ts';
import type { ExecuteServices, ReceiveServices } from '../../lib/relay/services.ts';
import type { ReconcileServices } from '../../lib/relay/settle/reconcile-signals.ts';
import { type RaisedAlarm, recordAlarms } from './record-alarms.ts';
import { testConfig } from './world.ts';

export type RelayServices = ReceiveServices & ExecuteServices & ReconcileServices & FollowServices;

/** Everything a relay's code runs on: a real store in memory, a real exchange whose price moves by hand, a silent log. */
export interface OpenServices {
  readonly paper: PaperExchange;
  readonly file: SqliteFile;
  readonly services: RelayServices;
  /** The signals that wait in its ledger. */
  readonly line: SqliteLine;
  /** Oldest first. */
  readonly raised: readonly RaisedAlarm[];
  close(): Promise<void>;
}

/** The webhook token of every account. */
export const token = 'a-token-of-this-test';

export async function openServices(options: {
  readonly dialect: Dialect;
  readonly clock: Clock;
  readonly transport?: Transport;
  /** Absent: an empty one. */
  readonly file?: SqliteFile;
  /** Absent: the accounts of the test configuration. */
  readonly settings?: Settings;
}): Promise<OpenServices> {
  const { dialect, clock, transport = createTransport(), file = openSqlite(':memory:') } = options;
  const { settings = parseConfig(testConfig).settings } = options;
  const paper = await startPaperExchange({ port: 0, dialect, clock, walk: false });
  paper.control.setPrice('BTC_USDT', parseDecimal('50000'));
  const credentials = { apiKey: 'paper-key', apiSecret: 'paper-secret' };
  // Pauses before retries come to whole milliseconds, as a real clock's time does.
  const random = () => 0;
  const client = createExchangeClient({ address: paper.url, dialect, credentials, clock, random, transport });
  const copies = createSqliteMarketCopies(file, paper.url);
  const line = createSqliteLine(file, { maxDeliveries: 5, clock });
  const { alarms, raised } = recordAlarms();
  const silence = () => undefined;
  const log = { info: silence, warn: silence, error: silence };
  const timeoutMs = 2_000;
  const facts = createSqliteAccountFacts(file);
  const ledger = createSqliteLedger(file, line);
  const services: RelayServices = {
    clock,
    log,
    alarms,
    settings,
    ledger,
    entrance: ledger,
    executions: createSqliteExecutions(file),
    facts,
    queue: null,
    webhookTokens: async () => [token],
    heldSecrets: async () => [token, credentials.apiSecret],
    overload: createOverloadWatch(),
    repeats: createRepeatWatch('test'),
    markets: createMarketCatalogue({
      client,
      clock,
      log,
      copies,
      traded: tradedMarkets(settings),
      timeoutMs,
    }),
    isPaperExchange: false,
    exchangeTimeoutMs: timeoutMs,
    exchangeFor: tellOddities(async () => client, { clock, alarms, facts }),
    commandOptions: '',
  };
  return {
    paper,
    file,
    services,
    line,
    raised,
    async close() {
      transport.close();
      await paper.close();
      file.close();
    },
  };
}
