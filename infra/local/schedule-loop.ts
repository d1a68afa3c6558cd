import type { Clock } from '../../lib/base/clock.ts';
import type { Log } from '../../lib/base/log.ts';
import type { NextTime } from '../../lib/host/cron-times.ts';
import type { ScheduleHandler } from '../../lib/host/schedule.ts';
import type { SlotEvent } from '../../lib/snapshots/snapshot-slot.ts';

/**
 * A handler and its schedule.
 *
 * @see DECISIONS 63
 */
export interface ScheduledJob {
  readonly name: string;
  /** Whether it also runs once at the start, before its first time. */
  isDueAtStart(): Promise<boolean>;
  readonly nextTime: NextTime;
  readonly handler: ScheduleHandler;
}

/** The local counterpart of EventBridge Scheduler. */
export interface ScheduleLoop {
  /** Starts no further run and waits for the current one. */
  stop(): Promise<void>;
}

/**
 * How late a run may start, because another job ran before it or the machine was busy. After that it counts
 * as missed.
 */
const graceMs = 60_000;
/** How often the clock is checked: the machine may have been asleep, or its clock may have been set. */
const checkEveryMs = 1_000;

/**
 * Runs jobs at their times, one after another, so that no job runs twice at once. Times that passed while the
 * relay was off, asleep or busy are skipped: their data can no longer be read.
 */
export function startScheduleLoop(jobs: readonly ScheduledJob[], clock: Clock, log: Log): ScheduleLoop {
  let isStopping = false;
  let checkedAtMs = clock.nowMs();
  const due = new Map(jobs.map((job) => [job, job.nextTime(checkedAtMs)]));

  async function runJob({ handler }: ScheduledJob, slotMs: number): Promise<void> {
    const event: SlotEvent = { slot: new Date(slotMs).toISOString() };
    // The handler logs its own failure.
    await handler(event).catch(() => undefined);
  }

  async function runDue(job: ScheduledJob, slotMs: number): Promise<void> {
    if (clock.nowMs() - slotMs <= graceMs) await runJob(job, slotMs);
    else {
      const slot = new Date(slotMs).toISOString();
      log.warn('a scheduled run was missed', { schedule: job.name, slot });
    }
    // Times that passed meanwhile are skipped, except one within the grace period.
    due.set(job, job.nextTime(Math.max(slotMs, clock.nowMs() - graceMs)));
  }

  /**
   * If the clock was ahead and is set back, the jobs would otherwise wait until it reaches the old time
   * again.
   */
  function followClock(nowMs: number): void {
    if (nowMs < checkedAtMs - graceMs) {
      log.warn('the clock was set back; the schedules follow it', {
        minutes: toMinutes(checkedAtMs - nowMs),
      });
      for (const job of jobs) due.set(job, job.nextTime(nowMs));
    }
    checkedAtMs = nowMs;
  }

  async function run(): Promise<void> {
    for (const job of jobs)
      if (!isStopping && (await isDueAtStart(job, log))) await runJob(job, clock.nowMs());
    while (!isStopping) {
      followClock(clock.nowMs());
      const next = findNext(due);
      if (next === null) return;
      const waitMs = next.slotMs - clock.nowMs();
      if (waitMs > 0) await clock.sleep(Math.min(waitMs, checkEveryMs));
      else await runDue(next.job, next.slotMs);
    }
  }

  const running = run();
  return {
    async stop() {
      isStopping = true;
      await running;
    },
  };
}

/** False when the store cannot be read: the next start checks again. */
async function isDueAtStart(job: ScheduledJob, log: Log): Promise<boolean> {
  try {
    return await job.isDueAtStart();
  } catch (error) {
    log.warn('it is unknown whether this job is due at the start; it runs at its scheduled times', {
      schedule: job.name,
      reason: error instanceof Error ? error.message : 'unknown',
    });
    return false;
  }
}

interface DueJob {
  readonly job: ScheduledJob;
  readonly slotMs: number;
}

/** The job whose time comes first; among equals, the first in the list. Null when no job has another time. */
function findNext(due: ReadonlyMap<ScheduledJob, number | null>): DueJob | null {
  let first: DueJob | null = null;
  for (const [job, slotMs] of due)
    if (slotMs !== null && (first === null || slotMs < first.slotMs)) first = { job, slotMs };
  return first;
}

function toMinutes(durationMs: number): number {
  return Math.round(durationMs / 60_000);
}
