import { Duration } from 'aws-cdk-lib';
import { Stats } from 'aws-cdk-lib/aws-cloudwatch';
import type { AccountSnapshots, SnapshotJob } from './account-snapshots.ts';
import type { AlarmTopic } from './alarm-topic.ts';

/** CloudWatch evaluates a week at most, and more than a day only in periods of at least an hour. */
const longestSilenceHours = 7 * 24;
const longestFineHours = 24;
/** Allows for a change of daylight saving time and for a late run. */
const slackHours = 2;

/**
 * The alarms of the snapshots. A run that failed, crashed, timed out or was throttled is retried, then put into the
 * undelivered queue, which has its own alarm. A changed fee raises none: nothing is wrong, and the operator has
 * nothing to do.
 */
export function addSnapshotAlarms(topic: AlarmTopic, { jobs }: AccountSnapshots): void {
  for (const job of jobs) addSilenceAlarm(topic, job);
}

/**
 * The alarm goes off up to several periods later than its description says, because CloudWatch looks that
 * much further back before it treats data as missing.
 *
 * @see https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_PutMetricAlarm.html
 */
function addSilenceAlarm(topic: AlarmTopic, { name, run, longestPause }: SnapshotJob): void {
  if (longestPause === null) return;
  const hours = Math.ceil(longestPause.toHours({ integral: false })) + slackHours;
  // CloudWatch cannot look back far enough for such a rare schedule: only failed runs raise an alarm.
  if (hours > longestSilenceHours) return;
  const period = hours > longestFineHours ? Duration.hours(1) : Duration.minutes(15);
  topic.add(`${name}DidNotRun`, {
    metric: run.lambda.metricInvocations({ statistic: Stats.SUM, period }),
    below: 1,
    periods: (hours * 60) / period.toMinutes(),
    meaning: `The schedule of "${name.toLowerCase()}" has not run for ${hours} hours.`,
    runbook:
      'check in EventBridge Scheduler that the schedule is enabled, and read in the undelivered queue why runs failed. The next run catches up on transfer fees and interest; missed balances cannot be recovered.',
  });
}
