import { describe, expect, test } from '@jest/globals';
import { type ScheduledJob, startScheduleLoop } from '../../infra/local/schedule-loop.ts';
import type { LogFacts } from '../../lib/base/log.ts';
import { createNextTime } from '../../lib/host/cron-times.ts';
import { createManualClock, type ManualClock } from '../support/manual-clock.ts';

const noonMs = 1_767_268_800_000;
const minuteMs = 60_000;
const everyMinute = createNextTime('cron(* * * * ? *)', 'Etc/UTC');

/** Runs a loop until that many runs have begun, and tells them as `name minutes-after-noon`. */
async function record(
  count: number,
  clock: ManualClock,
  jobs: readonly (Pick<ScheduledJob, 'name' | 'nextTime'> & {
    readonly isRunAtStart?: boolean;
    readonly run?: () => Promise<void>;
  })[],
) {
  const runs: string[] = [];
  const warned: LogFacts[] = [];
  const done = Promise.withResolvers<void>();
  const silence = () => undefined;
  const log = {
    info: silence,
    warn: (_: string, facts: LogFacts) => void warned.push(facts),
    error: silence,
  };
  const scheduled = jobs.map(({ name, nextTime, isRunAtStart = false, run = async () => {} }) => ({
    name,
    nextTime,
    isDueAtStart: async () => isRunAtStart,
    async handler(event: unknown) {
      const { slot } = event as { slot: string };
      runs.push(`${name} ${(Date.parse(slot) - noonMs) / minuteMs}`);
      if (runs.length >= count) done.resolve();
      await run();
    },
  }));
  const loop = startScheduleLoop(scheduled, clock, log);
  await done.promise;
  await loop.stop();
  return { runs, warned };
}

