import { Duration } from 'aws-cdk-lib';
import {
  AlarmStatusWidget,
  Dashboard,
  GraphWidget,
  type IMetric,
  type IWidget,
  LogQueryVisualizationType,
  LogQueryWidget,
  Stats,
} from 'aws-cdk-lib/aws-cloudwatch';
import type { Construct } from 'constructs';
import { countedNames, type RelayAlarms, type RelayAlarmsProps } from './relay-alarms.ts';

export interface RelayDashboardProps extends RelayAlarmsProps {
  readonly alarms: RelayAlarms;
}

const period = Duration.minutes(1);
const sum = { statistic: Stats.SUM, period };
const maximum = { statistic: Stats.MAXIMUM, period };
const slowest = { statistic: Stats.percentile(99), period };

/** The relay on one page: the alarms, then each part that a signal passes, from the webhook to the ledger. */
export class RelayDashboard extends Dashboard {
  constructor(scope: Construct, id: string, props: RelayDashboardProps) {
    super(scope, id, { defaultInterval: Duration.hours(12) });
    this.addWidgets(new AlarmStatusWidget({ title: 'Alarms', alarms: props.topic.alarms, width: 24 }));
    this.addWidgets(...drawWebhook(props));
    this.addWidgets(...drawQueue(props));
    this.addWidgets(...drawFunctions(props));
    this.addWidgets(drawThrottles(props));
    this.addWidgets(drawDenials(props), ...drawSnapshots(props));
  }
}

function drawWebhook({ api: { api }, alarms }: RelayDashboardProps): IWidget[] {
  return [
    graph('Alerts', [api.metricCount(sum), api.metricClientError(sum), api.metricServerError(sum)]),
    graph('Response time (99th percentile)', [api.metricLatency(slowest)]),
    graph(
      'Failures',
      countedNames.map((name) => alarms.metric(name)),
    ),
    graph('Alarms of the relay, by name', [alarms.alarmsByName()]),
  ];
}

function drawQueue({ signals, undelivered }: RelayDashboardProps): IWidget[] {
  return [
    graph('Signals waiting', [signals.queue.metricApproximateNumberOfMessagesVisible(maximum)]),
    graph('Oldest signal (s)', [signals.queue.metricApproximateAgeOfOldestMessage(maximum)]),
    graph('Dead letters and undelivered messages', [
      signals.deadLetters.metricApproximateNumberOfMessagesVisible({ ...maximum, label: 'dead letters' }),
      undelivered.metricApproximateNumberOfMessagesVisible({ ...maximum, label: 'undelivered' }),
    ]),
  ];
}

function drawFunctions({ receive, execute, reconcile, snapshots }: RelayDashboardProps): IWidget[] {
  const all = [receive, execute, reconcile, ...snapshots.jobs.map(({ run }) => run)];
  const functions = all.map(({ lambda }) => lambda);
  return [
    graph(
      'Function runs',
      functions.map((lambda) => lambda.metricInvocations(sum)),
    ),
    graph(
      'Function errors and throttles',
      functions.flatMap((lambda) => [lambda.metricErrors(sum), lambda.metricThrottles(sum)]),
    ),
    graph(
      'Function duration (99th percentile)',
      functions.map((lambda) => lambda.metricDuration(slowest)),
    ),
  ];
}

function drawThrottles({ ledger, snapshots }: RelayDashboardProps): IWidget {
  const tables = { ledger: ledger.table, snapshots: snapshots.table.table };
  return graph(
    'Requests throttled by DynamoDB',
    Object.entries(tables).flatMap(([name, table]) => [
      table.metric('ReadThrottleEvents', { ...sum, label: `${name}: reads` }),
      table.metric('WriteThrottleEvents', { ...sum, label: `${name}: writes` }),
    ]),
  );
}

/** Denials raise no alarm: a rule did its job. Reading the logs when somebody looks costs less than a metric. */
function drawDenials({ execute, reconcile }: RelayDashboardProps): IWidget {
  return new LogQueryWidget({
    title: 'Denials',
    logGroupNames: [execute.logGroup.logGroupName, reconcile.logGroup.logGroupName],
    view: LogQueryVisualizationType.TABLE,
    queryLines: [
      'filter message = "signal denied"',
      'fields @timestamp, account, signalId, market, note',
      'sort @timestamp desc',
      'limit 50',
    ],
    width: 24,
  });
}

/** Changes of transfer fees raise no alarm; they show here and in `fees history`. */
function drawSnapshots({ snapshots }: RelayDashboardProps): IWidget[] {
  const fees = snapshots.jobs.find(({ name }) => name === 'Fees');
  if (fees === undefined) return [];
  return [
    new LogQueryWidget({
      title: 'Transfer fee changes',
      logGroupNames: [fees.run.logGroup.logGroupName],
      view: LogQueryVisualizationType.TABLE,
      queryLines: [
        'fields @timestamp, account, ticker, note',
        'filter ispresent(note)',
        'sort @timestamp desc',
        'limit 50',
      ],
      width: 24,
    }),
  ];
}

function graph(title: string, left: IMetric[]): IWidget {
  return new GraphWidget({ title, left, width: 8 });
}
