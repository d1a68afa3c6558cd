import { Duration, RemovalPolicy, Stack, TimeZone, Validations } from 'aws-cdk-lib';
import { EventSourceMapping } from 'aws-cdk-lib/aws-lambda';
import { RetentionDays } from 'aws-cdk-lib/aws-logs';
import { ScheduleExpression } from 'aws-cdk-lib/aws-scheduler';
import { Construct } from 'constructs';
import type { SnapshotSettings } from '../../lib/host/config.ts';
import { AccountSecrets } from './account-secrets.ts';
import { AccountSnapshots } from './account-snapshots.ts';
import { AlarmTopic } from './alarm-topic.ts';
import type { Bundles } from './bundle.ts';
import { LedgerTable } from './ledger-table.ts';
import { RelayAlarms } from './relay-alarms.ts';
import { RelayDashboard } from './relay-dashboard.ts';
import { RelayFunction } from './relay-function.ts';
import { RelaySchedule } from './relay-schedule.ts';
import { SignalQueue } from './signal-queue.ts';
import { UndeliveredQueue } from './undelivered-queue.ts';
import { type Throttle, WebhookApi } from './webhook-api.ts';

export interface TradingRelayProps {
  /** What the functions run; `bundleFunctions` makes it, with the configuration inside. */
  readonly bundles: Bundles;
  /** The accounts of that configuration; each gets a webhook token and a place for its exchange key. */
  readonly accounts: readonly string[];
  /**
   * Name of the API's stage: the first part of the webhook's path.
   * @default 'prod'
   */
  readonly stage?: string;
  /**
   * Addresses and ranges that may call the webhook, beside TradingView's own.
   * @default - none
   */
  readonly allowedAddresses?: readonly string[];
  /**
   * Gets the alarms by mail, once it has confirmed the subscription. Null: alarms show on the dashboard only.
   * @default null
   */
  readonly alarmEmail?: string | null;
  /**
   * How long logs are kept. The ledger is kept apart from them.
   * @default RetentionDays.THREE_MONTHS
   */
  readonly logRetention?: RetentionDays;
  /**
   * A signal that waits longer than this in the queue raises an alarm.
   * @default Duration.seconds(60)
   */
  readonly maxSignalAge?: Duration;
  /**
   * What the webhook takes of all callers together; more is answered 503, which TradingView sends again.
   * @default 10 requests a second, 50 at once: some strategies' alerts at the close of a bar
   */
  readonly throttle?: Throttle;
  /**
   * The zone in which the schedule is meant that looks after signals left behind.
   * @default TimeZone.ETC_UTC
   */
  readonly timeZone?: TimeZone;
  /**
   * When balances, fees and interest payments are looked at, each with an expression of its own.
   * @default - never; the table to keep them in is there all the same
   */
  readonly snapshots?: SnapshotSettings;
  /**
   * What becomes of tokens and exchange keys when the stack is deleted. Ledger and snapshots stay in any case.
   * @default RemovalPolicy.DESTROY - a key that can trade does not outlive the relay it was given to
   */
  readonly secretsRemovalPolicy?: RemovalPolicy;
}

/**
 * TradingView outlasts 3 s of waiting, but a signal stored late is worth more than one cut off: it is known, and its
 * own age decides. Above what two tries of each call to AWS take, below the gateway's 29 s.
 */
const receiveTimeout = Duration.seconds(10);
/** One order: markets 5 s, exchange 10 s, ledger and secrets, and as much again in reserve. */
const executeTimeout = Duration.seconds(30);
/** Looks for 30 s at most, of which the last may take some requests more; ends before the next minute's run begins. */
const reconcileTimeout = Duration.seconds(50);

/** CPU comes with memory: loading code and shaking hands for TLS take this much to stay well below TradingView's 3 s. */
const hurriedMemoryMiB = 1024;
/** Nobody waits for it; a run with a hundred looks takes 100 MB. */
const patientMemoryMiB = 512;

/** A whole relay: from TradingView's alert to the signed order, with its ledger, its secrets and its alarms. */
export class TradingRelay extends Construct {
  readonly api: WebhookApi;
  readonly signals: SignalQueue;
  readonly ledger: LedgerTable;
  readonly secrets: AccountSecrets;
  readonly receive: RelayFunction;
  readonly execute: RelayFunction;
  readonly reconcile: RelayFunction;
  readonly snapshots: AccountSnapshots;
  readonly alarmTopic: AlarmTopic;
  readonly #logRetention: RetentionDays;

