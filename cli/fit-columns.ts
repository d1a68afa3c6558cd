/** How wide a column may become. */
export interface ColumnNeed {
  /** As its longest cell is. */
  readonly natural: number;
  /** Below this a word would be broken, or a cell that must not wrap. */
  readonly least: number;
}

/** Below this a column of words is more a tower than a text. */
const comfortable = 12;

/**
 * Widths with which the columns of a table fit into a line: those that can wrap share what the others leave.
 *
 * @param room characters of a line, without the gaps; null: no end
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

/** Of the columns that would still use more. */
function findNarrowest(needs: readonly ColumnNeed[], widths: readonly number[]): number {
  let found = -1;
  for (const [index, { natural }] of needs.entries()) {
    const width = widths[index] ?? 0;
    if (width < natural && (found < 0 || width < (widths[found] ?? 0))) found = index;
  }
  return found;
}
