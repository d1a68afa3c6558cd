import { type Clock, hasPassed } from '../../lib/base/clock.ts';
import type { Log } from '../../lib/base/log.ts';

const minuteMs = 60_000;

/**
 * @returns a function that notes an alert whose path does not exist: a line a minute at most, which says how many came since
 * the last one. The path is not named, because it may hold a token.
 */
export function createStrayNotes(clock: Clock, log: Log): () => void {
  let notedAtMs: number | null = null;
  let count = 0;
  return () => {
    count += 1;
    const nowMs = clock.nowMs();
    if (notedAtMs !== null && !hasPassed(notedAtMs, minuteMs, nowMs)) return;
    log.warn(
      'an alert came to a path that does not exist, and got 404: compare its URL with `npx relay webhook`',
      { code: 'not_found', alerts: count },
    );
    notedAtMs = nowMs;
    count = 0;
  };
}
