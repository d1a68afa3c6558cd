import type { Period } from '../../lib/snapshots/snapshot-store.ts';

/** How many distances on either side define the usual distance. The schedule may have changed over time. */
const neighbours = 5;
/** A distance this many times the usual one contains a missing snapshot. */
const tolerance = 1.5;

/**
 * Finds gaps, where snapshots are missing: the distance between two snapshots, or to an end of the period, is
 * longer than the distances around it.
 *
 * A gap extends from the snapshot before it to the one after it, or from or to the end of the period.
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

/** The median of the distances around; without any, no distance counts as unusual. */
function usualAround(distances: readonly number[], index: number): number {
  const around = [
    ...distances.slice(Math.max(0, index - neighbours), Math.max(0, index)),
    ...distances.slice(index + 1, index + 1 + neighbours),
  ].sort((one, other) => one - other);
  return around[Math.floor(around.length / 2)] ?? Number.POSITIVE_INFINITY;
}
