import { describeError } from '../base/describe-error.ts';
import type { Log } from '../base/log.ts';

/** The handler that a schedule calls with its event. */
export type ScheduleHandler = (event: unknown) => Promise<void>;

/**
 * Wraps a handler for a schedule: it logs one line for each run, so that a missing run is visible.
 *
 * A failed run throws, because its retries and its alarm depend on it.
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
