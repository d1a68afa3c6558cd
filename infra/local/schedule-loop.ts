import type { Clock } from '../../lib/base/clock.ts';
import type { Log } from '../../lib/base/log.ts';
import type { NextTime } from '../../lib/host/cron-times.ts';
import type { ScheduleHandler } from '../../lib/host/schedule.ts';
import type { SlotEvent } from '../../lib/host/snapshots.ts';

/** A function and the times it runs at. */
export interface ScheduledJob {
  readonly name: string;
  /** Whether it also runs once at the start, before its first time. */
  isDueAtStart(): Promise<boolean>;
  readonly nextTime: NextTime;
  readonly handler: ScheduleHandler;
}

/** The scheduler's part in a local run. */
export interface ScheduleLoop {
  /** Begins no further run and waits for the one under way. */
  stop(): Promise<void>;
}

/** A run may be so late: another ran before it, or the machine was busy. Later, its time is past. */
const graceMs = 60_000;
/** Looked at again so often: the machine may have slept, or its clock been set. */
const lookMs = 1_000;

/**
 * Runs jobs at their times, one after another, so that none meets itself. Times that passed while the relay was off,
 * asleep or busy are left out: what was not looked at then is not made up.
 */
export function startScheduleLoop(jobs: readonly ScheduledJob[], clock: Clock, log: Log): ScheduleLoop {
  let isStopping = false;
  let lookedAtMs = clock.nowMs();
  const due = new Map(jobs.map((job) => [job, job.nextTime(lookedAtMs)]));

  async function runJob({ handler }: ScheduledJob, slotMs: number): Promise<void> {
    const event: SlotEvent = { slot: new Date(slotMs).toISOString() };
    // A failed run has said so in the log.
    await handler(event).catch(() => undefined);
  }

  async function runDue(job: ScheduledJob, slotMs: number): Promise<void> {
    if (clock.nowMs() - slotMs <= graceMs) await runJob(job, slotMs);
    else {
      const slot = new Date(slotMs).toISOString();
      log.warn('a scheduled run was missed', { schedule: job.name, slot });
    }
    // What passed meanwhile, but for what is just due, is left out.
    due.set(job, job.nextTime(Math.max(slotMs, clock.nowMs() - graceMs)));
  }

  /** A clock that was ahead and is set right would be waited for until it is there again. */
  function followClock(nowMs: number): void {
    if (nowMs < lookedAtMs - graceMs) {
      log.warn('the clock was set back; the schedules follow it', { minutes: toMinutes(lookedAtMs - nowMs) });
      for (const job of jobs) due.set(job, job.nextTime(nowMs));
    }
    lookedAtMs = nowMs;
  }

  async function run(): Promise<void> {
    for (const job of jobs)
      if (!isStopping && (await isDueAtStart(job, log))) await runJob(job, clock.nowMs());
    while (!isStopping) {
      followClock(clock.nowMs());
      const next = findNext(due);
      if (next === null) return;
      const waitMs = next.slotMs - clock.nowMs();
      if (waitMs > 0) await clock.sleep(Math.min(waitMs, lookMs));
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

/** A store that cannot be asked now may be asked again at the next start. */
async function isDueAtStart(job: ScheduledJob, log: Log): Promise<boolean> {
  try {
    return await job.isDueAtStart();
  } catch (error) {
    log.warn('whether a schedule is due at the start cannot be told; it runs at its times', {
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

/** The job whose time comes first; of several, the one named first. Null when none has a time left. */
function findNext(due: ReadonlyMap<ScheduledJob, number | null>): DueJob | null {
  let first: DueJob | null = null;
  for (const [job, slotMs] of due)
    if (slotMs !== null && (first === null || slotMs < first.slotMs)) first = { job, slotMs };
  return first;
}

function toMinutes(durationMs: number): number {
  return Math.round(durationMs / 60_000);
}
