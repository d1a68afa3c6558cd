import type { ScheduleHandler } from '../../lib/host/schedule.ts';

/** The scheduler's part in a local run: calls a function every minute, never twice at once. */
export interface MinuteLoop {
  /** Runs it now, or waits for the run that is under way. */
  run(): Promise<void>;
  /** Begins no further run and waits for the one under way. */
  stop(): Promise<void>;
}

const minuteMs = 60_000;

/** Begins with a run at once: what was left behind by the run before should not wait for a minute. */
export function startMinuteLoop(handler: ScheduleHandler): MinuteLoop {
  let running: Promise<void> | null = null;

  function run(): Promise<void> {
    // A failed run has said so in the log; the next one does what this one could not.
    running ??= handler({})
      .catch(() => undefined)
      .finally(() => {
        running = null;
      });
    return running;
  }

  const timer = setInterval(run, minuteMs);
  void run();
  return {
    run,
    async stop() {
      clearInterval(timer);
      await running;
    },
  };
}
