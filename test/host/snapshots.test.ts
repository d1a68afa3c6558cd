import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import {
  createImportInterest,
  createSnapshotBalances,
  createSnapshotFees,
} from '../../lib/host/snapshots.ts';
import { openSnapshotWorld, type SnapshotWorld } from '../snapshots/snapshot-world.ts';
import { collect } from '../snapshots/snapshots-contract.ts';

let world: SnapshotWorld;
beforeEach(async () => {
  world = await openSnapshotWorld();
});
afterEach(() => world.close());

const period = { fromMs: 0, untilMs: 10 ** 14 };
const noonMs = 1_767_268_800_000;
const slots = async () =>
  (await collect(world.store.balances.list('main', period))).map(({ slotMs }) => slotMs);

describe('snapshot-balances behind its schedule', () => {
  test('takes the slot from the event, so that an event that comes twice finds it taken', async () => {
    const handler = createSnapshotBalances(world.services);
    await handler({ slot: '2026-01-01T12:00:00Z' });
    await handler({ slot: '2026-01-01T12:00:00Z' });
    await handler({ slot: '2026-01-01T13:00:00+00:00' });
    await handler({ slot: '2026-01-01T14:00:07.500Z' });
    expect(await slots()).toEqual([noonMs, noonMs + 3_600_000, noonMs + 7_200_000]);
  });

  test.each([[{}], [null], [{ slot: '<aws.scheduler.scheduled-time>' }], [{ slot: 'yesterday' }]])(
    'stands for the minute of the clock when the event %j names no time',
    async (event) => {
      const clock = { ...world.services.clock, nowMs: () => noonMs + 59_999 };
      await createSnapshotBalances({ ...world.services, clock })(event);
      expect(await slots()).toEqual([noonMs]);
    },
  );

  test('fails for its schedule when an account does', async () => {
    world.setKey('main', 'paper-key', 'mistyped');
    const handler = createSnapshotBalances(world.services);
    await expect(handler({})).rejects.toMatchObject({ code: 'snapshot_incomplete' });
  });
});

test('snapshot-fees and import-interest run whatever the event', async () => {
  await createSnapshotFees(world.services)({});
  await createImportInterest(world.services)(null);
  expect(await world.store.fees.readCurrent('main')).toHaveLength(5);
  expect(await collect(world.store.interest.list('main', period))).toHaveLength(250);
});
