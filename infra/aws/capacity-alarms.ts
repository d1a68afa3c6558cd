import { Stats } from 'aws-cdk-lib/aws-cloudwatch';
import type { TableV2 } from 'aws-cdk-lib/aws-dynamodb';
import { type AlarmTopic, alarmPeriod } from './alarm-topic.ts';
import type { RelayFunction } from './relay-function.ts';

/** A run that takes more than this share of its timeout is close to being stopped by Lambda. */
const slowShare = 0.8;

/** Goes off before a function times out. After a time-out the alarm about its errors goes off. */
export function addTimeAlarm(topic: AlarmTopic, name: string, { lambda, timeout }: RelayFunction): void {
  const seconds = timeout.toSeconds();
  topic.add(`${name}Slow`, {
    metric: lambda.metricDuration({ statistic: Stats.MAXIMUM, period: alarmPeriod }),
    above: seconds * 1000 * slowShare,
    meaning: `A run of the function "${name.toLowerCase()}" took more than ${seconds * slowShare} s. Lambda stops a run after ${seconds} s.`,
    runbook:
      'read the log of the function around this time to see what it waited for: the exchange, AWS, or too much work in one run. If the alarm keeps returning, check the status pages of the exchange and of AWS.',
  });
}

/**
 * DynamoDB counts throttled reads and throttled writes of the table separately. The DynamoDB client retries a
 * throttled request, so these alarms go off before anything fails.
 *
 * @see https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/metrics-dimensions.html
 */
export function addThrottleAlarms(topic: AlarmTopic, name: string, table: TableV2): void {
  for (const kind of ['Read', 'Write'] as const)
    topic.add(`${name}${kind}sThrottled`, {
      metric: table.metric(`${kind}ThrottleEvents`, { statistic: Stats.SUM, period: alarmPeriod }),
      meaning: `DynamoDB throttled ${kind.toLowerCase()}s of the ${name.toLowerCase()} table: more arrived at once than the table takes. They are retried.`,
      runbook:
        'watch on the dashboard whether it stops. An on-demand table scales up by itself within minutes. If it does not stop, either one account sends more alerts a second than one partition key takes, or the table quota in Service Quotas is too low: spread the alerts or ask for a higher quota.',
    });
}
