import { escapeText } from '../../lib/signals/issues.ts';
import { type Cell, cellText, paint, restyle } from './print.ts';
import type { Screen } from './terminal.ts';

/** A column of one of the two lines of a row. */
export interface StackedColumn {
  readonly title: string;
  readonly align?: 'left' | 'right';
  /** A longer cell is cut, and ends in `…`. */
  readonly cuts?: boolean;
}

/** The cells of both lines of a row, in the order of the columns, and what must not be overlooked. */
export interface StackedRow {
  readonly first: readonly Cell[];
  readonly second: readonly Cell[];
  /** A line of its own; absent: none. */
  readonly warning?: Cell | null;
}

const gap = '  ';
const indent = '    ';
const least = 8;

/**
 * A table whose rows have two lines, the second one indented. Cells that are cut share what the others leave; all others are
 * whole, so that ids can be copied, even where a line becomes longer than the screen.
 */
export function renderStacked(
  firstColumns: readonly StackedColumn[],
  secondColumns: readonly StackedColumn[],
  rows: readonly StackedRow[],
  { width }: Pick<Screen, 'width'>,
): string {
  const firstWidths = fitWidths(
    firstColumns,
    rows.map(({ first }) => first),
    width,
  );
  const room = width === null ? null : width - indent.length;
  const secondWidths = fitWidths(
    secondColumns,
    rows.map(({ second }) => second),
    room,
  );
  const first = (cells: readonly Cell[]) => renderLine(firstColumns, firstWidths, cells);
  const second = (cells: readonly Cell[]) => `${indent}${renderLine(secondColumns, secondWidths, cells)}`;
  const head = (columns: readonly StackedColumn[]) =>
    columns.map(({ title }): Cell => ({ text: title, style: 'strong' }));
  const lengths = [lengthOf(firstWidths), indent.length + lengthOf(secondWidths)];
  return [
    first(head(firstColumns)),
    second(head(secondColumns)),
    '─'.repeat(Math.min(Math.max(...lengths), width ?? Number.POSITIVE_INFINITY)),
    ...rows.flatMap((row) => [
      first(row.first),
      second(row.second),
      ...(row.warning == null ? [] : [`${indent}${paint(row.warning)}`]),
    ]),
  ].join('\n');
}

function lengthOf(widths: readonly number[]): number {
  return widths.reduce((sum, width) => sum + width, gap.length * (widths.length - 1));
}

function fitWidths(
  columns: readonly StackedColumn[],
  rows: readonly (readonly Cell[])[],
  room: number | null,
): readonly number[] {
  const widths = columns.map(({ title }, index) =>
    Math.max(title.length, ...rows.map((cells) => shown(cells[index]).length)),
  );
  if (room === null) return widths;
  // The widest of those that may be cut gives way first.
  for (let excess = lengthOf(widths) - room; excess > 0; excess -= 1) {
    const cut = columns
      .map(({ cuts }, index) => ({ index, width: cuts === true ? (widths[index] ?? 0) : 0 }))
      .reduce((widest, column) => (column.width > widest.width ? column : widest));
    if (cut.width <= least) break;
    widths[cut.index] = cut.width - 1;
  }
  return widths;
}

function shown(cell: Cell | undefined): string {
  return escapeText(cellText(cell ?? ''));
}

function renderLine(
  columns: readonly StackedColumn[],
  widths: readonly number[],
  cells: readonly Cell[],
): string {
  const parts = columns.map(({ align }, index) => {
    const cell = cells[index] ?? '';
    const width = widths[index] ?? 0;
    const text = shown(cell);
    const cut = text.length > width ? `${text.slice(0, width - 1).trimEnd()}…` : text;
    const blanks = ' '.repeat(width - cut.length);
    const painted = paint(restyle(cell, cut));
    return align === 'right' ? `${blanks}${painted}` : `${painted}${blanks}`;
  });
  return parts.join(gap).trimEnd();
}
