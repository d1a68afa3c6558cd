import type { ScheduleHandler } from '../../lib/host/schedule.ts';

/**
 * The local counterpart of the one-minute schedule on AWS: calls a handler every minute, never twice at once.
 */
export interface MinuteLoop {
  /** Runs the handler now, or waits for the current run. */
  run(): Promise<void>;
  /** Starts no further run and waits for the current one. */
  stop(): Promise<void>;
}

const minuteMs = 60_000;

/**
 * The first run starts at once: signals that the previous process left behind should not wait a minute.
 *
 * @param everyMs absent: a minute
 */
export function startMinuteLoop(handler: ScheduleHandler, everyMs: number = minuteMs): MinuteLoop {
  let running: Promise<void> | null = null;

  function run(): Promise<void> {
    // The handler logs its own failure; the next run tries again.
    running ??= handler({})
      .catch(() => undefined)
      .finally(() => {
        running = null;
      });
    return running;
  }

  const timer = setInterval(run, everyMs);
  void run();
  return {
    run,
    async stop() {
      clearInterval(timer);
      await running;
    },
  };
}
