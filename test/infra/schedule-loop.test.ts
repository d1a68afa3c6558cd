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
  jobs: readonly (Pick<ScheduledJob, 'name' | 'nextTime'> & { readonly run?: () => Promise<void> })[],
) {
  const runs: string[] = [];
  const missed: LogFacts[] = [];
  const done = Promise.withResolvers<void>();
  const silence = () => undefined;
  const log = {
    info: silence,
    warn: (_: string, facts: LogFacts) => void missed.push(facts),
    error: silence,
  };
  const scheduled = jobs.map(({ name, nextTime, run = async () => {} }) => ({
    name,
    nextTime,
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
  return { runs, missed };
}

describe('the schedule of a local run', () => {
  test('runs a job at each of its times, beginning with the next', async () => {
    const clock = createManualClock(noonMs + 1);
    const { runs, missed } = await record(3, clock, [{ name: 'a', nextTime: everyMinute }]);
    expect(runs).toEqual(['a 1', 'a 2', 'a 3']);
    expect(missed).toEqual([]);
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
    const { runs, missed } = await record(2, sleeping, [{ name: 'a', nextTime: everyMinute }]);
    expect(runs).toEqual(['a 480', 'a 481']);
    expect(missed).toEqual([{ schedule: 'a', slot: '2026-01-01T12:01:00.000Z' }]);
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
    const loop = startScheduleLoop([{ name: 'a', nextTime: everyMinute, handler }], clock, log);
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
    const job = { name: 'a', nextTime: () => null, handler: async () => {} };
    await startScheduleLoop([job], createManualClock(noonMs), log).stop();
    await startScheduleLoop([], createManualClock(noonMs), log).stop();
  });
});
