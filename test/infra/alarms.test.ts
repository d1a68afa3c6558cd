import { describe, expect, test } from '@jest/globals';
import { alarmMeanings } from '../../lib/base/alarms.ts';
import { readProjectFile } from '../support/project-files.ts';
import { synthesize } from './synthesized.ts';
import { checkRequirement, findUnnoticed, type Requirement } from './template-checks.ts';

const template = await synthesize();
const { resources } = template;
const above = 'GreaterThanThreshold';
const quiet = 'notBreaching';

const ours = 'TradingRelay/trading-relay-prod/Relay';

interface Silence {
  readonly periods: number;
  readonly seconds: number;
  readonly warmUpMinutes: number;
  readonly statistic?: 'Minimum';
}

/**
 * Alarm → namespace, metric, comparison, threshold, treatment
 * of missing data, and the periods if not one minute.
 */
const alarms: Readonly<Record<string, readonly [string, string, string, number, string, Silence?]>> = {
  UnknownOutcomes: [ours, 'Unknown', above, 0, quiet],
  Attention: [ours, 'Attention', above, 0, quiet],
  NoOrder: [ours, 'NoOrder', above, 0, quiet],
  Refusals: [ours, 'Refused', above, 0, quiet],
  TurnedAway: [ours, 'TurnedAway', above, 0, quiet],
  AlertsNotTaken: ['AWS/ApiGateway', '5XXError', above, 0, quiet],
  DeadLetters: ['AWS/SQS', 'ApproximateNumberOfMessagesVisible', above, 0, quiet],
  OldestSignal: ['AWS/SQS', 'ApproximateAgeOfOldestMessage', above, 45, quiet],
  Undelivered: ['AWS/SQS', 'ApproximateNumberOfMessagesVisible', above, 0, quiet],
  ExecuteErrors: ['AWS/Lambda', 'Errors', above, 0, quiet],
  // The least of a minute is 1 if every run failed; a minute without a run has none.
  ReconcileDidNotRun: [
    'AWS/Lambda',
    'Errors',
    above,
    0,
    'breaching',
    { periods: 5, seconds: 60, warmUpMinutes: 15, statistic: 'Minimum' },
  ],
  // Three hours: two more than the longest pause of its schedule.
  BalancesDidNotRun: silent({ periods: 12, seconds: 900, warmUpMinutes: 180 }),
  // From Friday to Monday; no warm-up is longer than two days.
  FeesDidNotRun: silent({ periods: 74, seconds: 3600, warmUpMinutes: 2880 }),
  InterestDidNotRun: silent({ periods: 26, seconds: 3600, warmUpMinutes: 1560 }),
};

function silent(silence: Silence) {
  return ['AWS/Lambda', 'Invocations', 'LessThanThreshold', 1, 'breaching', silence] as const;
}

/** Metric → the pattern of the lines it counts, and whose logs they are in. */
const counted: Readonly<Record<string, readonly [string, readonly string[]]>> = {
  Unknown: ['{ ($.alarm IS TRUE) && ($.status = "unknown") }', ['Execute', 'Reconcile']],
  Attention: [
    '{ ($.alarm IS TRUE) && (($.status NOT EXISTS) || ($.status != "unknown")) }',
    ['Receive', 'Execute', 'Reconcile', 'Interest'],
  ],
  NoOrder: [
    '{ ($.status = "rejected") || ($.status = "not_sent") || ($.status = "not_placed") }',
    ['Execute', 'Reconcile'],
  ],
  Refused: [
    '{ ($.httpStatus >= 400) && ($.httpStatus < 500) && ($.code != "method_not_allowed") }',
    ['Receive'],
  ],
  TurnedAway: ['{ $.status = "403" }', ['Webhook']],
};

/** The log groups that are not named after their function. */
const logOf: Readonly<Record<string, string>> = {
  Webhook: 'RelayWebhookAccessLog',
  Interest: 'RelaySnapshotsInterestLog',
};

const topic = { Ref: 'RelayAlarmsTopic' };

function describeAlarm(name: string): Requirement {
  const [Namespace, MetricName, ComparisonOperator, Threshold, TreatMissingData, silence] =
    alarms[name] ?? [];
  const Properties = {
    Namespace,
    MetricName,
    ComparisonOperator,
    Threshold,
    TreatMissingData,
    EvaluationPeriods: silence?.periods ?? 1,
    Period: silence?.seconds ?? 60,
    ...(silence === undefined
      ? {}
      : { WarmUpConfiguration: { WarmUpPeriodDurationInMinutes: silence.warmUpMinutes } }),
    Statistic: silence?.statistic ?? (Namespace === 'AWS/SQS' ? 'Maximum' : 'Sum'),
  };
  return {
    id: `RelayAlarms${name}`,
    type: 'AWS::CloudWatch::Alarm',
    body: {
      Properties: { ...Properties, AlarmActions: [topic], OKActions: [topic] },
    },
  };
}

function describeFilters(metric: string): readonly Requirement[] {
  const [FilterPattern, sources = []] = counted[metric] ?? [];
  const transformation = {
    MetricName: metric,
    MetricNamespace: ours,
    MetricValue: '1',
  };
  return sources.map((name) => ({
    id: `RelayWatch${metric}In${name}`,
    type: 'AWS::Logs::MetricFilter',
    body: {
      Properties: {
        FilterPattern,
        LogGroupName: { Ref: logOf[name] ?? `Relay${name}Log` },
        MetricTransformations: [transformation],
      },
    },
  }));
}

