import { describe, expect, test } from '@jest/globals';
import { sampleBalances } from '../../lib/snapshots/sample-balances.ts';
import type { BalanceStore } from '../../lib/snapshots/snapshot-store.ts';
import { collect, snapshotAt } from './snapshots-contract.ts';

/** Snapshots at these slots, and a count of the reads. */
function storeOf(slots: readonly number[]): Pick<BalanceStore, 'readAt'> & { reads: number } {
  const store = {
    reads: 0,
    async readAt(_: string, atMs: number) {
      store.reads += 1;
      const slotMs = slots.findLast((slot) => slot <= atMs);
      return slotMs === undefined ? null : snapshotAt(slotMs);
    },
  };
  return store;
}

const sample = async (slots: readonly number[], times: readonly number[]) =>
  (await collect(sampleBalances(storeOf(slots), 'main', times))).map(({ atMs, snapshot }) => [
    atMs,
    snapshot.slotMs,
  ]);

describe('a sample of balances', () => {
  test('takes the snapshot at or before each time', async () => {
    expect(await sample([10, 20, 29, 40], [20, 30, 45])).toEqual([
      [20, 20],
      [30, 29],
      [45, 40],
    ]);
  });

  test('has no entry before the first snapshot, and no snapshot twice', async () => {
    expect(await sample([10, 50], [0, 10, 20, 30, 60, 70])).toEqual([
      [10, 10],
      [60, 50],
    ]);
  });

  test('is in the order of times, however many there are', async () => {
    const slots = Array.from({ length: 1000 }, (_, index) => index * 10);
    const times = Array.from({ length: 105 }, (_, index) => index * 90 + 5);
    expect(await sample(slots, times)).toEqual(times.map((atMs) => [atMs, atMs - 5]));
  });

  test('reads once for each time, and no snapshot in between', async () => {
    const store = storeOf(Array.from({ length: 10_000 }, (_, index) => index));
    await collect(sampleBalances(store, 'main', [100, 5000, 9999]));
    expect(store.reads).toBe(3);
  });

  test('stops reading when its reader does', async () => {
    const store = storeOf(Array.from({ length: 1000 }, (_, index) => index));
    const times = Array.from({ length: 500 }, (_, index) => index);
    for await (const { atMs } of sampleBalances(store, 'main', times)) if (atMs === 5) break;
    expect(store.reads).toBe(20);
  });
});
