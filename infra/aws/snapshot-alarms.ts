import { Duration } from 'aws-cdk-lib';
import { Stats } from 'aws-cdk-lib/aws-cloudwatch';
import type { AccountSnapshots, SnapshotJob } from './account-snapshots.ts';
import { type AlarmTopic, alarmPeriod } from './alarm-topic.ts';
import { addThrottleAlarms, addTimeAlarm } from './capacity-alarms.ts';

/** CloudWatch looks back a week at most, and over more than a day only by the hour. */
const longestSilenceHours = 7 * 24;
const longestFineHours = 24;
/** Clocks that are put forward or back, and a run that was late. */
const slackHours = 2;

/** What wakes somebody about snapshots. A fee that changed is no alarm: nothing is wrong, and there is nothing to do. */
export function addSnapshotAlarms(topic: AlarmTopic, { jobs, table }: AccountSnapshots): void {
  for (const job of jobs) {
    addErrorAlarm(topic, job);
    addSilenceAlarm(topic, job);
    addTimeAlarm(topic, job.name, job.run);
  }
  // A table that nobody writes to has nothing to turn away.
  if (jobs.length > 0) addThrottleAlarms(topic, 'Snapshots', table.table);
}

function addErrorAlarm(topic: AlarmTopic, { name, run }: SnapshotJob): void {
  topic.add(`${name}Errors`, {
    metric: run.lambda.metricErrors({ statistic: Stats.SUM, period: alarmPeriod }),
    meaning: `The function "${name.toLowerCase()}" failed, crashed or ran out of time: of some account it kept nothing.`,
    runbook:
      'its log says of which account, and why; it is tried twice more within minutes, and if those fail too the alarm about undelivered runs rings.',
  });
}

/**
 * Rings up to some periods later than it says: so much further back CloudWatch looks before it takes missing numbers
 * for silence.
 *
 * @see https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_PutMetricAlarm.html
 */
function addSilenceAlarm(topic: AlarmTopic, { name, run, longestPause }: SnapshotJob): void {
  if (longestPause === null) return;
  const hours = Math.ceil(longestPause.toHours({ integral: false })) + slackHours;
  // Of a schedule as seldom as that only failures can be told.
  if (hours > longestSilenceHours) return;
  const period = hours > longestFineHours ? Duration.hours(1) : Duration.minutes(15);
  topic.add(`${name}DidNotRun`, {
    metric: run.lambda.metricInvocations({ statistic: Stats.SUM, period }),
    below: 1,
    periods: (hours * 60) / period.toMinutes(),
    meaning: `The schedule of "${name.toLowerCase()}" has not run for ${hours} hours.`,
    runbook:
      'see in EventBridge Scheduler whether the schedule is enabled, and in the undelivered queue why runs failed; what was missed of fees and interest the next run makes up for, balances of a time that is past nobody can.',
  });
}
