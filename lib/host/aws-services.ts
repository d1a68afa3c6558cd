import { randomUUID } from 'node:crypto';
import { type Alarms, createLogAlarms } from '../base/alarms.ts';
import type { AwsAccess } from '../base/aws-client.ts';
import { systemClock } from '../base/clock.ts';
import { createDynamodbClient, type DynamodbClient } from '../base/dynamodb.ts';
import type { Log } from '../base/log.ts';
import { createDynamodbAccountFacts } from '../ledger/dynamodb-account-facts.ts';
import { createDynamodbEntrance, type DynamodbLedgerOptions } from '../ledger/dynamodb-entrance.ts';
import { createDynamodbExecutions } from '../ledger/dynamodb-executions.ts';
import { createDynamodbLedger } from '../ledger/dynamodb-ledger.ts';
import { createDynamodbMarketCopies } from '../ledger/dynamodb-market-copies.ts';
import { createDynamodbNotes } from '../ledger/dynamodb-notes.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { MarketCopies } from '../ledger/market-copies.ts';
import { tradedMarkets } from '../model/settings.ts';
import { secretsIn } from '../notices/channels.ts';
import { createDynamodbChannelStates } from '../notices/dynamodb-channel-states.ts';
import { openRequestChannel } from '../notices/request-channel.ts';
import { openTopicChannel } from '../notices/topic-channel.ts';
import type { PostponeMessage, SignalQueue } from '../queue/queue.ts';
import { createSqsClient } from '../queue/sqs.ts';
import { createSqsPostpone } from '../queue/sqs-postpone.ts';
import { createSqsQueue } from '../queue/sqs-queue.ts';
import { recallCounting } from '../relay/execute/begin-to-count.ts';
import { createMarketCatalogue } from '../relay/execute/market-catalogue.ts';
import type { FollowServices } from '../relay/follow/follow-services.ts';
import { createOverloadWatch } from '../relay/receive/overload.ts';
import { createQueuedEntrance } from '../relay/receive/queued-entrance.ts';
import { createRepeatWatch } from '../relay/receive/repeated-alert.ts';
import type { ExecuteServices, ReceiveServices } from '../relay/services.ts';
import type { ReconcileServices } from '../relay/settle/reconcile-signals.ts';
import { createDynamodbSnapshots } from '../snapshots/dynamodb-snapshots.ts';
import type { ImportServices } from '../snapshots/import-interest.ts';
import { accessOf } from './aws-access.ts';
import { createAwsSecrets, createSecretsClient } from './aws-secrets.ts';
import type { HostConfig } from './config.ts';
import { type Environment, readSecretIds, readVariable } from './environment.ts';
import { createExchangeClients, type ExchangeClients } from './exchange-clients.ts';
import { createLog } from './log.ts';
import type { NoticeServices } from './notice-handler.ts';
import { exchangeOf, isOnPaper } from './paper-stage.ts';
import { afterAlarms, type RecordedAlarms, recordAlarms } from './recorded-alarms.ts';
import { parseWaysContent } from './secret-contents.ts';
import {
  createFingerprintKeeper,
  ofChannels,
  readFingerprints,
  storeFingerprints,
} from './secret-fingerprints.ts';
import type { SecretStore } from './secrets.ts';
import { createStartWatch, type StartWatch } from './start-watch.ts';
import { type ColdStartTeller, createColdStartTeller } from './tell-cold-start.ts';
import { tellOddities } from './telling-client.ts';

/** Services whose function may end only when its alarms are stored. */
interface SettlingAlarms {
  readonly alarms: RecordedAlarms;
}

/** A function that is kept warm between alerts. */
interface WarmServices {
  readonly start: StartWatch;
  /**
   * Reads what an alert needs, and what would be too old for one that comes before the next such call.
   *
   * @throws RelayError when something cannot be read
   */
  keepWarm(): Promise<void>;
}

/**
 * The longest time between two calls that keep a function warm: the schedule's three minutes, the minute over which
 * EventBridge Scheduler may spread a call, and as much for its delay.
 */
const longestPauseMs = 5 * 60_000;

/** What the requests of a function have in common. */
interface Connection extends AwsAccess {
  readonly host: HostConfig;
  readonly environment: Environment;
  readonly log: Log;
  /** Lines of the log; with notices, items of the ledger, too. */
  readonly alarms: RecordedAlarms;
  /** Its writes come after the alarms that were raised before them. */
  readonly dynamodb: DynamodbClient;
}

/** @param functionName the name of the function, for its log */
function connect(functionName: string, host: HostConfig, environment: Environment): Connection {
  const access = accessOf(environment);
  const log = createLog(functionName);
  const client = createDynamodbClient(access);
  const alarms = openAlarms(client, host, environment, log);
  return { ...access, host, environment, log, alarms, dynamodb: afterAlarms(client, alarms) };
}

