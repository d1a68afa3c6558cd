import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { SQSClient } from '@aws-sdk/client-sqs';
import * as z from 'zod';
import { createLogAlarms } from '../base/alarms.ts';
import { systemClock } from '../base/clock.ts';
import { RelayError } from '../base/errors.ts';
import { readJson } from '../base/json.ts';
import { createDynamodbEntrance, type DynamodbLedgerOptions } from '../ledger/dynamodb-entrance.ts';
import { createDynamodbLedger } from '../ledger/dynamodb-ledger.ts';
import { createDynamodbMarketCopies } from '../ledger/dynamodb-market-copies.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { MarketCopies } from '../ledger/market-copies.ts';
import { tradedMarkets } from '../model/settings.ts';
import type { PostponeMessage, SignalQueue } from '../queue/queue.ts';
import { createSqsPostpone } from '../queue/sqs-postpone.ts';
import { createSqsQueue } from '../queue/sqs-queue.ts';
import { createMarketCatalogue } from '../relay/market-catalogue.ts';
import { createOverloadWatch } from '../relay/overload.ts';
import type { ReconcileServices } from '../relay/reconcile-signals.ts';
import type { ExecuteServices, ReceiveServices } from '../relay/services.ts';
import { createDynamodbSnapshots } from '../snapshots/dynamodb-snapshots.ts';
import type { ImportServices } from '../snapshots/import-interest.ts';
import { createAwsSecrets, type SecretIds } from './aws-secrets.ts';
import type { HostConfig } from './config.ts';
import { createExchangeClients, type ExchangeClients } from './exchange-clients.ts';
import { createLog } from './log.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * AWS responds within tens of milliseconds, so a request that takes a hundred times as long is retried.
 *
 * Without `throwOnRequestTimeout` the client would only log a time-out.
 */
const awsClientOptions = {
  maxAttempts: 3,
  requestHandler: { connectionTimeout: 1000, requestTimeout: 2000, throwOnRequestTimeout: true },
};

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
export function openReceiveServices(host: HostConfig, environment: Environment): ReceiveServices {
  const secrets = createAwsSecrets({
    client: new SecretsManagerClient(awsClientOptions),
    clock: systemClock,
    webhookTokens: readSecretIds(environment, 'WEBHOOK_TOKENS'),
    exchangeKeys: {},
  });
  return {
    clock: systemClock,
    ...logTo('receive-signal'),
    settings: host.settings,
    ledger: createDynamodbEntrance(ledgerOptions(host, environment)),
    queue: openQueue(environment),
    webhookTokens: secrets.webhookTokens,
    // These are the webhook tokens only: this function has no grant on the exchange keys.
    heldSecrets: secrets.heldSecrets,
    overload: createOverloadWatch(),
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
): ExecuteServices & { readonly postponeMessage: PostponeMessage } {
  const clients = openExchangeClients(host, environment);
  const logging = logTo('execute-signal');
  return {
    clock: systemClock,
    ...logging,
    settings: host.settings,
    ledger: openLedger(host, environment),
    markets: createMarketCatalogue({
      client: clients.anonymous,
      clock: systemClock,
      log: logging.log,
      copies: openMarketCopies(host, environment),
      traded: tradedMarkets(host.settings),
      timeoutMs: marketsTimeoutMs,
    }),
    // Whatever the address of the exchange is: a stack trades for real.
    isPaperExchange: false,
    exchangeFor: clients.forAccount,
    exchangeTimeoutMs,
    postponeMessage: createSqsPostpone(sqsOptionsOf(environment)),
  };
}

/**
 * Opens the services of reconcile-signals on AWS.
 *
 * @throws RelayError `config_invalid` when an environment variable is
 */
export function openReconcileServices(host: HostConfig, environment: Environment): ReconcileServices {
  return {
    clock: systemClock,
    ...logTo('reconcile-signals'),
    settings: host.settings,
    ledger: openLedger(host, environment),
    queue: openQueue(environment),
    exchangeFor: openExchangeClients(host, environment).forAccount,
    exchangeTimeoutMs: lookupTimeoutMs,
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
): ImportServices {
  const tableName = readVariable(environment, 'SNAPSHOT_TABLE');
  const clients = openExchangeClients(host, environment);
  return {
    clock: systemClock,
    ...logTo(functionName),
    accounts: Object.keys(host.settings.accounts),
    store: createDynamodbSnapshots({ client: new DynamoDBClient(awsClientOptions), tableName }),
    exchangeFor: clients.forAccount,
    exchangeTimeoutMs: snapshotTimeoutMs,
    keyNameOf: clients.keyNameOf,
  };
}

/** The log of a function, and its alarms, which are lines of it. */
function logTo(functionName: string) {
  const log = createLog(functionName);
  return { log, alarms: createLogAlarms(log) };
}

function openExchangeClients({ exchange }: HostConfig, environment: Environment): ExchangeClients {
  const secrets = createAwsSecrets({
    client: new SecretsManagerClient(awsClientOptions),
    clock: systemClock,
    webhookTokens: {},
    exchangeKeys: readSecretIds(environment, 'EXCHANGE_KEYS'),
  });
  return createExchangeClients({ ...exchange, secrets, clock: systemClock });
}

function openLedger(host: HostConfig, environment: Environment): Ledger {
  return createDynamodbLedger(ledgerOptions(host, environment));
}

function ledgerOptions({ aws }: HostConfig, environment: Environment): DynamodbLedgerOptions {
  return {
    client: new DynamoDBClient(awsClientOptions),
    tableName: readVariable(environment, 'LEDGER_TABLE'),
    keepDays: aws.keepLedgerDays,
  };
}

function openMarketCopies({ exchange }: HostConfig, environment: Environment): MarketCopies {
  return createDynamodbMarketCopies({
    client: new DynamoDBClient(awsClientOptions),
    tableName: readVariable(environment, 'LEDGER_TABLE'),
    exchange: exchange.address,
  });
}

function openQueue(environment: Environment): SignalQueue {
  return createSqsQueue(sqsOptionsOf(environment));
}

function sqsOptionsOf(environment: Environment) {
  return {
    client: new SQSClient(awsClientOptions),
    queueUrl: readVariable(environment, 'SIGNAL_QUEUE_URL'),
  };
}

function readVariable(environment: Environment, name: string): string {
  const value = environment[name] ?? '';
  if (value === '')
    throw new RelayError('config_invalid', `the environment variable ${name} is not set; deploy again`);
  return value;
}

function readSecretIds(environment: Environment, name: string): SecretIds {
  const text = readVariable(environment, name);
  const { data, error } = z.record(z.string(), z.string()).safeParse(readJson(text));
  if (data !== undefined) return data;
  const message = `the environment variable ${name} must map accounts to secrets, as JSON; it is ${text}`;
  throw new RelayError('config_invalid', message, { cause: error });
}
