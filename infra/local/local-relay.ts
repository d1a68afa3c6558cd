import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { createLogAlarms } from '../../lib/base/alarms.ts';
import type { Clock } from '../../lib/base/clock.ts';
import { describeError } from '../../lib/base/describe-error.ts';
import { RelayError } from '../../lib/base/errors.ts';
import type { Log } from '../../lib/base/log.ts';
import { openSqlite, type SqliteFile } from '../../lib/base/sqlite.ts';
import type { Dialect } from '../../lib/exchange/dialect.ts';
import type { SnapshotSettings } from '../../lib/host/config.ts';
import type { DataFolder } from '../../lib/host/data-folder.ts';
import { createExchangeClients } from '../../lib/host/exchange-clients.ts';
import { createFileSecrets } from '../../lib/host/file-secrets.ts';
import { createPlainWebhook, createRefusal, type HttpResponse } from '../../lib/host/plain-webhook.ts';
import { createSchedule } from '../../lib/host/schedule.ts';
import { tellOddities } from '../../lib/host/telling-client.ts';
import { readVersion } from '../../lib/host/version.ts';
import { readRestoredAt } from '../../lib/ledger/account-facts.ts';
import { type AccountPause, readPauses } from '../../lib/ledger/pauses.ts';
import { createSqliteAccountFacts } from '../../lib/ledger/sqlite-account-facts.ts';
import { findClientOrderIds } from '../../lib/ledger/sqlite-client-orders.ts';
import { createSqliteExecutions } from '../../lib/ledger/sqlite-executions.ts';
import { createSqliteLedger } from '../../lib/ledger/sqlite-ledger.ts';
import { createSqliteMarketCopies } from '../../lib/ledger/sqlite-market-copies.ts';
import { type Settings, tradedMarkets } from '../../lib/model/settings.ts';
import { noteAlarms, openNoticeOutbox } from '../../lib/notices/notice-outbox.ts';
import { defaultLevels, type NoticeSettings } from '../../lib/notices/notice-settings.ts';
import { createSqliteLine, type SqliteLine } from '../../lib/queue/sqlite-line.ts';
import { executeSignal } from '../../lib/relay/execute/execute-signal.ts';
import { createMarketCatalogue } from '../../lib/relay/execute/market-catalogue.ts';
import { createFollower, type Follower } from '../../lib/relay/follow/follow-orders.ts';
import { createLostProtection } from '../../lib/relay/protect/lost-protection.ts';
import { createOverloadWatch } from '../../lib/relay/receive/overload.ts';
import { receiveSignal } from '../../lib/relay/receive/receive-signal.ts';
import { createRepeatWatch } from '../../lib/relay/receive/repeated-alert.ts';
import { runMinute } from '../../lib/relay/settle/run-minute.ts';
import { createSentBefore } from '../../lib/relay/settle/sent-before.ts';
import { raiseUnknownOnce } from '../../lib/relay/settle/unknown-once.ts';
import { createSqliteSnapshots } from '../../lib/snapshots/sqlite-snapshots.ts';
import { watchExchange } from '../../lib/watch/watch-exchange.ts';
import {
  createSecondRelayWatch,
  type SecondRelayServices,
  type SecondRelayWatch,
} from '../../lib/watch/watch-second-relay.ts';
import { createHealth } from './health.ts';
import { startHttpServer } from './http-server.ts';
import { startMinuteLoop } from './minute-loop.ts';
import { describeUntold, localNotices, startNoticeLoop } from './notice-loop.ts';
import { createReceivingWatch } from './receiving.ts';
import { tellRemovedAccounts } from './removed-accounts.ts';
import { startScheduleLoop } from './schedule-loop.ts';
import type { SenderCheck } from './senders.ts';
import { createSnapshotJobs } from './snapshot-jobs.ts';
import { createStrayNotes } from './stray-alerts.ts';
import { tellExecutions } from './tell-executions.ts';
import { startWorkerLoop } from './worker-loop.ts';

