import { type Clock, hasPassed } from '../../lib/base/clock.ts';
import type { Log } from '../../lib/base/log.ts';

const minuteMs = 60_000;

const words = {
  other_path: {
    code: 'not_found',
    message:
      'an alert came to a path that does not exist, and got 404: compare its URL with `npx relay webhook`',
  },
  cut_off: {
    code: 'cut_off',
    message: 'an alert was cut off before all of it had come: nothing was stored, and its sender got no 202',
  },
} as const;

/** Why no function gets an alert. */
export type Stray = keyof typeof words;

/**
 * @returns a function that notes such an alert: of each kind a line a minute at most, which says how many came since the last
 * one. The path is not named, because it may hold a token.
 */
export function createStrayNotes(clock: Clock, log: Log): (why: Stray) => void {
  const counts = new Map<Stray, number>();
  const notedAtMs = new Map<Stray, number>();
  return (why) => {
    const alerts = (counts.get(why) ?? 0) + 1;
    counts.set(why, alerts);
    const [lastMs, nowMs] = [notedAtMs.get(why), clock.nowMs()];
    if (lastMs !== undefined && !hasPassed(lastMs, minuteMs, nowMs)) return;
    const { code, message } = words[why];
    log.warn(message, { code, alerts });
    notedAtMs.set(why, nowMs);
    counts.delete(why);
  };
}
