import type { BalanceSnapshot, BalanceStore } from './snapshot-store.ts';

/** The snapshot that held at a time. */
export interface BalanceSample {
  readonly atMs: number;
  readonly snapshot: BalanceSnapshot;
}

/** As many reads are on their way at once. */
const readsAtOnce = 20;

/**
 * The newest snapshot at or before each of the times, without reading those between: one read for each time.
 *
 * Times before the first snapshot have no sample, and a snapshot that was the sample of the time before is not given
 * again: where nothing was taken, nothing is drawn.
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
