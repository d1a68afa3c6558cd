import { Cron as Croner } from 'croner';
import { parseCron } from './cron.ts';

/** Tells the first time of a schedule after another; null when there is none. In milliseconds since the epoch. */
export type NextTime = (afterMs: number) => number | null;

/**
 * The times of a cron expression, as EventBridge Scheduler counts them: where clocks are put forward, times that do
 * not exist are left out; where they are put back, those that come twice count once.
 *
 * @param cron for example `cron(0 * * * ? *)`
 * @param timeZone a name of the tz database
 * @throws RangeError when either cannot be read
 * @see https://docs.aws.amazon.com/scheduler/latest/UserGuide/schedule-types.html#daylist-savings-time
 */
export function createNextTime(cron: string, timeZone: string): NextTime {
  const { minutes, hours, daysOfMonth, months, daysOfWeek, years } = parseCron(cron);
  const pattern = `0 ${minutes} ${hours} ${daysOfMonth} ${months} ${daysOfWeek} ${years}`;
  // Its alternative weekdays count from 1 for Sunday, as AWS does.
  const times = new Croner(pattern, { timezone: timeZone, mode: '7-part', alternativeWeekdays: true });
  const offsetAt = createOffsetReader(timeZone);
  return (afterMs) => {
    let next = times.nextRun(new Date(afterMs));
    // What croner moves behind a gap does not match the expression.
    while (next !== null && (!times.match(next) || isRepeated(next.getTime(), offsetAt)))
      next = times.nextRun(next);
    return next?.getTime() ?? null;
  };
}

type OffsetReader = (timeMs: number) => number;

/** Clocks are put back by two hours at the most, and not twice in three. */
const longestShiftMs = 3 * 3_600_000;

/** Whether clocks of the zone showed the same time once before. */
function isRepeated(timeMs: number, offsetAt: OffsetReader): boolean {
  const putBackMs = offsetAt(timeMs - longestShiftMs) - offsetAt(timeMs);
  return putBackMs > 0 && offsetAt(timeMs - putBackMs) === offsetAt(timeMs) + putBackMs;
}

/** How far the clocks of a zone are ahead of UTC at a time, in milliseconds. */
function createOffsetReader(timeZone: string): OffsetReader {
  const format = new Intl.DateTimeFormat('en', { timeZone, timeZoneName: 'longOffset' });
  return (timeMs) => {
    const text = format.formatToParts(timeMs).find(({ type }) => type === 'timeZoneName')?.value ?? '';
    const [, sign, hours, minutes] = /^GMT([+-])(\d\d):(\d\d)/.exec(text) ?? [];
    const offset = (Number(hours ?? 0) * 60 + Number(minutes ?? 0)) * 60_000;
    return sign === '-' ? -offset : offset;
  };
}