/** Without a channel, an alarm is a line of the log; so it is in a function that raises none, and does not know the ledger. */
function openAlarms(
  client: DynamodbClient,
  host: HostConfig,
  environment: Environment,
  log: Log,
): RecordedAlarms {
  const logged: Alarms = createLogAlarms(log);
  const tableName = environment['LEDGER_TABLE'];
  if (host.notices.channels.length === 0 || tableName === undefined)
    return { raise: logged.raise, settle: async () => undefined };
  const notes = createDynamodbNotes({ client, tableName, keepDays: host.aws.keepLedgerDays });
  const record: Parameters<typeof recordAlarms>[1] = (alarm, facts) =>
    notes.addAlarm(alarm, facts, systemClock.nowMs());
  return recordAlarms(logged, record, { clock: systemClock, log });
}

/** All requests of one signal take 2.5 of these at most, and must finish within the timeout of the function. */
const exchangeTimeoutMs = 10_000;
const marketsTimeoutMs = 5_000;
/** No caller waits for a lookup, and a slow one must not use up the run's time for the others. */
const lookupTimeoutMs = 5_000;
/** No caller waits for a snapshot, and a failed one is repeated only with its run: hence a longer time. */
const snapshotTimeoutMs = 10_000;

/**
 * Opens the services of receive-signal on AWS.
 *
 * @throws RelayError `config_invalid` when an environment variable is
 */
export function openReceiveServices(
  host: HostConfig,
  environment: Environment,
): ReceiveServices & SettlingAlarms & WarmServices {
  const connection = connect('receive-signal', host, environment);
  const start = createStartWatch();
  const secrets = createAwsSecrets({
    client: createSecretsClient(connection),
    clock: systemClock,
    webhookTokens: readSecretIds(environment, 'WEBHOOK_TOKENS'),
    // This function has no grant on them.
    exchangeKeys: {},
  });
  const facts = createDynamodbAccountFacts(ledgerOptions(connection));
  const accounts = Object.keys(host.settings.accounts);
  return {
    clock: systemClock,
    ...loggingOf(connection),
    settings: host.settings,
    ledger: createQueuedEntrance(
      createDynamodbEntrance(ledgerOptions(connection)),
      openQueue(connection, start),
    ),
    start,
    async keepWarm() {
      await Promise.all(accounts.map((account) => secrets.webhookTokens(account, 'newest')));
    },
    webhookTokens: secrets.webhookTokens,
    heldSecrets: async () =>
      (await Promise.all([secrets.heldSecrets(), readFingerprints(facts, accounts)])).flat(),
    overload: createOverloadWatch(),
    repeats: createRepeatWatch(randomUUID()),
  };
}

/**
 * Opens the services of execute-signal on AWS.
 *
 * @throws RelayError `config_invalid` when an environment variable is
 */
export function openExecuteServices(
  host: HostConfig,
  environment: Environment,
): ExecuteServices &
  SettlingAlarms &
  WarmServices & { readonly postponeMessage: PostponeMessage; readonly coldStarts: ColdStartTeller } {
  const connection = connect('execute-signal', host, environment);
  const secrets = openExchangeKeys(connection);
  const clients = openExchangeClients(connection, secrets);
  const logging = loggingOf(connection);
  const ledger = openLedger(connection);
  const records = openRecords(connection);
  const accounts = Object.keys(host.settings.accounts);
  const markets = createMarketCatalogue({
    client: clients.anonymous,
    clock: systemClock,
    log: logging.log,
    copies: openMarketCopies(connection),
    traded: tradedMarkets(host.settings),
    timeoutMs: marketsTimeoutMs,
  });
  const coldStarts = createColdStartTeller({
    clock: systemClock,
    ...logging,
    facts: records.facts,
    ledger,
    accounts,
    // Absent: the stack does not keep it warm.
    release: environment['RELEASE'] ?? null,
  });
  return {
    clock: systemClock,
    ...logging,
    settings: host.settings,
    ledger,
    entrance: createQueuedEntrance(ledger, openQueue(connection)),
    ...records,
    markets,
    // Whatever the address of the exchange is: any stage but a paper stage trades for real.
    isPaperExchange: isOnPaper(host),
    exchangeFor: tellOddities(clients.forAccount, { clock: systemClock, ...logging, ...records }),
    exchangeTimeoutMs,
    postponeMessage: createSqsPostpone(sqsOptionsOf(connection)),
    start: createStartWatch(),
    async keepWarm() {
      await Promise.all([
        ...accounts.map((account) => secrets.exchangeKeys(account, 'newest')),
        ...accounts.map((account) => recallCounting(records.facts, account)),
        markets.keepFresh(longestPauseMs),
        coldStarts.noteWarm(),
      ]);
    },
    coldStarts,
  };
}

/**
 * Opens the services of reconcile-signals on AWS.
 *
 * @throws RelayError `config_invalid` when an environment variable is
 */
