import { Duration } from 'aws-cdk-lib';
import type { SnapshotSettings } from '../../lib/host/config.ts';
import { parseCron } from '../../lib/host/cron.ts';
import { createNextTime } from '../../lib/host/cron-times.ts';

const hourMs = 3_600_000;
/** Two months, a short one among them: every day of the month and of the week. Always the same, so that templates are. */
const firstMs = Date.UTC(2027, 0, 1);
const untilMs = Date.UTC(2027, 2, 1);

/**
 * How long a schedule is silent at the most, to within an hour, but for the days when clocks are put forward or back.
 *
 * @param cron as EventBridge Scheduler writes it
 * @returns null when it leaves out months or years, or has no second time within two months
 */
export function findLongestPause(cron: string, timeZone: SnapshotSettings['timeZone']): Duration | null {
  const { months, years } = parseCron(cron);
  if (months !== '*' || years !== '*') return null;
  const nextTime = createNextTime(cron, timeZone);
  let longestMs = 0;
  let atMs = firstMs;
  while (atMs < untilMs) {
    const nextMs = nextTime(atMs);
    if (nextMs === null) return null;
    longestMs = Math.max(longestMs, nextMs - atMs);
    // Whatever runs within an hour is looked at by the hour only.
    atMs = Math.max(nextMs, atMs + hourMs);
  }
  return Duration.millis(longestMs);
}
