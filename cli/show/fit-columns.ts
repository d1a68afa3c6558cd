/** The width limits of a column. */
export interface ColumnNeed {
  /** The width of its longest cell. */
  readonly natural: number;
  /** The minimum: below it, a word or an unwrappable cell would be broken. */
  readonly least: number;
}

/** Narrower columns of text are hard to read. */
const comfortable = 12;

/**
 * Chooses column widths so that a table fits a line. Columns that can wrap share the space that the others
 * leave.
 *
 * @param room characters of a line, without the gaps; null: unlimited
 * @returns null when they do not fit
 */
export function fitColumns(needs: readonly ColumnNeed[], room: number | null): readonly number[] | null {
  if (room === null) return needs.map(({ natural }) => natural);
  const widths = needs.map(({ natural, least }) => Math.max(least, Math.min(natural, comfortable)));
  let left = room - widths.reduce((sum, width) => sum + width, 0);
  if (left < 0) return null;
  while (left > 0) {
    const narrowest = findNarrowest(needs, widths);
    if (narrowest < 0) break;
    widths[narrowest] = (widths[narrowest] ?? 0) + 1;
    left -= 1;
  }
  return widths;
}

/** The narrowest column that is below its natural width; -1 when there is none. */
function findNarrowest(needs: readonly ColumnNeed[], widths: readonly number[]): number {
  let found = -1;
  for (const [index, { natural }] of needs.entries()) {
    const width = widths[index] ?? 0;
    if (width < natural && (found < 0 || width < (widths[found] ?? 0))) found = index;
  }
  return found;
}