export function openReconcileServices(
  host: HostConfig,
  environment: Environment,
): ReconcileServices & FollowServices & SettlingAlarms & { keepFingerprints(): Promise<void> } {
  const connection = connect('reconcile-signals', host, environment);
  const records = openRecords(connection);
  const secrets = openExchangeKeys(connection);
  const logging = loggingOf(connection);
  const ledger = openLedger(connection);
  const queue = openQueue(connection);
  const { forAccount } = openExchangeClients(connection, secrets);
  return {
    clock: systemClock,
    ...logging,
    settings: host.settings,
    ledger,
    entrance: createQueuedEntrance(ledger, queue),
    // Whatever the address of the exchange is: any stage but a paper stage trades for real.
    isPaperExchange: isOnPaper(host),
    ...records,
    queue,
    exchangeFor: tellOddities(forAccount, { clock: systemClock, ...logging, ...records }),
    keepFingerprints: createFingerprintKeeper({
      accounts: Object.keys(host.settings.accounts),
      clock: systemClock,
      log: logging.log,
      secrets,
      facts: records.facts,
    }),
    exchangeTimeoutMs: lookupTimeoutMs,
    commandOptions: ` --stack ${readVariable(environment, 'STACK_NAME')} --region ${connection.region}`,
  };
}

/**
 * Opens the services of the snapshot functions on AWS; only import-interest needs all of them.
 *
 * @param functionName the name of the function, for its log
 * @throws RelayError `config_invalid` when an environment variable is
 */
export function openSnapshotServices(
  functionName: string,
  host: HostConfig,
  environment: Environment,
): ImportServices & SettlingAlarms {
  const connection = connect(functionName, host, environment);
  const tableName = readVariable(environment, 'SNAPSHOT_TABLE');
  const clients = openExchangeClients(connection);
  return {
    clock: systemClock,
    ...loggingOf(connection),
    accounts: Object.keys(host.settings.accounts),
    store: createDynamodbSnapshots({ client: connection.dynamodb, tableName }),
    exchangeFor: clients.forAccount,
    exchangeTimeoutMs: snapshotTimeoutMs,
    keyNameOf: clients.keyNameOf,
    isPaperExchange: isOnPaper(host),
  };
}

/**
 * Opens the services of send-notices on AWS.
 *
 * @throws RelayError `config_invalid` when an environment variable is
 */
export function openNoticeServices(host: HostConfig, environment: Environment): NoticeServices {
  const connection = connect('send-notices', host, environment);
  const secrets = createSecretsClient(connection);
  const secretId = readVariable(environment, 'NOTICE_SECRET');
  const ledger = ledgerOptions(connection);
  const records = openRecords(connection);
  let known: string | undefined;
  return {
    clock: systemClock,
    log: connection.log,
    settings: host.notices,
    accounts: Object.keys(host.settings.accounts),
    ledger: createDynamodbLedger(ledger),
    ...records,
    notes: createDynamodbNotes(ledger),
    states: createDynamodbChannelStates(ledger),
    async openChannel(name) {
      if (name === 'email') return openTopicChannel(connection, readVariable(environment, 'ALARM_TOPIC'));
      // Read each time, so that what was stored counts for the next request.
      const { SecretString } = await secrets.call('GetSecretValue', { SecretId: secretId });
      const ways = parseWaysContent(SecretString);
      // An older release has stored none, nor has a person who changed the secret by hand.
      if (SecretString !== known) await storeFingerprints(records.facts, ofChannels, secretsIn(ways));
      known = SecretString;
      const { transport } = connection;
      return openRequestChannel(name, ways, { transport, clock: systemClock });
    },
  };
}

/** The log of a function, and its alarms. */
function loggingOf({ log, alarms }: Connection) {
  return { log, alarms };
}

function openExchangeKeys(connection: Connection): SecretStore {
  return createAwsSecrets({
    client: createSecretsClient(connection),
    clock: systemClock,
    webhookTokens: {},
    exchangeKeys: readSecretIds(connection.environment, 'EXCHANGE_KEYS'),
  });
}

function openExchangeClients(
  connection: Connection,
  secrets = openExchangeKeys(connection),
): ExchangeClients {
  const { host, environment, transport } = connection;
  const exchange = exchangeOf(host, environment);
  return createExchangeClients({ ...exchange, secrets, clock: systemClock, transport });
}

function openLedger(connection: Connection): Ledger {
  return createDynamodbLedger(ledgerOptions(connection));
}

/** What is kept of orders and accounts beside the ledger's entries, in the same table. */
function openRecords(connection: Connection) {
  const options = ledgerOptions(connection);
  return {
    executions: createDynamodbExecutions(options),
    facts: createDynamodbAccountFacts(options),
  };
}

function ledgerOptions(connection: Connection): DynamodbLedgerOptions {
  return {
    client: connection.dynamodb,
    tableName: readVariable(connection.environment, 'LEDGER_TABLE'),
    keepDays: connection.host.aws.keepLedgerDays,
  };
}

function openMarketCopies(connection: Connection): MarketCopies {
  return createDynamodbMarketCopies({
    client: connection.dynamodb,
    tableName: readVariable(connection.environment, 'LEDGER_TABLE'),
    exchange: connection.host.exchange.address,
  });
}

function openQueue(connection: Connection, start?: StartWatch): SignalQueue {
  const options = sqsOptionsOf(connection);
  return createSqsQueue(start === undefined ? options : { ...options, start });
}

function sqsOptionsOf(connection: Connection) {
  return {
    client: createSqsClient(connection),
    queueUrl: readVariable(connection.environment, 'SIGNAL_QUEUE_URL'),
  };
}
