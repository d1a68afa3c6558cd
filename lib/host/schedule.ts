import middy from '@middy/core';
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
  const handler = middy<unknown, void>()
    .onError(({ error }) => {
      const reason = error instanceof Error ? `${error.name}: ${error.message}` : 'unknown';
      log.error('scheduled run failed', { schedule: name, reason });
    })
    .handler(async (event) => {
      await handle(event);
      log.info('scheduled run done', { schedule: name });
    });
  // middy wants Lambda's context, of which no part is used.
  return (event) => handler(event, {} as Parameters<typeof handler>[1]);
}