/** All functions of the relay in one process, behind an HTTP server and an embedded database. */
export interface LocalRelay {
  readonly url: string;
  /** Runs the reconciler now instead of with the next minute. */
  reconcile(): Promise<void>;
  /** Reads what became of the placed orders now instead of with the next turn. */
  follow(): Promise<void>;
  /** Looks now, instead of with the next minute, whether another relay trades on the same accounts. */
  lookForOthers(): Promise<void>;
  /** Whether alerts are stored and executed, as `GET /ready` says. */
  isReady(): Promise<boolean>;
  /** Why no alert can be taken; null: alerts can be taken. */
  findObstacle(): Promise<string | null>;
  /** Tells now what the ledger noted instead of with the next turn. */
  tell(): Promise<void>;
  /** The accounts that are paused. */
  listPaused(): Promise<readonly AccountPause[]>;
  /** Accepts no more alerts, finishes the work in progress, and closes the database. */
  close(): Promise<void>;
}

/** After this many deliveries without success a signal becomes a dead letter, as on AWS. */
const maxDeliveries = 5;
/** How often the relay reads what became of placed orders, while any is followed. */
const followEveryMs = 3_000;
/** No request of such a reading starts later than this after it began. */
const longestFollowMs = 30_000;
/** How often the line is checked for what another process changed, as `redrive` does. */
const changesCheckMs = 500;

/** How often the relay looks whether it can take alerts, also while nobody sends any or asks. */
const lookEveryMs = 10_000;

const noNotices: NoticeSettings = {
  channels: [],
  levels: defaultLevels,
  accounts: {},
  heartbeatAt: '08:00',
  timeZone: 'Etc/UTC',
};

/**
 * Starts the relay. The caller must hold the folder's lock.
 *
 * @throws Error when the port is taken, RelayError `store_unavailable` when the database cannot be used
 */
