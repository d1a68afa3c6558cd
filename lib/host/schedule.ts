import middy from '@middy/core';
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
  const handler = middy<unknown, void>()
    .onError(({ error }) => {
      const reason = error instanceof Error ? `${error.name}: ${error.message}` : 'unknown';
      log.error('scheduled run failed', { schedule: name, reason });
    })
    .handler(async (event) => {
      await handle(event);
      log.info('scheduled run done', { schedule: name });
    });
  // middy requires Lambda's context, but nothing here uses it.
  return (event) => handler(event, {} as Parameters<typeof handler>[1]);
}
