import { existsSync } from 'node:fs';
import { systemClock } from '../../lib/base/clock.ts';
import { RelayError } from '../../lib/base/errors.ts';
import { openSqlite, type SqliteFile } from '../../lib/base/sqlite.ts';
import { createTransport } from '../../lib/base/transport.ts';
import type { Dialect } from '../../lib/exchange/dialect.ts';
import { backUpFolder, restoreFolder } from '../../lib/host/backup.ts';
import { digestConfig, type HostConfig } from '../../lib/host/config.ts';
import {
  createDataFolder,
  type DataFolder,
  locateDataFolder,
  type Run,
  readRun,
} from '../../lib/host/data-folder.ts';
import { createExchangeClients, type ExchangeClients } from '../../lib/host/exchange-clients.ts';
import {
  createFileSecrets,
  rotateFileToken,
  storeFileKeys,
  storeFileWay,
} from '../../lib/host/file-secrets.ts';
import { readFolderKind } from '../../lib/host/folder-kind.ts';
import { createSqliteAccountFacts } from '../../lib/ledger/sqlite-account-facts.ts';
import { createSqliteChanges } from '../../lib/ledger/sqlite-changes.ts';
import { createSqliteExecutions } from '../../lib/ledger/sqlite-executions.ts';
import { createSqliteLedger } from '../../lib/ledger/sqlite-ledger.ts';
import { isOlderLedger } from '../../lib/ledger/sqlite-migrations.ts';
import type { Account } from '../../lib/model/account.ts';
import { openRequestChannel } from '../../lib/notices/request-channel.ts';
import { createSqliteChannelStates } from '../../lib/notices/sqlite-channel-states.ts';
import { createSqliteDeadLetters } from '../../lib/queue/sqlite-dead-letters.ts';
import { createSqliteSnapshots } from '../../lib/snapshots/sqlite-snapshots.ts';
import { type Check, checkQueue, fail, pass, startAdvice, startCommand, warn } from '../checks/check.ts';
import { CommandFailure, createUsageFailure } from '../failure.ts';
import { deleteFolderFiles } from './delete-folder.ts';
import { askHttp, createNotRunning, isListening } from './http.ts';
import { listLocalParts } from './installed-parts.ts';
import { kindOfAddress, type Session, webhookUrlOf } from './session.ts';

/** A relay under load holds the lock of its database nearly all the time; a pause must reach it nevertheless. */
const patienceMs = 5000;

/** A session with the relay of one data folder. */
export function openLocalSession(dataPath: string, host: HostConfig): Session {
  const { settings, notices, exchange } = host;
  const clock = systemClock;
  const folder = locateDataFolder(dataPath);
  const secrets = createFileSecrets(folder.secretsPath);
  const transport = createTransport();
  let database: SqliteFile | null = null;
  const clientsByDialect = new Map<Dialect, ExchangeClients>();

  function openDatabase(): SqliteFile {
    // Opening creates the file, so a wrong folder would look like an empty ledger.
    if (!existsSync(folder.databasePath)) throw neverStarted(folder);
    database ??= openSqlite(folder.databasePath, { patienceMs });
    if (isOlderLedger(database)) throw olderFolder(folder);
    return database;
  }

  function openClients(dialect: Dialect): ExchangeClients {
    const address = requireRun(folder).exchangeUrl;
    const clients =
      clientsByDialect.get(dialect) ?? createExchangeClients({ address, dialect, secrets, clock });
    clientsByDialect.set(dialect, clients);
    return clients;
  }

  function findConfigChange(): string | null {
    const digest = readRun(folder)?.configDigest;
    return digest === undefined || digest === digestConfig(host)
      ? null
      : 'The configuration that this command reads is not the one that the relay was started with. A relay keeps its configuration until it is started again.';
  }

  const startOf = ({ trades }: Run) => startCommand(dataPath, trades === 'live');

  async function readUrl(account: Account, baseUrl: string): Promise<string> {
    requireSecrets(folder);
    // During a rotation two tokens are valid; the first is the new one.
    const [token] = await secrets.webhookTokens(account.name);
    if (token === undefined)
      throw new CommandFailure(
        'secrets_missing',
        `account ${account.name} has no webhook token yet`,
        'Start the relay again: each start makes the tokens of accounts that are new in the configuration.',
      );
    return webhookUrlOf(`${baseUrl}/signals/`, account, token);
  }

  return {
    backups: {
      make(file, withSecrets) {
        if (!existsSync(folder.databasePath)) throw neverStarted(folder);
        return backUpFolder(folder, file, { withSecrets, clock });
      },
      restore: (file) =>
        restoreFolder(createDataFolder(dataPath), file, { accounts: Object.keys(settings.accounts), clock }),
    },
    clock,
    settings,
    get target() {
      const run = readRun(folder);
      // A restored folder was not started yet.
      const isLive = run === null ? readFolderKind(folder)?.kind === 'live' : run.trades === 'live';
      return { kind: 'local', data: dataPath, ...(isLive ? { trades: 'live' as const } : {}) } as const;
    },
    notices: {
      settings: notices,
      toldBesides: null,
      async readWays() {
        requireSecrets(folder);
        return await secrets.noticeWays();
      },
      async storeWay(channel, way) {
        requireSecrets(folder);
        storeFileWay(folder.secretsPath, channel, way);
      },
      readState: (channel) => createSqliteChannelStates(openDatabase()).read(channel),
      countWaiting: async (seq) => createSqliteChanges(openDatabase()).count(seq),
      async openChannel(channel) {
        if (channel === 'email') throw createNoMail();
        requireSecrets(folder);
        return openRequestChannel(channel, await secrets.noticeWays(), { transport, clock });
      },
    },
    get relayName() {
      return `the relay at ${requireRun(folder).relayUrl}`;
    },
    reachHint:
      'TradingView can reach only public addresses on ports 80 and 443: put a tunnel or a proxy in front of the relay.',
    changeHint: 'The relay uses it from the next signal on.',
    findConfigChange,
    exchangeAddress: exchange.address,
    locateExchange() {
      const { exchangeUrl: url, dialect, trades } = requireRun(folder);
      return { url, dialect, kind: trades === 'live' ? kindOfAddress(url) : 'paper' };
    },
    locatePaper() {
      const { exchangeUrl, trades } = requireRun(folder);
      if (trades !== 'live') return exchangeUrl;
      throw createUsageFailure(
        `the relay in "${folder.path}" is LIVE and has no paper exchange`,
        'Name the folder of a relay on paper with --data, or use the commands for the real exchange: `ping`, `balance`, `orders`.',
      );
    },
    openLedger: () => createSqliteLedger(openDatabase()),
    openExecutions: () => createSqliteExecutions(openDatabase()),
    openFacts: () => createSqliteAccountFacts(openDatabase()),
    openDeadLetters: () => createSqliteDeadLetters(openDatabase()),
    openSnapshots: () => createSqliteSnapshots(openDatabase()),
    readWebhookUrl: async (account) => {
      const { relayUrl, publicUrl } = requireRun(folder);
      return await readUrl(account, publicUrl ?? relayUrl);
    },
    async sendAlert(account, body) {
      const run = requireRun(folder);
      const url = await readUrl(account, run.relayUrl);
      const recipient = `the relay at ${run.relayUrl}`;
      return await askHttp({ url, method: 'POST', body, recipient, start: startOf(run) });
    },
    async openExchange(account, dialect = requireRun(folder).dialect) {
      const { anonymous, forAccount } = openClients(dialect);
      if (account !== null) requireSecrets(folder);
      const client = account === null ? anonymous : await forAccount(account.name);
      const run = requireRun(folder);
      // Otherwise the client would retry until its time limit.
      if (await isListening(run.exchangeUrl)) return client;
      throw run.trades === 'live'
        ? createUnreachable(run.exchangeUrl, `npx relay doctor --data ${dataPath}`)
        : createNotRunning(`the exchange at ${run.exchangeUrl}`, startOf(run));
    },
    async storeKeys({ name }, keys) {
      requireSecrets(folder);
      storeFileKeys(folder.secretsPath, name, keys);
    },
    async rotateToken({ name }, validUntilMs) {
      requireSecrets(folder);
      rotateFileToken(folder.secretsPath, name, validUntilMs);
    },
    async listParts() {
      return listLocalParts(folder);
    },
    async deleteFolder() {
      database?.close();
      database = null;
      return deleteFolderFiles(folder);
    },
    async diagnose() {
      const run = requireRun(folder);
      const relay = await checkRelay(run, dataPath);
      // The next start of a relay that is stopped reads the file anew.
      const hint = relay.verdict === 'ok' ? findConfigChange() : null;
      return [
        relay,
        ...(hint === null
          ? []
          : [
              warn('configuration', hint, 'Stop the relay, and start it again with the options that it had.'),
            ]),
        ...checkFileQueue(openDatabase(), clock.nowMs()),
      ];
    },
    close() {
      transport.close();
      for (const clients of clientsByDialect.values()) clients.close();
      database?.close();
    },
  };
}

