import { describeError } from '../base/describe-error.ts';
import type { Log } from '../base/log.ts';

/** What a schedule calls, with what it sends. */
export type ScheduleHandler = (event: unknown) => Promise<void>;

/**
 * Puts a handler behind a schedule: one log line for each run, so that a run that is missing shows.
 *
 * A failed run stays failed for whoever called, which is what its retries and its alarm go by.
 */
export function createSchedule(
  name: string,
  log: Log,
  handle: (event: unknown) => Promise<void>,
): ScheduleHandler {
  return async (event) => {
    try {
      await handle(event);
    } catch (error) {
      log.error('scheduled run failed', { schedule: name, reason: describeError(error) });
      throw error;
    }
    log.info('scheduled run done', { schedule: name });
  };
}
