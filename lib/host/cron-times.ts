import { Cron as Croner } from 'croner';
import { parseCron } from './cron.ts';

/**
 * Returns the next time of a schedule after a given time; null
 * when there is none. In milliseconds since the epoch.
 */
export type NextTime = (afterMs: number) => number | null;

/**
 * Computes the times of a cron expression as EventBridge Scheduler does. When daylight saving time begins,
 * times that do not exist are skipped; when it ends, times that occur twice count once.
 *
 * @param cron for example `cron(0 * * * ? *)`
 * @param timeZone a name of the tz database
 * @throws RangeError when one of the two is invalid
 * @see https://docs.aws.amazon.com/scheduler/latest/UserGuide/schedule-types.html#daylist-savings-time
 */
export function createNextTime(cron: string, timeZone: string): NextTime {
  const { minutes, hours, daysOfMonth, months, daysOfWeek, years } = parseCron(cron);
  const pattern = `0 ${minutes} ${hours} ${daysOfMonth} ${months} ${daysOfWeek} ${years}`;
  // With `alternativeWeekdays`, croner counts from 1 for Sunday, as AWS does.
  const times = new Croner(pattern, { timezone: timeZone, mode: '7-part', alternativeWeekdays: true });
  const offsetAt = createOffsetReader(timeZone);
  return (afterMs) => {
    let next = times.nextRun(new Date(afterMs));
    // croner moves a skipped time to after the gap; such a time does not match the expression.
    while (next !== null && (!times.match(next) || isRepeated(next.getTime(), offsetAt)))
      next = times.nextRun(next);
    return next?.getTime() ?? null;
  };
}

type OffsetReader = (timeMs: number) => number;

/** Clocks go back by two hours at most, and not twice within three hours. */
const longestShiftMs = 3 * 3_600_000;

/** Whether the clocks of the zone have shown the same local time before. */
function isRepeated(timeMs: number, offsetAt: OffsetReader): boolean {
  const putBackMs = offsetAt(timeMs - longestShiftMs) - offsetAt(timeMs);
  return putBackMs > 0 && offsetAt(timeMs - putBackMs) === offsetAt(timeMs) + putBackMs;
}

/** Creates a function that returns the UTC offset of a zone at a time, in milliseconds. */
function createOffsetReader(timeZone: string): OffsetReader {
  const format = new Intl.DateTimeFormat('en', { timeZone, timeZoneName: 'longOffset' });
  return (timeMs) => {
    const text = format.formatToParts(timeMs).find(({ type }) => type === 'timeZoneName')?.value ?? '';
    const [, sign, hours, minutes] = /^GMT([+-])(\d\d):(\d\d)/.exec(text) ?? [];
    const offset = (Number(hours ?? 0) * 60 + Number(minutes ?? 0)) * 60_000;
    return sign === '-' ? -offset : offset;
  };
}