async function checkRelay({ relayUrl, trades }: Run, dataPath: string): Promise<Check> {
  return (await isListening(relayUrl))
    ? pass('relay', `${trades === 'live' ? 'LIVE' : 'on paper'}, listens at ${relayUrl}`)
    : fail(
        'relay',
        `stopped: nothing listens at ${relayUrl}; no alert is received and no order is sent`,
        startAdvice(dataPath, trades === 'live'),
      );
}

function checkFileQueue(file: SqliteFile, nowMs: number): readonly Check[] {
  const { waiting, deadLetters, oldestSentAtMs } = createSqliteDeadLetters(file).count();
  return checkQueue({
    waiting,
    deadLetters,
    oldestAgeMs: oldestSentAtMs === null ? null : nowMs - oldestSentAtMs,
  });
}

function requireRun(folder: DataFolder): Run {
  const run = readRun(folder);
  if (run === null) throw neverStarted(folder);
  return run;
}

/** The exchange of a live relay: nobody here can start it. */
function createUnreachable(url: string, doctor: string): CommandFailure {
  return new CommandFailure(
    'not_running',
    `the exchange at ${url} cannot be reached from this machine`,
    `Check the network of this machine and exchange.address in relay.config.ts, then try again. \`${doctor}\` checks what else is wrong.`,
  );
}

function neverStarted({ path }: DataFolder): CommandFailure {
  return new CommandFailure(
    'never_started',
    `no relay was ever started with the data folder "${path}"`,
    'Start one with `npm start`, or name another folder with --data, or a stack on AWS with --stack.',
  );
}

/** Only a start upgrades a folder: then no relay of the older release is using it. */
function olderFolder({ path }: DataFolder): CommandFailure {
  return new CommandFailure(
    'data_folder_older',
    `an older release wrote the data folder "${path}", and its relay may still be running; nothing was changed`,
    `Stop that relay if it runs, then start this release with \`${startCommand(path, readRun(locateDataFolder(path))?.trades === 'live')}\`: it upgrades the folder.`,
  );
}

function createNoMail(): CommandFailure {
  return createUsageFailure(
    'e-mail is a channel of a relay on AWS alone',
    'Take email out of notices.channels in relay.config.ts, or name a stack with --stack.',
  );
}

function requireSecrets(folder: DataFolder): void {
  if (!existsSync(folder.secretsPath))
    throw new RelayError('secrets_missing', `there is no secrets file ${folder.secretsPath}`);
}
