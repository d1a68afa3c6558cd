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
import { FixedAddress } from './fixed-address.ts';
import { KeepWarm, nameRelease } from './keep-warm.ts';
import { LedgerTable } from './ledger-table.ts';
import { RelayAlarms } from './relay-alarms.ts';
import { RelayDashboard } from './relay-dashboard.ts';
import { RelayFunction } from './relay-function.ts';
import { RelayNotices, type StackNotices } from './relay-notices.ts';
import { RelaySchedule } from './relay-schedule.ts';
import { SignalFifo } from './signal-queue.ts';
import { UndeliveredQueue } from './undelivered-queue.ts';
import { type Throttle, WebhookApi } from './webhook-api.ts';

export interface TradingRelayProps {
  /** The bundles that the functions run, from `bundleFunctions`; they include the configuration. */
  readonly bundles: Bundles;
  /** The accounts of that configuration; each gets a webhook token and a secret for its exchange key. */
  readonly accounts: readonly string[];
  /**
   * Name of the API's stage: the first part of the webhook's path.
   * @default 'prod'
   */
  readonly stage?: string;
  /**
   * Addresses and ranges that may call the webhook, in addition to TradingView's.
   * @default - none
   */
  readonly allowedAddresses?: readonly string[];
  /**
   * Receives the alarms by mail, once it confirms the subscription. Null: alarms show on the dashboard only.
   * @default null
   */
  readonly alarmEmail?: string | null;
  /**
   * Whether the functions on the way of an alert are kept warm, so that an alert after a quiet day is as fast as the next.
   * @default true
   */
  readonly keepWarm?: boolean;
  /**
   * Whether every request to the exchange comes from one address that stays.
   * @default false - a NAT gateway costs about 37 dollars a month
   */
  readonly fixedAddress?: boolean;
  /**
   * How long logs are kept. The ledger has its own retention.
   * @default RetentionDays.THREE_MONTHS
   */
  readonly logRetention?: RetentionDays;
  /**
   * A signal that waits longer than this in the queue raises an alarm.
   * @default Duration.seconds(60)
   */
  readonly maxSignalAge?: Duration;
  /**
   * How many requests the webhook takes from all callers together. Further requests get a 503, after which
   * TradingView sends the alert again.
   * @default 10 requests a second, 50 at once: several strategies alert together at the close of a bar
   */
  readonly throttle?: Throttle;
  /**
   * The time zone of the reconciler's schedule.
   * @default TimeZone.ETC_UTC
   */
  readonly timeZone?: TimeZone;
  /**
   * The schedules of the snapshots of balances, transfer fees and interest, one expression each.
   * @default - none; the table for them is created all the same
   */
  readonly snapshots?: SnapshotSettings;
  /**
   * Who is told what, and when the heartbeat is sent.
   * @default - nobody is told, and nothing is made for it
   */
  readonly notices?: StackNotices;
  /**
   * What happens to tokens and exchange keys when the stack is deleted. Ledger and snapshots are always kept.
   * @default RemovalPolicy.DESTROY - a key that can trade is deleted with the relay that used it
   */
  readonly secretsRemovalPolicy?: RemovalPolicy;
}

/**
 * TradingView waits only 3 s, but the function may finish later: a signal that is stored late is known, and
 * its age decides whether it is executed. The value is above two tries of each AWS call and below API
 * Gateway's limit of 29 s.
 */
const receiveTimeout = Duration.seconds(10);
/**
 * The last signal of a delivery is started within 4 s, and its requests to the exchange take 25 s at most. That is the
 * worst case of an exchange that lets each request run into its timeout; an order usually takes less than a second.
 */
const executeTimeout = Duration.seconds(30);
/**
 * Lookups start within 30 s; the last may take some requests more. The run ends before the next one begins.
 */
const reconcileTimeout = Duration.seconds(50);

/**
 * CPU grows with memory: 512 MB have 0.29 of a core. Loading a function's code takes 50 ms of a whole core and
 * 60 MB, so even at that share a start takes 0.2 s, far below TradingView's 3 s; a warm run waits far more than it
 * computes.
 */