export async function startLocalRelay(options: {
  readonly port: number;
  /** The address to listen on; absent: 127.0.0.1. */
  readonly host?: string;
  /** Who may post alerts; absent: whoever reaches the port. */
  readonly senders?: SenderCheck;
  readonly folder: DataFolder;
  readonly settings: Settings;
  readonly exchange: {
    readonly address: string;
    readonly dialect: Dialect;
    /** Whether it is a paper exchange. Accounts in paper mode place orders only there. */
    readonly isPaper: boolean;
  };
  /** How long one request to the exchange may take, retries included. */
  readonly exchangeTimeoutMs: number;
  /** The options with which a command finds this relay; absent: none are needed. */
  readonly commandOptions?: string;
  /** Absent: three seconds. */
  readonly followEveryMs?: number;
  /** Absent: no snapshots are taken. */
  readonly snapshots?: SnapshotSettings;
  /** Absent: nobody is told of anything. */
  readonly notices?: NoticeSettings;
  /** Absent: three seconds. */
  readonly tellEveryMs?: number;
  readonly clock: Clock;
  readonly log: Log;
}): Promise<LocalRelay> {
  const { folder, settings, clock, log } = options;
  const file = openSqlite(folder.databasePath);
  const notices = localNotices(options.notices ?? noNotices);
  const untold = describeUntold(notices, settings.accounts, options.exchange.isPaper);
  if (untold !== null) log.warn(untold, {});
  const outbox = await openNoticeOutbox(file, notices.channels);
  const logAlarms = createLogAlarms(log);
  const noted = notices.channels.length === 0 ? logAlarms : noteAlarms(logAlarms, outbox, clock, log);
  const alarms = raiseUnknownOnce(noted, clock);
  const secrets = createFileSecrets(folder.secretsPath, clock);
  const clients = createExchangeClients({ ...options.exchange, secrets, clock });
  const line = createSqliteLine(file, {
    maxDeliveries,
    clock,
    onDeadLetter: ({ group }) =>
      alarms.raise(
        {
          name: 'signal_dead_lettered',
          message:
            'a signal could not be handled and is in the dead-letter queue; correct the cause, then run `redrive`',
        },
        { group },
      ),
  });
  const ledger = createSqliteLedger(file, line);
  const shared = { clock, log, alarms, settings, ledger };
  const records = { executions: createSqliteExecutions(file), facts: createSqliteAccountFacts(file) };
  const exchangeFor = tellOddities(clients.forAccount, { ...shared, ...records });

  const receiving = {
    ...shared,
    webhookTokens: secrets.webhookTokens,
    heldSecrets: secrets.heldSecrets,
    overload: createOverloadWatch(),
    repeats: createRepeatWatch(randomUUID()),
  };
  const watch = createReceivingWatch({
    file,
    databasePath: folder.databasePath,
    readSecrets: () => secrets.webhookTokens('', 'newest'),
    clock,
    alarms,
  });
  const webhook = createPlainWebhook(log, async (request) => {
    try {
      watch.checkPlace();
      return await receiveSignal(receiving, request);
    } catch (error) {
      if (!isOfAlert(error)) void watch.watch();
      throw error;
    }
  });
  const markets = createMarketCatalogue({
    client: clients.anonymous,
    clock,
    log,
    copies: createSqliteMarketCopies(file, options.exchange.address),
    traded: tradedMarkets(settings),
    timeoutMs: options.exchangeTimeoutMs,
  });
  const trading = {
    ...shared,
    ...records,
    // The ledger itself is the line of waiting signals.
    entrance: ledger,
    markets,
    isPaperExchange: options.exchange.isPaper,
    exchangeFor,
    exchangeTimeoutMs: options.exchangeTimeoutMs,
  };
  const accounts = Object.keys(settings.accounts);
  const restoredAtMs = await readRestoredAt(trading.facts, accounts);
  // In the other dialect the lists have no names of orders.
  const isNamed = options.exchange.dialect === 'live';
  const lostProtection = isNamed ? createLostProtection(trading, restoredAtMs) : undefined;
  const settleSentBefore = createSentBefore(trading, restoredAtMs);
  const executing = { ...trading, settleSentBefore, lostProtection };
  const reconcileServices = {
    ...shared,
    ...records,
    executions: tellExecutions(records.executions, shared),
    queue: null,
    entrance: ledger,
    isPaperExchange: options.exchange.isPaper,
    exchangeFor,
    exchangeTimeoutMs: options.exchangeTimeoutMs,
    commandOptions: options.commandOptions ?? '',
    lostProtection,
  };
  const runReconciler = createSchedule('reconcile-signals', log, async () => {
    const startedAtMs = clock.nowMs();
    await Promise.all([runMinute(reconcileServices, null), watchExchange(reconcileServices, startedAtMs)]);
  });
  const follower = createFollower(reconcileServices);

  const jobs = createSnapshotJobs(options.snapshots ?? null, {
    clock,
    log,
    alarms,
    accounts,
    store: createSqliteSnapshots(file),
    exchangeFor: clients.forAccount,
    exchangeTimeoutMs: options.exchangeTimeoutMs,
    keyNameOf: clients.keyNameOf,
    isPaperExchange: options.exchange.isPaper,
  });

  function closeStores(): void {
    clients.close();
    file.close();
  }

  const others = options.exchange.isPaper
    ? null
    : watchOthers(options, { ...shared, facts: records.facts, exchangeFor, file });

  const health = createHealth({
    receiving: watch,
    version: readVersion(),
    trades: options.exchange.isPaper ? 'paper' : 'live',
    listHeld: () => others?.listHeld() ?? [],
  });

  async function open() {
    tellRemovedAccounts(file, settings, alarms);
    if (line.length > 0)
      log.warn('the previous run left signals unfinished; they are taken up now', { signals: line.length });
    return await startHttpServer(options.port, webhook, {
      host: options.host ?? '127.0.0.1',
      answers: { '/health': health.respond, '/ready': health.respondReady },
      tellStray: createStrayNotes(clock, log),
      admit: (request) => refuseSender(options.senders, request, log),
    });
  }

  const server = await open().catch((error: unknown) => {
    closeStores();
    throw error;
  });
  const watching = others === null ? null : startMinuteLoop(() => others.look());
  const worker = startWorkerLoop(
    line,
    async (signal) => {
      others?.awaitLook(signal.account);
      return await executeSignal(executing, signal);
    },
    log,
  );
  const reconciling = startMinuteLoop(runReconciler);
  const following = startMinuteLoop(
    () => followSafely(follower, clock, log),
    options.followEveryMs ?? followEveryMs,
  );
  // Known before the first alert comes.
  await watch.watch();
  const receivingLooks = startMinuteLoop(async () => void (await watch.watch()), lookEveryMs);
  const schedule = startScheduleLoop(jobs, clock, log);
  const telling = startNoticeLoop(
    { ...shared, ...records, outbox, settings: notices, accounts, secrets },
    options.tellEveryMs,
  );
  const changesCheck = setInterval(() => takeInChanges(line, log), changesCheckMs);
  return {
    url: server.url,
    reconcile: reconciling.run,
    follow: following.run,
    lookForOthers: async () => await watching?.run(),
    isReady: async () => (await health.respondReady()).statusCode === 200,
    findObstacle: watch.watch,
    tell: telling.run,
    listPaused: () => readPauses(ledger, accounts),
    async close() {
      clearInterval(changesCheck);
      await server.close();
      await watching?.stop();
      await receivingLooks.stop();
      await reconciling.stop();
      await following.stop();
      await worker.stop();
      await schedule.stop();
      await telling.stop();
      clients.close();
      await markets.settle();
      closeStores();
    },
  };
}

