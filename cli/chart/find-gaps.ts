import type { Period } from '../../lib/snapshots/snapshot-store.ts';

/** So many distances on either side tell what is usual; the schedule may have been another one once. */
const neighbours = 5;
/** A distance this many times the usual one has a snapshot missing in it. */
const tolerance = 1.5;

/**
 * Where snapshots are missing: the distance is longer than those around it, or than to the ends of the period.
 *
 * A gap reaches from the snapshot before to the one after; at the ends, from or to the period's own.
 *
 * @param slotsMs ascending
 */
export function findGaps(slotsMs: readonly number[], period: Period): readonly Period[] {
  const [first, last] = [slotsMs[0], slotsMs.at(-1)];
  if (first === undefined || last === undefined) return [period];
  const distances = slotsMs.slice(1).map((slotMs, index) => slotMs - (slotsMs[index] ?? slotMs));
  const inner = distances.flatMap((distance, index) => {
    const fromMs = slotsMs[index] ?? first;
    return distance > tolerance * usualAround(distances, index)
      ? [{ fromMs, untilMs: fromMs + distance }]
      : [];
  });
  const usualFirst = usualAround(distances, -1);
  const usualLast = usualAround(distances, distances.length);
  return [
    ...(first - period.fromMs > tolerance * usualFirst ? [{ fromMs: period.fromMs, untilMs: first }] : []),
    ...inner,
    ...(period.untilMs - last > tolerance * usualLast ? [{ fromMs: last, untilMs: period.untilMs }] : []),
  ];
}

/** The middle of the distances around; where there are none, no distance is unusual. */
function usualAround(distances: readonly number[], index: number): number {
  const around = [
    ...distances.slice(Math.max(0, index - neighbours), Math.max(0, index)),
    ...distances.slice(index + 1, index + 1 + neighbours),
  ].sort((one, other) => one - other);
  return around[Math.floor(around.length / 2)] ?? Number.POSITIVE_INFINITY;
}
