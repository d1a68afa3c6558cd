import { describe, expect, test } from '@jest/globals';
import { synthesize } from './synthesized.ts';
import { checkRequirement, findUnnoticed, type Requirement } from './template-checks.ts';

const template = synthesize();
const { resources } = template;
const above = 'GreaterThanThreshold';
const quiet = 'notBreaching';

/** Alarm → metric, how it is compared with what, and what silence means. */
const alarms: Readonly<Record<string, readonly [string, string, string, number, string]>> = {
  UnknownOutcomes: ['TradingRelay/trading-relay-prod/Relay', 'Alarms', above, 0, quiet],
  Rejections: ['TradingRelay/trading-relay-prod/Relay', 'Rejected', above, 0, quiet],
  NotSent: ['TradingRelay/trading-relay-prod/Relay', 'NotSent', above, 0, quiet],
  Refusals: ['TradingRelay/trading-relay-prod/Relay', 'Refused', above, 0, quiet],
  AuthenticationFailures: ['TradingRelay/trading-relay-prod/Relay', 'Unauthorized', above, 0, quiet],
  AlertsNotTaken: ['AWS/ApiGateway', '5XXError', above, 0, quiet],
  DeadLetters: ['AWS/SQS', 'ApproximateNumberOfMessagesVisible', above, 0, quiet],
  OldestSignal: ['AWS/SQS', 'ApproximateAgeOfOldestMessage', above, 45, quiet],
  Undelivered: ['AWS/SQS', 'ApproximateNumberOfMessagesVisible', above, 0, quiet],
  ReceiveErrors: ['AWS/Lambda', 'Errors', above, 0, quiet],
  ExecuteErrors: ['AWS/Lambda', 'Errors', above, 0, quiet],
  ReconcileErrors: ['AWS/Lambda', 'Errors', above, 0, quiet],
  ReconcileDidNotRun: ['AWS/Lambda', 'Invocations', 'LessThanThreshold', 1, 'breaching'],
};

/** Metric → what lines are counted, in the logs of which functions. */
const counted: Readonly<Record<string, readonly [string, readonly string[]]>> = {
  Alarms: ['{ $.alarm IS TRUE }', ['Receive', 'Execute', 'Reconcile']],
  Rejected: ['{ $.status = "rejected" }', ['Execute']],
  NotSent: ['{ $.status = "not_sent" }', ['Execute']],
  Refused: [
    '{ ($.httpStatus >= 400) && ($.httpStatus < 500) && ($.code != "unauthorized") && ($.code != "method_not_allowed") }',
    ['Receive'],
  ],
  Unauthorized: ['{ $.code = "unauthorized" }', ['Receive']],
};

function describeAlarm(name: string): Requirement {
  const [Namespace, MetricName, ComparisonOperator, Threshold, TreatMissingData] = alarms[name] ?? [];
  const Properties = { Namespace, MetricName, ComparisonOperator, Threshold, TreatMissingData };
  return {
    id: `RelayAlarms${name}`,
    type: 'AWS::CloudWatch::Alarm',
    body: {
      Properties: { ...Properties, EvaluationPeriods: 1, AlarmActions: [{ Ref: 'RelayAlarmsTopic' }] },
    },
  };
}

function describeFilters(metric: string): readonly Requirement[] {
  const [FilterPattern, functions = []] = counted[metric] ?? [];
  const transformation = {
    MetricName: metric,
    MetricNamespace: 'TradingRelay/trading-relay-prod/Relay',
    MetricValue: '1',
  };
  return functions.map((name) => ({
    id: `RelayWatch${metric}In${name}`,
    type: 'AWS::Logs::MetricFilter',
    body: {
      Properties: {
        FilterPattern,
        LogGroupName: { Ref: `Relay${name}Log` },
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

  test.each(Object.keys(alarms))('%s watches its metric and tells the topic, and would be missed', (name) => {
    const requirement = describeAlarm(name);

    checkRequirement(template, requirement);
    expect(findUnnoticed(template, requirement)).toEqual([]);
  });

  test.each(Object.keys(alarms))('%s says what is so, and in a runbook line what to do', (name) => {
    expect(resources[`RelayAlarms${name}`]?.Properties['AlarmDescription']).toMatch(
      /^[A-Z][^\n]+\.\nRunbook: [^\n]{20,}\.$/,
    );
  });

  test.each([
    ['DeadLetters', 'RelaySignalsDeadLetters'],
    ['OldestSignal', 'RelaySignalsQueue'],
    ['Undelivered', 'RelayUndelivered'],
    ['ReceiveErrors', 'RelayReceiveFunction'],
    ['ExecuteErrors', 'RelayExecuteFunction'],
    ['ReconcileErrors', 'RelayReconcileFunction'],
    ['ReconcileDidNotRun', 'RelayReconcileFunction'],
  ])('%s is about %s', (name, id) => {
    const dimensions = resources[`RelayAlarms${name}`]?.Properties['Dimensions'];

    expect(JSON.stringify(dimensions)).toContain(`"${id}"`);
  });

  test('about alerts not taken goes by the name of this API', () => {
    expect(resources['RelayAlarmsAlertsNotTaken']?.Properties['Dimensions']).toEqual([
      { Name: 'ApiName', Value: 'trading-relay-prod-Relay-Webhook' },
    ]);
  });
});

test.each(Object.keys(counted))('The metric %s counts its lines, and would be missed', (metric) => {
  for (const requirement of describeFilters(metric)) {
    checkRequirement(template, requirement);
    expect(findUnnoticed(template, requirement)).toEqual([]);
  }
});