describe('The alarms', () => {
  test('are these and no others', () => {
    const ids = Object.keys(resources).filter((id) => resources[id]?.Type === 'AWS::CloudWatch::Alarm');

    expect(ids.toSorted()).toEqual(
      Object.keys(alarms)
        .map((name) => `RelayAlarms${name}`)
        .toSorted(),
    );
  });

  test.each(Object.keys(alarms))(
    '%s watches its metric and notifies the topic when it goes off and when it ends; the check misses no value',
    (name) => {
      const requirement = describeAlarm(name);

      checkRequirement(template, requirement);
      expect(findUnnoticed(template, requirement)).toEqual([]);
    },
  );

  test.each(Object.keys(alarms))('%s describes what happened, and has a runbook line', (name) => {
    expect(resources[`RelayAlarms${name}`]?.Properties['AlarmDescription']).toMatch(
      /^[A-Z][^\n]+\.\nRunbook: [^\n]{20,}\.$/,
    );
  });

  test('are all in the table of docs/aws.md, and no other is', () => {
    const [, table = ''] =
      /<!-- alarms -->\n([\s\S]*?)<!-- \/alarms -->/.exec(readProjectFile('docs/aws.md')) ?? [];
    const named = new Set(Array.from(table.matchAll(/`(\w+)`/g), ([, name = '']) => name));

    expect([...named].toSorted()).toEqual(Object.keys(alarms).toSorted());
  });

  test.each([
    ['DeadLetters', 'RelaySignalsDeadLetters'],
    ['OldestSignal', 'RelaySignalsQueue'],
    ['Undelivered', 'RelayUndelivered'],
    ['ExecuteErrors', 'RelayExecuteFunction'],
    ['ReconcileDidNotRun', 'RelayReconcileFunction'],
    ['BalancesDidNotRun', 'RelaySnapshotsBalancesFunction'],
    ['FeesDidNotRun', 'RelaySnapshotsFeesFunction'],
    ['InterestDidNotRun', 'RelaySnapshotsInterestFunction'],
  ])('%s is about %s', (name, id) => {
    const dimensions = resources[`RelayAlarms${name}`]?.Properties['Dimensions'];

    expect(JSON.stringify(dimensions)).toContain(`"${id}"`);
  });

  test('AlertsNotTaken watches the API by its name', () => {
    expect(resources['RelayAlarmsAlertsNotTaken']?.Properties['Dimensions']).toEqual([
      { Name: 'ApiName', Value: 'trading-relay-prod-Relay-Webhook' },
    ]);
  });
});

test('Denials show on the dashboard, are counted by no metric, and raise no alarm: the rule did its job', () => {
  const filters = Object.values(resources).filter(({ Type }) => Type === 'AWS::Logs::MetricFilter');
  const dashboard = Object.values(resources).filter(({ Type }) => Type === 'AWS::CloudWatch::Dashboard');

  expect(JSON.stringify(filters)).not.toContain('denied');
  expect(JSON.stringify(dashboard)).toContain('signal denied');
});

describe('The alarms of the relay', () => {
  const filters = Object.entries(resources).filter(([id]) => id.startsWith('RelayWatchAlarmsIn'));

  test('are counted by their names, in every log that may have one', () => {
    expect(filters.map(([id]) => id.replace('RelayWatchAlarmsIn', '')).toSorted()).toEqual([
      'Execute',
      'Interest',
      'Receive',
      'Reconcile',
    ]);
    for (const [, { Properties }] of filters)
      expect(Properties).toMatchObject({
        FilterPattern: '{ ($.alarm IS TRUE) && ($.alarmName = "*") }',
        MetricTransformations: [
          {
            MetricName: 'Alarms',
            MetricNamespace: ours,
            MetricValue: '1',
            Dimensions: [{ Key: 'alarmName', Value: '$.alarmName' }],
          },
        ],
      });
  });

  test('show on the dashboard, a line for each name', () => {
    const dashboard = Object.values(resources).filter(({ Type }) => Type === 'AWS::CloudWatch::Dashboard');

    expect(JSON.stringify(dashboard)).toContain(`SEARCH('{${ours},alarmName} MetricName=`);
  });

  test('are all in the table of docs/troubleshooting.md, with what happened', () => {
    const [, table = ''] =
      /<!-- alarm names -->\n([\s\S]*?)<!-- \/alarm names -->/.exec(
        readProjectFile('docs/troubleshooting.md'),
      ) ?? [];
    const rows = Array.from(table.matchAll(/^\| `(\w+)` \| ([^|]+) \|/gm), ([, name, meaning]) => [
      name,
      meaning,
    ]);

    expect(rows).toEqual(Object.entries(alarmMeanings));
  });
});

test.each(Object.keys(counted))('The metric %s counts its lines; the check misses no value', (metric) => {
  for (const requirement of describeFilters(metric)) {
    checkRequirement(template, requirement);
    expect(findUnnoticed(template, requirement)).toEqual([]);
  }
});
