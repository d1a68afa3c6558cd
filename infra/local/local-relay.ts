import { createLogAlarms } from '../../lib/base/alarms.ts';
import type { Clock } from '../../lib/base/clock.ts';
import { describeError } from '../../lib/base/describe-error.ts';
import type { Log } from '../../lib/base/log.ts';
import { openSqlite } from '../../lib/base/sqlite.ts';
import type { Dialect } from '../../lib/exchange/dialect.ts';
import type { SnapshotSettings } from '../../lib/host/config.ts';
import type { DataFolder } from '../../lib/host/data-folder.ts';
import { createExchangeClients } from '../../lib/host/exchange-clients.ts';
import { createFileSecrets } from '../../lib/host/file-secrets.ts';
import { createPlainReceiveSignal } from '../../lib/host/plain-webhook.ts';
import { createReconcileSignals } from '../../lib/host/reconcile-signals.ts';
import { readVersion } from '../../lib/host/version.ts';
import { createExecuteSignal } from '../../lib/host/worker.ts';
import { createSqliteLedger } from '../../lib/ledger/sqlite-ledger.ts';
import { createSqliteMarketCopies } from '../../lib/ledger/sqlite-market-copies.ts';
import { type Settings, tradedMarkets } from '../../lib/model/settings.ts';
import { createSqliteQueue, type SqliteQueue } from '../../lib/queue/sqlite-queue.ts';
import { createMarketCatalogue } from '../../lib/relay/market-catalogue.ts';
import { messagesOf } from '../../lib/relay/message-of.ts';
import { createOverloadWatch } from '../../lib/relay/overload.ts';
import { sweepAccepted } from '../../lib/relay/sweep-accepted.ts';
import { createSqliteSnapshots } from '../../lib/snapshots/sqlite-snapshots.ts';
import { createHealth } from './health.ts';
import { startHttpServer } from './http-server.ts';
import { startMinuteLoop } from './minute-loop.ts';
import { startScheduleLoop } from './schedule-loop.ts';
import { createSnapshotJobs } from './snapshot-jobs.ts';
import { startWorkerLoop } from './worker-loop.ts';

/** All functions of the relay in one process, behind an HTTP server and an embedded queue. */
export interface LocalRelay {
  readonly url: string;
  /** Runs the reconciler now instead of with the next minute. */
  reconcile(): Promise<void>;
  /** The accounts whose orders are not sent until they are resumed. */
  listPaused(): Promise<readonly string[]>;
  /** Accepts no more alerts, finishes the work in progress, and closes the database. */
  close(): Promise<void>;
}

/** After this many failed deliveries a message moves to the dead-letter queue, as on AWS. */
const maxReceives = 5;
/** How often the queue is checked for messages that another process put back with `redrive`. */
const outsiderCheckMs = 500;

/**
 * Starts the relay. The caller must hold the folder's lock.
 *
 * @throws Error when the port is taken, RelayError `store_unavailable` when the database cannot be used
 */
export async function startLocalRelay(options: {
  readonly port: number;
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
  /** Absent: no snapshots are taken. */
  readonly snapshots?: SnapshotSettings;
  readonly clock: Clock;
  readonly log: Log;
}): Promise<LocalRelay> {
  const { folder, settings, clock, log } = options;
  const alarms = createLogAlarms(log);
  const file = openSqlite(folder.databasePath);
  const secrets = createFileSecrets(folder.secretsPath);
  const clients = createExchangeClients({ ...options.exchange, secrets, clock });
  const queue = createSqliteQueue(file, {
    maxReceives,
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
  // The ledger entry and the queue message are written in one transaction, so neither exists without the
  // other.
  const ledger = createSqliteLedger(file, (entries) => queue.stage(messagesOf(entries)));
  const shared = { clock, log, alarms, settings, ledger };

  const receiveSignal = createPlainReceiveSignal({
    ...shared,
    queue,
    webhookTokens: secrets.webhookTokens,
    heldSecrets: secrets.heldSecrets,
    overload: createOverloadWatch(),
  });
  const markets = createMarketCatalogue({
    client: clients.anonymous,
    clock,
    log,
    copies: createSqliteMarketCopies(file, options.exchange.address),
    traded: tradedMarkets(settings),
    timeoutMs: options.exchangeTimeoutMs,
  });
  const executeSignal = createExecuteSignal({
    ...shared,
    markets,
    isPaperExchange: options.exchange.isPaper,
    exchangeFor: clients.forAccount,
    exchangeTimeoutMs: options.exchangeTimeoutMs,
  });

  const reconcileSignals = createReconcileSignals({
    ...shared,
    queue,
    exchangeFor: clients.forAccount,
    exchangeTimeoutMs: options.exchangeTimeoutMs,
  });

  const jobs = createSnapshotJobs(options.snapshots ?? null, {
    clock,
    log,
    alarms,
    accounts: Object.keys(settings.accounts),
    store: createSqliteSnapshots(file),
    exchangeFor: clients.forAccount,
    exchangeTimeoutMs: options.exchangeTimeoutMs,
    keyNameOf: clients.keyNameOf,
  });

  function closeStores(): void {
    clients.close();
    file.close();
  }

  async function open() {
    await enqueueLeftovers({ ledger, queue }, log);
    return await startHttpServer(options.port, receiveSignal, {
      logHealth: createHealth(ledger, readVersion()),
    });
  }

  const server = await open().catch((error: unknown) => {
    closeStores();
    throw error;
  });
  const worker = startWorkerLoop(queue, executeSignal, log);
  const reconciling = startMinuteLoop(reconcileSignals);
  const schedule = startScheduleLoop(jobs, clock, log);
  const outsiderCheck = setInterval(() => takeInOutsiders(queue, log), outsiderCheckMs);
  return {
    url: server.url,
    reconcile: reconciling.run,
    async listPaused() {
      const accounts = Object.keys(settings.accounts);
      const pauses = await Promise.all(accounts.map((account) => ledger.readPause(account)));
      return accounts.filter((_, index) => pauses[index] !== null);
    },
    async close() {
      clearInterval(outsiderCheck);
      await server.close();
      await reconciling.stop();
      await worker.stop();
      await schedule.stop();
      clients.close();
      await markets.settle();
      closeStores();
    },
  };
}

/**
 * Queues the signals that the previous run left behind. A failure does not prevent the start: a running relay
 * that responds 503 to alerts it cannot store is better than one that waits for the disk.
 */
async function enqueueLeftovers(stores: Parameters<typeof sweepAccepted>[0], log: Log): Promise<void> {
  try {
    const { enqueued: left } = await sweepAccepted(stores);
    if (left > 0)
      log.warn('the previous run left signals unfinished; they are queued again', { signals: left });
  } catch (error) {
    log.error(
      'signals that the previous run left unfinished could not be queued; the reconciler tries again',
      {
        reason: describeError(error),
      },
    );
  }
}

function takeInOutsiders(queue: SqliteQueue, log: Log): void {
  try {
    queue.takeInOutsiders();
  } catch (error) {
    log.error('the queue could not be read', { reason: describeError(error) });
  }
}