/**
 * Only the live dialect lists orders with their names. In the other one nothing is known of other relays, and nothing waits
 * for it.
 */
function watchOthers(
  { settings, exchange, exchangeTimeoutMs }: Parameters<typeof startLocalRelay>[0],
  services: Pick<SecondRelayServices, 'clock' | 'log' | 'alarms' | 'ledger' | 'facts' | 'exchangeFor'> & {
    readonly file: SqliteFile;
  },
): SecondRelayWatch | null {
  if (exchange.dialect !== 'live') {
    services.log.warn(
      'in this dialect it cannot be seen whether another relay trades on the same account',
      {},
    );
    return null;
  }
  const trading = Object.values(settings.accounts).filter(({ mode }) => mode === 'live');
  return createSecondRelayWatch({
    ...services,
    findNamed: (names) => findClientOrderIds(services.file, names),
    accounts: trading.map(({ name }) => name),
    timeoutMs: exchangeTimeoutMs,
  });
}

/** @returns the response to a sender that may not post; null for one that may */
function refuseSender(
  senders: SenderCheck | undefined,
  { socket, headers }: IncomingMessage,
  log: Log,
): HttpResponse | null {
  const refusal = senders?.refuse(socket.remoteAddress, headers) ?? null;
  return refusal === null ? null : createRefusal(log, refusal);
}

/** Whether a refusal says something of the alert or its sender, and nothing of the relay. */
function isOfAlert(error: unknown): boolean {
  return error instanceof RelayError && (error.row.httpStatus < 500 || error.code === 'rate_limited');
}

/** A reading that failed is repeated with the next turn. */
async function followSafely(follower: Follower, clock: Clock, log: Log): Promise<void> {
  try {
    await follower.run(clock.nowMs() + longestFollowMs);
  } catch (error) {
    log.error('placed orders could not be followed', { reason: describeError(error) });
  }
}

function takeInChanges(line: SqliteLine, log: Log): void {
  try {
    line.takeInChanges();
  } catch (error) {
    log.error('the line of waiting signals could not be read', { reason: describeError(error) });
  }
}