  constructor(scope: Construct, id: string, props: TradingRelayProps) {
    super(scope, id);
    this.#logRetention = props.logRetention ?? RetentionDays.THREE_MONTHS;
    this.ledger = new LedgerTable(this, 'Ledger');
    this.signals = new SignalQueue(this, 'Signals', { consumerTimeout: executeTimeout });
    this.secrets = new AccountSecrets(this, 'Secrets', {
      accounts: props.accounts,
      removalPolicy: props.secretsRemovalPolicy ?? RemovalPolicy.DESTROY,
    });
    const undelivered = new UndeliveredQueue(this, 'Undelivered');
    this.receive = this.#createReceive(props);
    this.execute = this.#createExecute(props);
    this.reconcile = this.#createReconcile(props);
    this.#connectQueue();
    new RelaySchedule(this, 'ReconcileSchedule', {
      description: 'Looks after signals that were left behind, every minute',
      expression: ScheduleExpression.cron({ minute: '*', timeZone: props.timeZone ?? TimeZone.ETC_UTC }),
      target: this.reconcile,
      // After a minute the next run does what this one could not.
      retries: 2,
      maxAge: Duration.minutes(1),
      undelivered,
    });
    this.snapshots = new AccountSnapshots(this, 'Snapshots', {
      bundles: props.bundles,
      settings: props.snapshots ?? null,
      exchangeKeys: this.secrets.exchangeKeys,
      logRetention: this.#logRetention,
      undelivered,
    });
    this.api = new WebhookApi(this, 'Webhook', {
      stage: props.stage ?? 'prod',
      receiver: this.receive,
      allowedAddresses: props.allowedAddresses ?? [],
      throttle: props.throttle ?? { requestsPerSecond: 10, burst: 50 },
      logRetention: this.#logRetention,
    });
    this.alarmTopic = new AlarmTopic(this, 'Alarms', { email: props.alarmEmail ?? null, undelivered });
    const watched = {
      topic: this.alarmTopic,
      api: this.api,
      signals: this.signals,
      undelivered,
      receive: this.receive,
      execute: this.execute,
      reconcile: this.reconcile,
      snapshots: this.snapshots,
      ledger: this.ledger,
      maxSignalAge: props.maxSignalAge ?? Duration.seconds(60),
    };
    const alarms = new RelayAlarms(this, 'Watch', watched);
    new RelayDashboard(this, 'Dashboard', { ...watched, alarms });
  }

  #createReceive({ bundles }: TradingRelayProps): RelayFunction {
    const receive = new RelayFunction(this, 'Receive', {
      description: 'Trading relay: takes alerts in',
      bundle: bundles['receive-signal'],
      memoryMiB: hurriedMemoryMiB,
      timeout: receiveTimeout,
      logRetention: this.#logRetention,
      environment: {
        LEDGER_TABLE: this.ledger.table.tableName,
        SIGNAL_QUEUE_URL: this.signals.queue.queueUrl,
        WEBHOOK_TOKENS: Stack.of(this).toJsonString(this.secrets.webhookTokens),
      },
    });
    // A transaction of puts is granted as its puts are.
    receive.grant(
      ['dynamodb:GetItem', 'dynamodb:BatchGetItem', 'dynamodb:PutItem', 'dynamodb:UpdateItem'],
      [this.ledger.arn],
    );
    receive.grant(['sqs:SendMessage'], [this.signals.queue.queueArn]);
    receive.grant(['secretsmanager:GetSecretValue'], Object.values(this.secrets.webhookTokens));
    return receive;
  }

  #createExecute({ bundles }: TradingRelayProps): RelayFunction {
    const execute = new RelayFunction(this, 'Execute', {
      description: 'Trading relay: carries signals out',
      bundle: bundles['execute-signal'],
      memoryMiB: hurriedMemoryMiB,
      timeout: executeTimeout,
      logRetention: this.#logRetention,
      environment: {
        LEDGER_TABLE: this.ledger.table.tableName,
        SIGNAL_QUEUE_URL: this.signals.queue.queueUrl,
        EXCHANGE_KEYS: Stack.of(this).toJsonString(this.secrets.exchangeKeys),
      },
    });
    execute.grant(['dynamodb:GetItem', 'dynamodb:UpdateItem'], [this.ledger.arn]);
    execute.grant(['dynamodb:Query'], [this.ledger.indexArn('open-orders')]);
    execute.grant(
      ['sqs:ReceiveMessage', 'sqs:DeleteMessage', 'sqs:GetQueueAttributes'],
      [this.signals.queue.queueArn],
    );
    execute.grant(['sqs:ChangeMessageVisibility'], [this.signals.queue.queueArn]);
    execute.grant(['secretsmanager:GetSecretValue'], Object.values(this.secrets.exchangeKeys));
    return execute;
  }

  #createReconcile({ bundles }: TradingRelayProps): RelayFunction {
    const reconcile = new RelayFunction(this, 'Reconcile', {
      description: 'Trading relay: looks after signals that were left behind',
      bundle: bundles['reconcile-signals'],
      memoryMiB: patientMemoryMiB,
      timeout: reconcileTimeout,
      logRetention: this.#logRetention,
      environment: {
        LEDGER_TABLE: this.ledger.table.tableName,
        SIGNAL_QUEUE_URL: this.signals.queue.queueUrl,
        EXCHANGE_KEYS: Stack.of(this).toJsonString(this.secrets.exchangeKeys),
      },
    });
    for (const index of ['by-status', 'by-look', 'open-orders'] as const)
      reconcile.grant(['dynamodb:Query'], [this.ledger.indexArn(index)]);
    reconcile.grant(['dynamodb:GetItem', 'dynamodb:BatchGetItem', 'dynamodb:UpdateItem'], [this.ledger.arn]);
    reconcile.grant(['sqs:SendMessage'], [this.signals.queue.queueArn]);
    reconcile.grant(['secretsmanager:GetSecretValue'], Object.values(this.secrets.exchangeKeys));
    return reconcile;
  }

  #connectQueue(): void {
    const mapping = new EventSourceMapping(this, 'SignalsToExecute', {
      target: this.execute.lambda,
      eventSourceArn: this.signals.queue.queueArn,
      // One signal a run: a slow response or a crash holds up nobody else's signal, and none is handed out twice for it.
      batchSize: 1,
      reportBatchItemFailures: true,
    });
    Validations.of(mapping).acknowledge({
      id: 'Serverless-LambdaEventSourceMappingDestination',
      reason:
        'For a queue there is no such destination: its dead-letter queue keeps what could not be handled.',
    });
  }
}
