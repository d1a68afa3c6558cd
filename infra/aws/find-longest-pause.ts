import { Duration } from 'aws-cdk-lib';
import type { SnapshotSettings } from '../../lib/host/config.ts';
import { parseCron } from '../../lib/host/cron.ts';
import { createNextTime } from '../../lib/host/cron-times.ts';

const hourMs = 3_600_000;
/**
 * Two months with every day of the month and of the week, one
 * of them short. Fixed, so that templates stay the same.
 */
const firstMs = Date.UTC(2027, 0, 1);
const untilMs = Date.UTC(2027, 2, 1);

/**
 * The longest time between two runs of a schedule, to within
 * an hour; changes of daylight saving time are ignored.
 *
 * @param cron in the syntax of EventBridge Scheduler
 * @returns null when the expression restricts months or years, or has no next time within the two months
 * @see DECISIONS 54
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
    // Steps of an hour at least: a schedule that runs every minute would take 85,000 steps.
    atMs = Math.max(nextMs, atMs + hourMs);
  }
  return Duration.millis(longestMs);
}
