import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { snapshotSlot } from '../../lib/snapshots/snapshot-slot.ts';
import { openSnapshotWorld, type SnapshotWorld } from './snapshot-world.ts';
import { collect } from './snapshots-contract.ts';

let world: SnapshotWorld;
beforeEach(async () => {
  world = await openSnapshotWorld();
});
afterEach(() => world.close());

const period = { fromMs: 0, untilMs: 10 ** 14 };
const noonMs = 1_767_268_800_000;
const slots = async () =>
  (await collect(world.store.balances.list('main', period))).map(({ slotMs }) => slotMs);

const minuteMs = 60_000;

describe('the snapshot of a scheduled time', () => {
  /** The run of a schedule at the given time. */
  const at = (nowMs: number) => {
    const services = { ...world.services, clock: { ...world.services.clock, nowMs: () => nowMs } };
    return (event: unknown) => snapshotSlot(services, event);
  };

  test('takes the slot from the event, so that a repeated event stores nothing', async () => {
    const handler = at(noonMs + 10 * minuteMs);
    await handler({ slot: '2026-01-01T12:00:00Z' });
    await handler({ slot: '2026-01-01T12:00:00Z' });
    await handler({ slot: '2026-01-01T14:05:00+02:00' });
    await handler({ slot: '2026-01-01T12:09:07.500Z' });
    expect(await slots()).toEqual([noonMs, noonMs + 5 * minuteMs, noonMs + 9 * minuteMs]);
  });

  test.each([[{}], [null], [{ slot: null }], [{ slot: '<aws.scheduler.scheduled-time>' }]])(
    'uses the current minute when the event %j has no time',
    async (event) => {
      await at(noonMs + 59_999)(event);
      expect(await slots()).toEqual([noonMs]);
    },
  );

  test.each(['yesterday', '2026-01-01 12:00', '2026-02-30T12:00:00Z', '<aws.scheduler.execution-id>', 1, ''])(
    'fails when the slot is %j, and stores nothing',
    async (slot) => {
      await expect(at(noonMs)({ slot })).rejects.toThrow(RangeError);
      expect(await slots()).toEqual([]);
    },
  );

  test.each([2 * 86_400_000, 30 * minuteMs + 1, -30 * minuteMs - 1])(
    'stores nothing for a slot %d ms ago, and logs it',
    async (distanceMs) => {
      await at(noonMs + distanceMs)({ slot: '2026-01-01T12:00:00Z' });
      expect(await slots()).toEqual([]);
      expect(world.logged).toMatchObject([{ level: 'warn', facts: { slot: '2026-01-01T12:00:00.000Z' } }]);
    },
  );

  test('stores the balances for a slot half an hour ago, the latest that AWS runs', async () => {
    await at(noonMs + 30 * minuteMs)({ slot: '2026-01-01T12:00:00Z' });
    expect(await slots()).toEqual([noonMs]);
  });

  test('fails when one account fails', async () => {
    world.setKey('main', 'paper-key', 'mistyped');
    await expect(snapshotSlot(world.services, {})).rejects.toMatchObject({ code: 'snapshot_incomplete' });
  });
});