const hurriedMemoryMiB = 512;
/** No caller waits, so speed matters little; a run with a hundred lookups takes 100 MB. */
const patientMemoryMiB = 512;

/** A complete relay: webhook, queue, functions, ledger, secrets, snapshots, alarms and dashboard. */
export class TradingRelay extends Construct {
  readonly api: WebhookApi;
  readonly signals: SignalFifo;
  readonly ledger: LedgerTable;
  readonly secrets: AccountSecrets;
  readonly receive: RelayFunction;
  readonly execute: RelayFunction;
  readonly reconcile: RelayFunction;
  readonly snapshots: AccountSnapshots;
  readonly alarmTopic: AlarmTopic;
  /** Null: nobody is told. */
  readonly notices: RelayNotices | null;
  /** Null: the exchange sees addresses of Lambda, which change. */
  readonly network: FixedAddress | null;
  readonly #logRetention: RetentionDays;

  constructor(scope: Construct, id: string, props: TradingRelayProps) {
    super(scope, id);
    this.#logRetention = props.logRetention ?? RetentionDays.THREE_MONTHS;
    const settings = (props.notices?.channels ?? []).length === 0 ? null : (props.notices ?? null);
    this.ledger = new LedgerTable(this, 'Ledger', { hasStream: settings !== null });
    this.signals = new SignalFifo(this, 'Signals', { consumerTimeout: executeTimeout });
    const removalPolicy = props.secretsRemovalPolicy ?? RemovalPolicy.DESTROY;
    this.secrets = new AccountSecrets(this, 'Secrets', {
      accounts: props.accounts,
      removalPolicy,
    });
    const undelivered = new UndeliveredQueue(this, 'Undelivered');
    this.network = props.fixedAddress === true ? new FixedAddress(this, 'FixedAddress') : null;
    this.receive = this.#createReceive(props);
    this.execute = this.#createExecute(props);
    this.reconcile = this.#createReconcile(props);
    this.#connectQueue();
    new RelaySchedule(this, 'ReconcileSchedule', {
      description: 'Runs reconcile-signals every minute',
      expression: ScheduleExpression.cron({ minute: '*', timeZone: props.timeZone ?? TimeZone.ETC_UTC }),
      target: this.reconcile,
      // A minute later the next run does the same work.
      retries: 2,
      maxAge: Duration.minutes(1),
      undelivered,
    });
    if (keepsWarm(props)) new KeepWarm(this, 'KeepWarm', { Receive: this.receive, Execute: this.execute });
    this.snapshots = new AccountSnapshots(this, 'Snapshots', {
      bundles: props.bundles,
      settings: props.snapshots ?? null,
      exchangeKeys: this.secrets.exchangeKeys,
      logRetention: this.#logRetention,
      network: this.network,
      undelivered,
      alarmsIn: settings === null ? null : this.ledger,
    });
    this.api = new WebhookApi(this, 'Webhook', {
      stage: props.stage ?? 'prod',
      receiver: this.receive,
      allowedAddresses: props.allowedAddresses ?? [],
      throttle: props.throttle ?? { requestsPerSecond: 10, burst: 50 },
      logRetention: this.#logRetention,
    });
    this.alarmTopic = new AlarmTopic(this, 'Alarms', { email: props.alarmEmail ?? null, undelivered });
    this.notices =
      settings === null
        ? null
        : new RelayNotices(this, 'Notices', {
            bundle: props.bundles['send-notices'],
            settings,
            ledger: this.ledger,
            topic: this.alarmTopic,
            logRetention: this.#logRetention,
            removalPolicy,
            undelivered,
          });
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
      description: 'Trading relay: receives alerts',
      bundle: bundles['receive-signal'],
      memoryMiB: hurriedMemoryMiB,
      timeout: receiveTimeout,
      logRetention: this.#logRetention,
      // It asks the exchange nothing.
      network: null,
      environment: {
        LEDGER_TABLE: this.ledger.table.tableName,
        SIGNAL_QUEUE_URL: this.signals.queue.queueUrl,
        WEBHOOK_TOKENS: Stack.of(this).toJsonString(this.secrets.webhookTokens),
      },
    });
    // PutItem covers a transaction that only puts items.
    receive.grant(
      ['dynamodb:GetItem', 'dynamodb:BatchGetItem', 'dynamodb:PutItem', 'dynamodb:UpdateItem'],
      [this.ledger.arn],
    );
    receive.grant(['sqs:SendMessage'], [this.signals.queue.queueArn]);
    receive.grant(['secretsmanager:GetSecretValue'], Object.values(this.secrets.webhookTokens));
    return receive;
  }

  #createExecute(props: TradingRelayProps): RelayFunction {
    const { bundles } = props;
    const release = nameRelease(bundles['receive-signal'], bundles['execute-signal']);
    const execute = new RelayFunction(this, 'Execute', {
      description: 'Trading relay: executes signals',
      bundle: bundles['execute-signal'],
      memoryMiB: hurriedMemoryMiB,
      timeout: executeTimeout,
      logRetention: this.#logRetention,
      network: this.network,
      environment: {
        LEDGER_TABLE: this.ledger.table.tableName,
        SIGNAL_QUEUE_URL: this.signals.queue.queueUrl,
        EXCHANGE_KEYS: Stack.of(this).toJsonString(this.secrets.exchangeKeys),
        // By it the function knows whether an alert should have met a warm one.
        ...(keepsWarm(props) ? { RELEASE: release } : {}),
      },
    });
    // It stores and queues signals of its own, which keep the protection of positions.
    const items = ['dynamodb:GetItem', 'dynamodb:BatchGetItem', 'dynamodb:PutItem', 'dynamodb:UpdateItem'];
    execute.grant(items, [this.ledger.arn]);
    execute.grant(['sqs:SendMessage'], [this.signals.queue.queueArn]);
    for (const index of ['open-orders', 'by-account'] as const)
      execute.grant(['dynamodb:Query'], [this.ledger.indexArn(index)]);
    execute.grant(['dynamodb:Query'], [this.ledger.arn]);
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
      description: 'Trading relay: looks up unknown orders, follows placed ones, queues stuck signals again',
      bundle: bundles['reconcile-signals'],
      memoryMiB: patientMemoryMiB,
      timeout: reconcileTimeout,
      logRetention: this.#logRetention,
      network: this.network,
      environment: {
        LEDGER_TABLE: this.ledger.table.tableName,
        SIGNAL_QUEUE_URL: this.signals.queue.queueUrl,
        EXCHANGE_KEYS: Stack.of(this).toJsonString(this.secrets.exchangeKeys),
        // Named in the commands that its alarms advise.
        STACK_NAME: Stack.of(this).stackName,
      },
    });
    for (const index of ['by-status', 'by-look', 'open-orders', 'by-account'] as const)
      reconcile.grant(['dynamodb:Query'], [this.ledger.indexArn(index)]);
    reconcile.grant(['dynamodb:Query'], [this.ledger.arn]);
    reconcile.grant(
      ['dynamodb:GetItem', 'dynamodb:BatchGetItem', 'dynamodb:PutItem', 'dynamodb:UpdateItem'],
      [this.ledger.arn],
    );
    reconcile.grant(['sqs:SendMessage'], [this.signals.queue.queueArn]);
    reconcile.grant(['secretsmanager:GetSecretValue'], Object.values(this.secrets.exchangeKeys));
    return reconcile;
  }

  #connectQueue(): void {
    const mapping = new EventSourceMapping(this, 'SignalsToExecute', {
      target: this.execute.lambda,
      eventSourceArn: this.signals.queue.queueArn,
      // One signal a run: a slow response or a crash neither delays another signal nor causes its redelivery.
      batchSize: 1,
      reportBatchItemFailures: true,
    });
    Validations.of(mapping).acknowledge({
      id: 'Serverless-LambdaEventSourceMappingDestination',
      reason:
        'Lambda has no such destination for a queue. The dead-letter queue keeps the signals that failed.',
    });
  }
}

function keepsWarm({ keepWarm = true }: TradingRelayProps): boolean {
  return keepWarm;
}
