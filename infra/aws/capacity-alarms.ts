import { Stats } from 'aws-cdk-lib/aws-cloudwatch';
import type { TableV2 } from 'aws-cdk-lib/aws-dynamodb';
import { type AlarmTopic, alarmPeriod } from './alarm-topic.ts';
import type { RelayFunction } from './relay-function.ts';

/** A run that takes more of its time than this share might next be cut off. */
const slowShare = 0.8;

/** Rings before a function runs out of time; when it did, the alarm about its errors rings. */
export function addTimeAlarm(topic: AlarmTopic, name: string, { lambda, timeout }: RelayFunction): void {
  const seconds = timeout.toSeconds();
  topic.add(`${name}Slow`, {
    metric: lambda.metricDuration({ statistic: Stats.MAXIMUM, period: alarmPeriod }),
    above: seconds * 1000 * slowShare,
    meaning: `A run of the function "${name.toLowerCase()}" took more than ${seconds * slowShare} s of the ${seconds} s it has; one that takes all of them is cut off.`,
    runbook:
      'its log around this time says what it waited for: the exchange, AWS, or too much work at once; if it goes on, look whether either is slow for others too.',
  });
}

/**
 * DynamoDB counts the events it turned away for the table itself, reads and writes apart. Its client tries again
 * before anything fails, so these ring first.
 *
 * @see https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/metrics-dimensions.html
 */
export function addThrottleAlarms(topic: AlarmTopic, name: string, table: TableV2): void {
  for (const kind of ['Read', 'Write'] as const)
    topic.add(`${name}${kind}sThrottled`, {
      metric: table.metric(`${kind}ThrottleEvents`, { statistic: Stats.SUM, period: alarmPeriod }),
      meaning: `DynamoDB turned ${kind.toLowerCase()}s of the table of the ${name.toLowerCase()} away: more came at once than it takes.`,
      runbook:
        'see on the dashboard whether it lasts: an on-demand table grows by itself within minutes, and what was turned away is tried again; if it lasts, one account has more alerts a second than one key takes, or the quota of the table in Service Quotas is too low.',
    });
}
