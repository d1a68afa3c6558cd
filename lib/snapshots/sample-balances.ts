import type { BalanceSnapshot, BalanceStore } from './snapshot-store.ts';

/** A time and the newest snapshot at or before it. */
export interface BalanceSample {
  readonly atMs: number;
  readonly snapshot: BalanceSnapshot;
}

/** The number of concurrent reads. */
const readsAtOnce = 20;

/**
 * Finds the newest snapshot at or before each time, with one read a time; the snapshots between are not read.
 *
 * A time before the first snapshot has no sample. A snapshot is not
 * yielded twice, so a chart draws nothing where no snapshot was taken.
 *
 * @param timesMs ascending
 */
export async function* sampleBalances(
  balances: Pick<BalanceStore, 'readAt'>,
  account: string,
  timesMs: Iterable<number>,
): AsyncGenerator<BalanceSample> {
  let lastSlotMs = Number.NEGATIVE_INFINITY;
  for (const some of chunk(timesMs, readsAtOnce)) {
    const snapshots = await Promise.all(some.map((atMs) => balances.readAt(account, atMs)));
    for (const [index, snapshot] of snapshots.entries()) {
      const atMs = some[index];
      if (snapshot === null || atMs === undefined || snapshot.slotMs <= lastSlotMs) continue;
      lastSlotMs = snapshot.slotMs;
      yield { atMs, snapshot };
    }
  }
}

function* chunk(values: Iterable<number>, size: number): Generator<readonly number[]> {
  let some: number[] = [];
  for (const value of values) {
    some.push(value);
    if (some.length < size) continue;
    yield some;
    some = [];
  }
  if (some.length > 0) yield some;
}