describe('the schedule of a local run', () => {
  test('runs a job at each of its times, beginning with the next', async () => {
    const clock = createManualClock(noonMs + 1);
    const { runs, warned } = await record(3, clock, [{ name: 'a', nextTime: everyMinute }]);
    expect(runs).toEqual(['a 1', 'a 2', 'a 3']);
    expect(warned).toEqual([]);
  });

  test('runs jobs by their times, and those of the same time in their order', async () => {
    const { runs } = await record(6, createManualClock(noonMs), [
      { name: 'slow', nextTime: createNextTime('cron(*/3 * * * ? *)', 'Etc/UTC') },
      { name: 'quick', nextTime: everyMinute },
    ]);
    expect(runs).toEqual(['quick 1', 'quick 2', 'slow 3', 'quick 3', 'quick 4', 'quick 5']);
  });

  test('goes on after a run that failed', async () => {
    const failing = {
      name: 'a',
      nextTime: everyMinute,
      run: () => Promise.reject(new Error('no exchange')),
    };
    expect((await record(3, createManualClock(noonMs), [failing])).runs).toEqual(['a 1', 'a 2', 'a 3']);
  });

  test('never lets a job meet itself, nor another', async () => {
    const clock = createManualClock(noonMs);
    let running = 0;
    let most = 0;
    const run = async () => {
      running += 1;
      most = Math.max(most, running);
      await clock.sleep(50_000);
      running -= 1;
    };
    await record(8, clock, [
      { name: 'a', nextTime: everyMinute, run },
      { name: 'b', nextTime: everyMinute, run },
    ]);
    expect(most).toBe(1);
  });

  test('leaves out the times that passed during a run that took too long', async () => {
    const clock = createManualClock(noonMs);
    let first = true;
    const run = async () => {
      if (first) await clock.sleep(5.5 * minuteMs);
      first = false;
    };
    const { runs } = await record(3, clock, [{ name: 'a', nextTime: everyMinute, run }]);
    expect(runs).toEqual(['a 1', 'a 6', 'a 7']);
  });

  test('says which time was missed while the machine slept, and makes nothing up for it', async () => {
    const clock = createManualClock(noonMs);
    const asleep = { ...clock, sleptOnce: false };
    const sleeping: ManualClock = {
      ...clock,
      async sleep(durationMs) {
        await clock.sleep(asleep.sleptOnce ? durationMs : 8 * 3_600_000 + 30_000);
        asleep.sleptOnce = true;
      },
    };
    const { runs, warned } = await record(2, sleeping, [{ name: 'a', nextTime: everyMinute }]);
    expect(runs).toEqual(['a 480', 'a 481']);
    expect(warned).toEqual([{ schedule: 'a', slot: '2026-01-01T12:01:00.000Z' }]);
  });

  const night = createNextTime('cron(10 0 * * ? *)', 'Etc/UTC');

  test('runs once at its start what may run at any time, whether that fails or not', async () => {
    const nextTime = night;
    const { runs } = await record(5, createManualClock(noonMs), [
      { name: 'balances', nextTime },
      { name: 'fees', nextTime, isRunAtStart: true, run: () => Promise.reject(new Error('no exchange')) },
      { name: 'interest', nextTime, isRunAtStart: true },
    ]);
    expect(runs).toEqual(['fees 0', 'interest 0', 'balances 730', 'fees 730', 'interest 730']);
  });

  test('keeps what is due at night on a machine that is on by day alone', async () => {
    const days: string[] = [];
    for (let day = 0; day < 3; day += 1) {
      const clock = createManualClock(noonMs + day * 86_400_000);
      const { runs } = await record(1, clock, [{ name: 'fees', nextTime: night, isRunAtStart: true }]);
      days.push(...runs);
    }
    expect(days).toEqual(['fees 0', 'fees 1440', 'fees 2880']);
  });

  test('begins nothing more at its start once it is stopped', async () => {
    const begun = Promise.withResolvers<void>();
    const goOn = Promise.withResolvers<void>();
    let others = 0;
    const silence = () => undefined;
    const log = { info: silence, warn: silence, error: silence };
    const first = async () => {
      begun.resolve();
      await goOn.promise;
    };
    const second = async () => {
      others += 1;
    };
    const loop = startScheduleLoop(
      [first, second].map((handler) => ({
        name: 'a',
        nextTime: night,
        isDueAtStart: async () => true,
        handler,
      })),
      createManualClock(noonMs),
      log,
    );
    await begun.promise;
    const stopped = loop.stop();
    goOn.resolve();
    await stopped;
    expect(others).toBe(0);
  });

  /** A clock that is days ahead, and is set right during its first sleep. */
  function createClockAhead(aheadMs: number): ManualClock {
    const clock = createManualClock(noonMs + aheadMs);
    let isSetRight = false;
    return {
      ...clock,
      async sleep(durationMs) {
        await clock.sleep(durationMs);
        if (!isSetRight) clock.advance(-aheadMs);
        isSetRight = true;
      },
    };
  }

  test('follows a clock that was days ahead and is set right', async () => {
    const clock = createClockAhead(7 * 86_400_000);
    const { runs, warned } = await record(2, clock, [{ name: 'a', nextTime: everyMinute }]);
    expect(runs).toEqual(['a 1', 'a 2']);
    expect(warned).toEqual([{ minutes: 10_080 }]);
  });

  test('takes a clock that is set back by a minute as it comes, and no time twice', async () => {
    const clock = createClockAhead(minuteMs);
    const { runs, warned } = await record(2, clock, [{ name: 'a', nextTime: everyMinute }]);
    expect(runs).toEqual(['a 2', 'a 3']);
    expect(warned).toEqual([]);
  });

  test('waits for the run under way when it stops, and begins no other', async () => {
    const clock = createManualClock(noonMs);
    const begun = Promise.withResolvers<void>();
    const goOn = Promise.withResolvers<void>();
    let ended = 0;
    const handler = async () => {
      begun.resolve();
      await goOn.promise;
      ended += 1;
    };
    const silence = () => undefined;
    const log = { info: silence, warn: silence, error: silence };
    const loop = startScheduleLoop(
      [{ name: 'a', nextTime: everyMinute, isDueAtStart: async () => false, handler }],
      clock,
      log,
    );
    await begun.promise;
    const stopped = loop.stop();
    clock.advance(10 * minuteMs);
    goOn.resolve();
    await stopped;
    expect(ended).toBe(1);
  });

  test('ends by itself when no job has a time left', async () => {
    const silence = () => undefined;
    const log = { info: silence, warn: silence, error: silence };
    const job = { name: 'a', nextTime: () => null, isDueAtStart: async () => false, handler: async () => {} };
    await startScheduleLoop([job], createManualClock(noonMs), log).stop();
    await startScheduleLoop([], createManualClock(noonMs), log).stop();
  });
});
