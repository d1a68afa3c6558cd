import type { Duration } from 'aws-cdk-lib';
import { MathExpression, Metric, Stats } from 'aws-cdk-lib/aws-cloudwatch';
import { FilterPattern, type IFilterPattern, MetricFilter } from 'aws-cdk-lib/aws-logs';
import type { IQueue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import type { AccountSnapshots } from './account-snapshots.ts';
import { type AlarmTopic, alarmPeriod } from './alarm-topic.ts';
import type { LedgerTable } from './ledger-table.ts';
import type { RelayFunction } from './relay-function.ts';
import type { SignalFifo } from './signal-queue.ts';
import { addSnapshotAlarms } from './snapshot-alarms.ts';
import type { WebhookApi } from './webhook-api.ts';

/** @see DECISIONS 81 */
export interface RelayAlarmsProps {
  readonly topic: AlarmTopic;
  readonly api: WebhookApi;
  readonly signals: SignalFifo;
  readonly undelivered: IQueue;
  readonly receive: RelayFunction;
  readonly execute: RelayFunction;
  readonly reconcile: RelayFunction;
  readonly snapshots: AccountSnapshots;
  readonly ledger: LedgerTable;
  /** A signal older than this is denied as stale. */
  readonly maxSignalAge: Duration;
}

/**
 * Which log lines are counted; every line is one JSON object.
 *
 * AWS does not document the result of comparing a field that
 * is absent, so a pattern tests for the absence explicitly.
 *
 * @see https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/FilterAndPatternSyntax.html
 */
const countedLines = {
  /** Logged when an entry becomes unknown, and repeatedly while it stays unknown. */
  Unknown: FilterPattern.literal('{ ($.alarm IS TRUE) && ($.status = "unknown") }'),
  /** Every other line that the relay marks as an alarm. */
  Attention: FilterPattern.literal(
    '{ ($.alarm IS TRUE) && (($.status NOT EXISTS) || ($.status != "unknown")) }',
  ),
  /** A denial is not among them: the rule did its job. A denied cancellation logs its own alarm line. */
  NoOrder: FilterPattern.literal(
    '{ ($.status = "rejected") || ($.status = "not_sent") || ($.status = "not_placed") }',
  ),
  Refused: FilterPattern.literal(
    '{ ($.httpStatus >= 400) && ($.httpStatus < 500) && ($.code != "method_not_allowed") }',
  ),
  /** Counted in the access log, whose values are all text. receive-signal itself never responds with 403. */
  TurnedAway: FilterPattern.literal('{ $.status = "403" }'),
} as const satisfies Record<string, IFilterPattern>;
/** A metric for each alarm of the relay, by its name, for the dashboard: a name that never occurs has none. */
const named = {
  metricName: 'Alarms',
  dimension: 'alarmName',
  filterPattern: FilterPattern.literal('{ ($.alarm IS TRUE) && ($.alarmName = "*") }'),
} as const;
type Counted = keyof typeof countedLines;
export const countedNames = Object.keys(countedLines) as readonly Counted[];

const relay = 'npx relay';
const inLedger = `${relay} signals --stack STACK`;

/**
 * Every alarm of the relay with its runbook. Each alarm watches one metric; none uses metric math.
 *
 * An alarm and a metric of log lines cost money each month, so what another alarm says as well has none of its own.
 * docs/aws.md lists what each alarm covers. Alarms that repeat or last stay apart from those that do not:
 * an alarm that is already on sends no second mail.
 */
export class RelayAlarms extends Construct {
  readonly #namespace: string;

  constructor(scope: Construct, id: string, props: RelayAlarmsProps) {
    super(scope, id);
    this.#namespace = `TradingRelay/${scope.node.path}`;
    this.#addOutcomes(props);
    this.#addWebhook(props);
    this.#addQueues(props);
    this.#addFunctions(props);
    addSnapshotAlarms(props.topic, props.snapshots);
  }

  /** The number of alarms of the relay, one line for each name. */
  alarmsByName(): MathExpression {
    return new MathExpression({
      expression: `SEARCH('{${this.#namespace},${named.dimension}} MetricName="${named.metricName}"', 'Sum', ${alarmPeriod.toSeconds()})`,
      period: alarmPeriod,
      label: '',
    });
  }

  /** The number of lines of that kind in the relay's logs, a minute. */
  metric(name: Counted): Metric {
    return new Metric({
      namespace: this.#namespace,
      metricName: name,
      statistic: Stats.SUM,
      period: alarmPeriod,
    });
  }

  #addOutcomes({ topic, receive, execute, reconcile, snapshots }: RelayAlarmsProps): void {
    const imports = snapshots.jobs.filter(({ name }) => name === 'Interest').map(({ run }) => run);
    topic.add('UnknownOutcomes', {
      metric: this.#count('Unknown', execute, reconcile),
      meaning:
        'An order or cancellation was sent and its response was lost, so its outcome is unknown. The alarm repeats until the outcome is known.',
      runbook: `the reconciler looks the order up by itself, and the relay never sends it again. Run \`${inLedger} --status unknown\`. If it still lists the signal, look up its client order id on the exchange and record what you found with \`${relay} resolve ID --stack STACK\`.`,
    });
    topic.add('Attention', {
      metric: this.#count('Attention', receive, execute, reconcile, ...imports),
      meaning:
        'The relay logged an alarm. For example: the exchange reported another order than the one sent, a signal was not executed, a cancellation was denied or may have left orders open, alerts exceed the limit a minute, or interest payments are no longer listed by the exchange.',
      runbook: `search the logs of the functions for "alarm":true. The dashboard shows the names of the alarms, and each line says what happened to which signal or account. If it says that signals are waiting, remove the cause and run \`${relay} redrive --stack STACK\`.`,
    });
    this.#countByName(receive, execute, reconcile, ...imports);
    topic.add('NoOrder', {
      metric: this.#count('NoOrder', execute, reconcile),
      meaning:
        'A signal ended without its order: the exchange rejected it, it provably never reached the exchange, or lookups proved that the exchange does not have it. Or the exchange rejected a cancellation, so the order it was for may still be open.',
      runbook: `run \`${inLedger} --status rejected\`, then the same with not_sent and not_placed, for the reason: the exchange's code and messages say what to change (balance, size, key permissions). If they do not, run \`${relay} doctor --stack STACK\`. The relay does not send an order again: if you still want it, place it yourself. After a rejected cancellation, check the open orders on the exchange.`,
    });
  }

  #addWebhook({ topic, api, receive }: RelayAlarmsProps): void {
    topic.add('Refusals', {
      metric: this.#count('Refused', receive),
      meaning:
        'The webhook refused an alert of an allowed address (4xx), so no order was placed for it: its text is wrong, it came too late, or it names an unknown account or a wrong token (401).',
      runbook: `run \`${inLedger} --status invalid\`. Each entry says what to correct in the TradingView alert. An alert with a wrong URL has no entry: find "unauthorized" in the log of the function "receive", and compare the URL in TradingView with the output of \`${relay} webhook ACCOUNT --stack STACK\`. If they are equal, another caller is guessing: replace the token with \`${relay} token rotate ACCOUNT --stack STACK\`, and put the new URL into TradingView.`,
    });
    topic.add('TurnedAway', {
      metric: this.#count('TurnedAway', { node: api.node, logGroup: api.accessLog }),
      meaning:
        'An address that is not on the allowlist called the webhook. The request got a 403 and no order was placed.',
      runbook:
        'find the sourceIp in the access log. If it is yours or a new address of TradingView, add it to allowedAddresses in relay.config.ts and deploy. Otherwise do nothing: the request was blocked.',
    });
    topic.add('AlertsNotTaken', {
      metric: api.api.metricServerError({ statistic: Stats.SUM, period: alarmPeriod }),
      meaning:
        'The webhook responded with a 5xx: the alert may not be stored or queued. The function "receive" crashed, was throttled by AWS, or took longer than 2 s. TradingView sends the alert up to three more times.',
      runbook:
        'read the log of the function "receive" for the cause. If it shows none, look on the dashboard for throttled functions (a new AWS account runs 10 at once: ask for more in Service Quotas), and check whether the throttle of the API is too low. Then check with `npx relay signals --stack STACK` that the alert is in the ledger: if it is not, it is lost and you must act on it yourself.',
    });
  }

  #addQueues({ topic, signals, undelivered, maxSignalAge }: RelayAlarmsProps): void {
    const latest = { statistic: Stats.MAXIMUM, period: alarmPeriod };
    topic.add('DeadLetters', {
      metric: signals.deadLetters.metricApproximateNumberOfMessagesVisible(latest),
      meaning:
        'A signal failed in five deliveries and was moved to the dead-letter queue. Later signals of its market were executed without it.',
      runbook:
        'find the reason in the log of the function "execute" and remove it. Then run `npx relay redrive --stack STACK`. Signals that are too old by then are denied.',
    });
    topic.add('OldestSignal', {
      metric: signals.queue.metricApproximateAgeOfOldestMessage(latest),
      above: Math.ceil(maxSignalAge.toSeconds({ integral: false })),
      meaning:
        'A signal has waited in the queue for longer than its maximum age. It will be denied as stale.',
      runbook:
        'read the log of the function "execute". Either the exchange is slow or down, an earlier signal of the same market keeps failing, or the dashboard shows that AWS throttles the function or the ledger. `npx relay doctor --stack STACK` shows which.',
    });
    topic.add('Undelivered', {
      metric: undelivered.metricApproximateNumberOfMessagesVisible(latest),
      meaning:
        'A scheduled run (the reconciler, or a snapshot) failed, crashed or timed out in all its retries, or an alarm mail could not be delivered.',
      runbook:
        'read the messages in the undelivered queue: each names its function, schedule or topic. Read the log of that function around this time. Remove the cause, then purge the queue.',
    });
  }

  /**
   * What goes wrong in "receive" is a 5xx of the webhook. A failed run of the
   * reconciler is retried, then put into the undelivered queue, whose alarm
   * may be on already for another reason.
   */
  #addFunctions({ topic, execute, reconcile }: RelayAlarmsProps): void {
    const sum = { statistic: Stats.SUM, period: alarmPeriod };
    topic.add('ExecuteErrors', {
      metric: execute.lambda.metricErrors(sum),
      meaning: 'The function "execute" crashed or ran out of time.',
      runbook:
        'read its log around this time for the cause: the exchange, AWS, or the code. Signals in progress are delivered again without your help.',
    });
    // Each run counts as an error or as none, so the least of a minute is above zero only if no run of it ended well. Missing
    // data sets the alarm off, too, or a schedule that never ran would raise none. The periods are short, because CloudWatch
    // looks several periods further back before it treats data as missing.
    topic.add('ReconcileDidNotRun', {
      metric: reconcile.lambda.metricErrors({ statistic: Stats.MINIMUM, period: alarmPeriod }),
      orMissing: true,
      periods: 5,
      meaning:
        'For five minutes the reconciler has not run, or each of its runs failed. It looks up orders whose outcome is unknown, queues signals again that got stuck, and follows placed orders and what protects their positions.',
      runbook:
        'read the log of the function "reconcile" for the cause. If it shows no run, check in EventBridge Scheduler that the schedule is enabled, and read in the undelivered queue why runs failed.',
    });
  }

  #countByName(...sources: readonly Pick<RelayFunction, 'logGroup' | 'node'>[]): void {
    const { metricName, dimension, filterPattern } = named;
    for (const { logGroup, node } of sources)
      new MetricFilter(this, `${metricName}In${node.id}`, {
        logGroup,
        filterPattern,
        metricNamespace: this.#namespace,
        metricName,
        metricValue: '1',
        dimensions: { [dimension]: `$.${dimension}` },
      });
  }

  /** Counts the lines of one kind in several logs into one metric. */
  #count(name: Counted, ...sources: readonly Pick<RelayFunction, 'logGroup' | 'node'>[]): Metric {
    for (const { logGroup, node } of sources)
      new MetricFilter(this, `${name}In${node.id}`, {
        logGroup,
        filterPattern: countedLines[name],
        metricNamespace: this.#namespace,
        metricName: name,
        metricValue: '1',
      });
    return this.metric(name);
  }
}
