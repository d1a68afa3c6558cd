import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { startScheduleLoop } from '../../infra/local/schedule-loop.ts';
import { createSnapshotJobs } from '../../infra/local/snapshot-jobs.ts';
import { openSnapshotWorld, type SnapshotWorld } from '../snapshots/snapshot-world.ts';
import { collect } from '../snapshots/snapshots-contract.ts';

let world: SnapshotWorld;
beforeEach(async () => {
  world = await openSnapshotWorld();
});
afterEach(() => world.close());

const noonMs = 1_767_268_800_000;
const always = 'cron(* * * * ? *)';

test('a local run keeps balances, fees and interest at their times', async () => {
  const settings = { timeZone: 'Etc/UTC', balances: always, fees: always, interest: always };
  const done = Promise.withResolvers<void>();
  // The exchange wants the true time; the schedule gets along with another.
  let nowMs = noonMs;
  const clock = {
    nowMs: () => nowMs,
    async sleep(durationMs: number) {
      nowMs += durationMs;
      await new Promise((resolve) => setImmediate(resolve));
    },
  };
  const jobs = createSnapshotJobs(settings, { ...world.services, clock });
  let imports = 0;
  const watched = jobs.map((job) => ({
    ...job,
    async handler(event: unknown) {
      await job.handler(event);
      // The last of those at the start, and of those at their time.
      if (job.name === 'import-interest') imports += 1;
      if (imports === 2) done.resolve();
    },
  }));
  const loop = startScheduleLoop(watched, clock, world.services.log);
  await done.promise;
  await loop.stop();

  const period = { fromMs: 0, untilMs: 10 ** 14 };
  const kept = await collect(world.store.balances.list('main', period));
  // The first one at the first start, the next at its time.
  expect(kept.slice(0, 2).map(({ slotMs }) => slotMs)).toEqual([noonMs, noonMs + 60_000]);
  expect(await world.store.fees.readCurrent('main')).toHaveLength(5);
  expect(await collect(world.store.interest.list('main', period))).toHaveLength(250);
});

test('all three are kept at the first start; at later ones, balances at their times alone', async () => {
  const nextNight = 'cron(10 0 * * ? *)';
  const settings = { timeZone: 'Etc/UTC', balances: nextNight, fees: nextNight, interest: nextNight };
  let nowMs = noonMs;
  async function startOnce(): Promise<void> {
    const done = Promise.withResolvers<void>();
    const clock = {
      nowMs: () => nowMs,
      async sleep() {
        await new Promise((resolve) => setImmediate(resolve));
        done.resolve();
      },
    };
    const services = { ...world.services, clock };
    const loop = startScheduleLoop(createSnapshotJobs(settings, services), clock, services.log);
    await done.promise;
    await loop.stop();
  }

  await startOnce();
  nowMs += 10 * 60_000;
  await startOnce();

  const period = { fromMs: 0, untilMs: 10 ** 14 };
  const kept = await collect(world.store.balances.list('main', period));
  expect(kept.map(({ slotMs }) => slotMs)).toEqual([noonMs]);
  expect(await world.store.fees.readCurrent('main')).toHaveLength(5);
  expect(await collect(world.store.interest.list('main', period))).toHaveLength(250);
});

test('what is set to null is not kept, and without settings nothing is', () => {
  const settings = { timeZone: 'Etc/UTC', balances: null, fees: always, interest: null };
  expect(createSnapshotJobs(settings, world.services).map(({ name }) => name)).toEqual(['snapshot-fees']);
  expect(createSnapshotJobs(null, world.services)).toEqual([]);
});
