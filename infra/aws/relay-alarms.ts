import { Duration } from 'aws-cdk-lib';
import { Metric, Stats } from 'aws-cdk-lib/aws-cloudwatch';
import { FilterPattern, type IFilterPattern, MetricFilter } from 'aws-cdk-lib/aws-logs';
import type { IQueue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { type AlarmTopic, alarmPeriod } from './alarm-topic.ts';
import type { RelayFunction } from './relay-function.ts';
import type { SignalQueue } from './signal-queue.ts';
import type { WebhookApi } from './webhook-api.ts';

export interface RelayAlarmsProps {
  readonly topic: AlarmTopic;
  readonly api: WebhookApi;
  readonly signals: SignalQueue;
  readonly undelivered: IQueue;
  readonly receive: RelayFunction;
  readonly execute: RelayFunction;
  readonly reconcile: RelayFunction;
  /** A signal that waits longer is too old to be sent. */
  readonly maxSignalAge: Duration;
}

/** What the functions' logs are counted for; every line is one JSON object. */
const countedLines = {
  /** What the relay itself calls an alarm, unknown outcomes first of all. */
  Alarms: FilterPattern.literal('{ $.alarm IS TRUE }'),
  Rejected: FilterPattern.literal('{ $.status = "rejected" }'),
  NotSent: FilterPattern.literal('{ $.status = "not_sent" }'),
  Refused: FilterPattern.literal(
    '{ ($.httpStatus >= 400) && ($.httpStatus < 500) && ($.code != "unauthorized") && ($.code != "method_not_allowed") }',
  ),
  Unauthorized: FilterPattern.literal('{ $.code = "unauthorized" }'),
} as const satisfies Record<string, IFilterPattern>;
type Counted = keyof typeof countedLines;

const inLedger = 'npm run -s relay -- signals --stack STACK';

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

  #addOutcomes({ topic, receive, execute, reconcile }: RelayAlarmsProps): void {
    topic.add('UnknownOutcomes', {
      metric: this.#count('Alarms', receive, execute, reconcile),
      meaning:
        'An order was sent and its answer lost, or something else happened that the relay cannot settle by itself.',
      runbook: `run \`${inLedger} --status unknown\`, look each order up on the exchange by its client order id, and only then act; the relay never sends it again.`,
    });
    topic.add('Rejections', {
      metric: this.#count('Rejected', execute),
      meaning: 'The exchange refused an order: there is no order.',
      runbook: `run \`${inLedger} --status rejected\`; the exchange's code and texts say what to change (balance, size, key permissions).`,
    });
    topic.add('NotSent', {
      metric: this.#count('NotSent', execute),
      meaning: 'An order provably never reached the exchange: there is no order.',
      runbook: `run \`${inLedger} --status not_sent\` for the reason, then \`npm run -s relay -- doctor --stack STACK\`.`,
    });
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
        'compare the URL in TradingView with `npm run -s relay -- webhook --stack STACK`; if it is right somebody else is trying: `token rotate ACCOUNT`.',
    });
    topic.add('AlertsNotTaken', {
      metric: api.api.metricServerError({ statistic: Stats.SUM, period: alarmPeriod }),
      meaning: 'An alert was answered with a 5xx: it was not stored, and TradingView tries three times more.',
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
        'find the reason in the log of the executing function, then `npm run -s relay -- redrive --stack STACK`; what is too old by then ends as denied.',
    });
    topic.add('OldestSignal', {
      metric: signals.queue.metricApproximateAgeOfOldestMessage(latest),
      above: Math.ceil(maxSignalAge.toSeconds({ integral: false })),
      meaning: 'A signal has been waiting for longer than it may; it will be denied as stale.',
      runbook:
        'look into the log of the executing function: the exchange is slow or away, or a signal ahead of it fails; `npm run -s relay -- doctor --stack STACK` tells which.',
    });
    topic.add('Undelivered', {
      metric: undelivered.metricApproximateNumberOfMessagesVisible(latest),
      meaning: 'A scheduled run failed to its end, or an alarm mail could not be delivered.',
      runbook:
        'read the messages of the undelivered queue: they name the schedule or the topic; then purge the queue.',
    });
  }

  #addFunctions({ topic, receive, execute, reconcile }: RelayAlarmsProps): void {
    for (const [name, { lambda }] of Object.entries({
      Receive: receive,
      Execute: execute,
      Reconcile: reconcile,
    }))
      topic.add(`${name}Errors`, {
        metric: lambda.metricErrors({ statistic: Stats.SUM, period: alarmPeriod }),
        meaning: `The function "${name.toLowerCase()}" crashed or ran out of time.`,
        runbook: 'look into its log around this time; signals that were under way come again by themselves.',
      });
    topic.add('ReconcileDidNotRun', {
      metric: reconcile.lambda.metricInvocations({ statistic: Stats.SUM, period: Duration.minutes(5) }),
      below: 1,
      meaning: 'The schedule that picks up signals left behind has not run for five minutes.',
      runbook:
        'see in EventBridge Scheduler whether the schedule is enabled, and in the undelivered queue why runs failed.',
    });
  }

  /** Counts lines of one kind in several logs into one metric. */
  #count(name: Counted, ...functions: readonly RelayFunction[]): Metric {
    for (const { logGroup, node } of functions)
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
