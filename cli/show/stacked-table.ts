import { type Cell, paint, restyle, shownText } from './print.ts';
import type { Screen } from './terminal.ts';
import { longestWordOf, wrapText } from './wrap-text.ts';

/** A column of one of the two lines of a row. */
export interface StackedColumn {
  readonly title: string;
  readonly align?: 'left' | 'right';
  /** A longer cell is cut, and ends in `…`. */
  readonly cuts?: boolean;
  /** A longer cell goes on below itself, broken between words only. */
  readonly wraps?: boolean;
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
 * A table whose rows have two lines, the second one indented. Cells that are cut or wrapped share what the others leave; all
 * others are whole, so that ids can be copied, even where a line becomes longer than the screen.
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
  const first = (cells: readonly Cell[]) => renderLines(firstColumns, firstWidths, cells);
  const second = (cells: readonly Cell[]) =>
    renderLines(secondColumns, secondWidths, cells).map((line) => `${indent}${line}`);
  const head = (columns: readonly StackedColumn[]) =>
    columns.map(({ title }): Cell => ({ text: title, style: 'strong' }));
  const lengths = [lengthOf(firstWidths), indent.length + lengthOf(secondWidths)];
  return [
    ...first(head(firstColumns)),
    ...second(head(secondColumns)),
    '─'.repeat(Math.min(Math.max(...lengths), width ?? Number.POSITIVE_INFINITY)),
    ...rows.flatMap((row) => [
      ...first(row.first),
      ...second(row.second),
      ...(row.warning == null ? [] : [`${indent}${paint(row.warning)}`]),
    ]),
  ].join('\n');
}

/** How wide a line of these columns is when no cell is cut or wrapped. */
export function naturalWidth(columns: readonly StackedColumn[], rows: readonly (readonly Cell[])[]): number {
  return lengthOf(fitWidths(columns, rows, null));
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
    Math.max(title.length, ...rows.map((cells) => shownText(cells[index]).length)),
  );
  if (room === null) return widths;
  const floors = columns.map(({ title, cuts, wraps }, index) => {
    if (wraps === true)
      return Math.max(...[title, ...rows.map((cells) => shownText(cells[index]))].map(longestWordOf));
    return cuts === true ? least : Number.POSITIVE_INFINITY;
  });
  // The widest of those that may be cut or wrapped gives way first.
  for (let excess = lengthOf(widths) - room; excess > 0; excess -= 1) {
    const narrowed = widths
      .map((width, index) => ({ index, width: width > (floors[index] ?? width) ? width : 0 }))
      .reduce((widest, column) => (column.width > widest.width ? column : widest));
    if (narrowed.width === 0) break;
    widths[narrowed.index] = narrowed.width - 1;
  }
  return widths;
}

/** One line, or more where a cell wraps. */
function renderLines(
  columns: readonly StackedColumn[],
  widths: readonly number[],
  cells: readonly Cell[],
): readonly string[] {
  const texts = columns.map(({ wraps }, index) => {
    const [text, width] = [shownText(cells[index]), widths[index] ?? 0];
    if (wraps === true) return wrapText(text, width);
    return [text.length > width ? `${text.slice(0, width - 1).trimEnd()}…` : text];
  });
  const height = Math.max(...texts.map(({ length }) => length));
  return Array.from({ length: height }, (_, line) => {
    const parts = columns.map(({ align }, index) => {
      const text = texts[index]?.[line] ?? '';
      const blanks = ' '.repeat(Math.max(0, (widths[index] ?? 0) - text.length));
      const painted = paint(restyle(cells[index] ?? '', text));
      return align === 'right' ? `${blanks}${painted}` : `${painted}${blanks}`;
    });
    return parts.join(gap).trimEnd();
  });
}
