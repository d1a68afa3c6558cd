import type { Duration } from 'aws-cdk-lib';
import { Metric, Stats } from 'aws-cdk-lib/aws-cloudwatch';
import { FilterPattern, type IFilterPattern, MetricFilter } from 'aws-cdk-lib/aws-logs';
import type { IQueue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import type { AccountSnapshots } from './account-snapshots.ts';
import { type AlarmTopic, alarmPeriod } from './alarm-topic.ts';
import { addThrottleAlarms, addTimeAlarm } from './capacity-alarms.ts';
import type { LedgerTable } from './ledger-table.ts';
import type { RelayFunction } from './relay-function.ts';
import type { SignalQueue } from './signal-queue.ts';
import { addSnapshotAlarms } from './snapshot-alarms.ts';
import type { WebhookApi } from './webhook-api.ts';

export interface RelayAlarmsProps {
  readonly topic: AlarmTopic;
  readonly api: WebhookApi;
  readonly signals: SignalQueue;
  readonly undelivered: IQueue;
  readonly receive: RelayFunction;
  readonly execute: RelayFunction;
  readonly reconcile: RelayFunction;
  readonly snapshots: AccountSnapshots;
  readonly ledger: LedgerTable;
  /** A signal that waits longer is too old to be sent. */
  readonly maxSignalAge: Duration;
}

/**
 * What the logs are counted for; every line is one JSON object.
 *
 * What comes of comparing a field that is not there is not written down anywhere: its absence is asked for apart.
 *
 * @see https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/FilterAndPatternSyntax.html
 */
const countedLines = {
  /** Said when it becomes unknown, and again as long as it stays so. */
  Unknown: FilterPattern.literal('{ ($.alarm IS TRUE) && ($.status = "unknown") }'),
  /** Whatever else the relay itself calls an alarm. */
  Attention: FilterPattern.literal(
    '{ ($.alarm IS TRUE) && (($.status NOT EXISTS) || ($.status != "unknown")) }',
  ),
  Rejected: FilterPattern.literal('{ $.status = "rejected" }'),
  NoOrder: FilterPattern.literal('{ ($.status = "not_sent") || ($.status = "not_placed") }'),
  /** No alarm of its own: a rule did what it is there for. A cancellation that was denied says so itself. */
  Denied: FilterPattern.literal('{ $.message = "signal denied" }'),
  Refused: FilterPattern.literal(
    '{ ($.httpStatus >= 400) && ($.httpStatus < 500) && ($.code != "unauthorized") && ($.code != "method_not_allowed") }',
  ),
  Unauthorized: FilterPattern.literal('{ $.code = "unauthorized" }'),
  /** In the access log, whose values are all text. The function behind the door has no such response. */
  TurnedAway: FilterPattern.literal('{ $.status = "403" }'),
} as const satisfies Record<string, IFilterPattern>;
type Counted = keyof typeof countedLines;
export const countedNames = Object.keys(countedLines) as readonly Counted[];

const relay = 'npx relay';
const inLedger = `${relay} signals --stack STACK`;

/** What wakes somebody, each with what to do then. No alarm uses a formula: a metric says it, or it is not said. */
export class RelayAlarms extends Construct {
  readonly #namespace: string;

  constructor(scope: Construct, id: string, props: RelayAlarmsProps) {
    super(scope, id);
    this.#namespace = `TradingRelay/${scope.node.path}`;
    this.#addOutcomes(props);
    this.#addDoor(props);
    this.#addQueues(props);
    this.#addFunctions(props);
    addThrottleAlarms(props.topic, 'Ledger', props.ledger.table);
    addSnapshotAlarms(props.topic, props.snapshots);
  }

  /** Lines of that kind in the logs of the relay. */
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
        'An order was sent and its response lost; this rings again and again as long as nobody knows what became of it.',
      runbook: `the relay looks for it by itself, and never sends it again; what \`${inLedger} --status unknown\` still shows, look up on the exchange by its client order id and settle with \`${relay} resolve ID --stack STACK\`.`,
    });
    topic.add('Attention', {
      metric: this.#count('Attention', receive, execute, reconcile, ...imports),
      meaning:
        'Something is as it should never be: an order under another name or twice, a signal that was not carried out, a cancellation that was denied or left something open, interest payments that the exchange shows no more.',
      runbook: `the lines with "alarm":true in the logs of the functions say what, and of which signal or account; signals that only wait go on after \`${relay} redrive --stack STACK\`.`,
    });
    topic.add('Rejections', {
      metric: this.#count('Rejected', execute, reconcile),
      meaning:
        'The exchange refused an order, which then is none, or a cancellation came to nothing: its order may still be open.',
      runbook: `run \`${inLedger} --status rejected\`; the exchange's code and texts say what to change (balance, size, key permissions).`,
    });
    topic.add('NoOrder', {
      metric: this.#count('NoOrder', execute, reconcile),
      meaning:
        'An order provably never reached the exchange, or was looked for and is nowhere: there is no order.',
      runbook: `run \`${inLedger} --status not_sent\`, and \`not_placed\`, for the reason, then \`${relay} doctor --stack STACK\`; whether it is still wanted is yours to decide.`,
    });
    this.#count('Denied', execute, reconcile);
  }

  #addDoor({ topic, api, receive }: RelayAlarmsProps): void {
    topic.add('Refusals', {
      metric: this.#count('Refused', receive),
      meaning: 'An alert was refused at the door: no order came of it.',
      runbook: `run \`${inLedger} --status invalid\`; each entry says what to correct in the TradingView alert.`,
    });
    topic.add('AuthenticationFailures', {
      metric: this.#count('Unauthorized', receive),
      meaning: 'An allowed address called with an account or token that is not known.',
      runbook:
        'compare the URL in TradingView with `npx relay webhook --stack STACK`; if it is right somebody else is trying: `token rotate ACCOUNT`.',
    });
    topic.add('TurnedAway', {
      metric: this.#count('TurnedAway', { node: api.node, logGroup: api.accessLog }),
      meaning:
        'An address that is not on the list called a webhook and was turned away: no order came of it.',
      runbook:
        'its sourceIp is in the access log; if that is you, or TradingView has new addresses, put it into allowedAddresses of relay.config.ts and deploy; if not, nothing got in.',
    });
    topic.add('AlertsNotTaken', {
      metric: api.api.metricServerError({ statistic: Stats.SUM, period: alarmPeriod }),
      meaning:
        'An alert was answered with a 5xx: it was not completely taken in, and TradingView tries three times more.',
      runbook:
        'look into the log of the receiving function, and whether the throttle is too low; an alert that is not in the ledger afterwards is lost and must be acted on by hand.',
    });
  }

  #addQueues({ topic, signals, undelivered, maxSignalAge }: RelayAlarmsProps): void {
    const latest = { statistic: Stats.MAXIMUM, period: alarmPeriod };
    topic.add('DeadLetters', {
      metric: signals.deadLetters.metricApproximateNumberOfMessagesVisible(latest),
      meaning:
        'A signal could not be handled in five tries and was set aside; later ones of its market went on.',
      runbook:
        'find the reason in the log of the executing function, then `npx relay redrive --stack STACK`; what is too old by then ends as denied.',
    });
    topic.add('OldestSignal', {
      metric: signals.queue.metricApproximateAgeOfOldestMessage(latest),
      above: Math.ceil(maxSignalAge.toSeconds({ integral: false })),
      meaning: 'A signal has been waiting for longer than it may; it will be denied as stale.',
      runbook:
        'look into the log of the executing function: the exchange is slow or away, or a signal ahead of it fails; `npx relay doctor --stack STACK` tells which.',
    });
    topic.add('Undelivered', {
      metric: undelivered.metricApproximateNumberOfMessagesVisible(latest),
      meaning: 'A scheduled run failed to its end, or an alarm mail could not be delivered.',
      runbook:
        'read the messages of the undelivered queue: they name the schedule or the topic; then purge the queue.',
    });
  }

  #addFunctions({ topic, receive, execute, reconcile }: RelayAlarmsProps): void {
    const sum = { statistic: Stats.SUM, period: alarmPeriod };
    const functions = { Receive: receive, Execute: execute, Reconcile: reconcile };
    for (const [name, run] of Object.entries(functions)) {
      topic.add(`${name}Errors`, {
        metric: run.lambda.metricErrors(sum),
        meaning: `The function "${name.toLowerCase()}" crashed or ran out of time.`,
        runbook: 'look into its log around this time; signals that were under way come again by themselves.',
      });
      addTimeAlarm(topic, name, run);
    }
    // Of the reconciler, a run that was throttled is not missed until five in a row are.
    for (const [name, { lambda }] of Object.entries({ Receive: receive, Execute: execute }))
      topic.add(`${name}Throttled`, {
        metric: lambda.metricThrottles(sum),
        meaning: `AWS refused to run the function "${name.toLowerCase()}": too many functions of this AWS account ran at once.`,
        runbook:
          'ask for a higher quota of concurrent Lambda executions in Service Quotas; it is 10 in a new account. Signals that wait come again by themselves.',
      });
    // Silence rings, or a schedule that never ran at all would not.
    // Short periods, because CloudWatch looks some of them further back before it takes missing numbers for silence.
    topic.add('ReconcileDidNotRun', {
      metric: reconcile.lambda.metricInvocations(sum),
      below: 1,
      periods: 5,
      meaning: 'The schedule that looks after signals left behind has not run for five minutes.',
      runbook:
        'see in EventBridge Scheduler whether the schedule is enabled, and in the undelivered queue why runs failed.',
    });
  }

  /** Counts lines of one kind in several logs into one metric. */
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
