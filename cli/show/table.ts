import CliTable from 'cli-table3';
import { escapeText } from '../../lib/signals/issues.ts';
import { fitColumns } from './fit-columns.ts';
import { type Cell, cellText, paint, renderFields, restyle, shownText } from './print.ts';
import type { Screen } from './terminal.ts';
import { longestWordOf, wrapText } from './wrap-text.ts';

export interface Column {
  readonly title: string;
  readonly align?: 'left' | 'right';
  /** Its cells may wrap between words. */
  readonly wraps?: boolean;
  /** It is left out when the screen is too narrow for all columns. */
  readonly optional?: boolean;
}

/** Cells in the order of the columns, and a note below them over the whole width. */
export interface Row {
  readonly cells: readonly Cell[];
  readonly note: string | null;
}

type Width = Pick<Screen, 'width'>;

/** The table has only a line below the head and gaps between the columns. */
const frame = {
  top: '',
  'top-mid': '',
  'top-left': '',
  'top-right': '',
  bottom: '',
  'bottom-mid': '',
  'bottom-left': '',
  'bottom-right': '',
  left: '',
  'left-mid': '',
  right: '',
  'right-mid': '',
  middle: '  ',
  mid: '─',
  'mid-mid': '──',
};
const gapWidth = 2;
const noteIndent = 4;

/** A table without a frame. If the screen is too narrow, each row becomes a list of fields. */
export function renderTable(
  columns: readonly Column[],
  rows: readonly (readonly Cell[])[],
  screen: Width,
): string {
  const rowsWithoutNotes = rows.map((cells) => ({ cells, note: null }));
  return renderRows(columns, rowsWithoutNotes, screen);
}

/** Like `renderTable`, for rows with notes. */
export function renderRows(columns: readonly Column[], rows: readonly Row[], screen: Width): string {
  for (const shown of listSelections(columns)) {
    const some = shown.map((index) => columns[index] as Column);
    const someRows = rows.map(({ cells, note }) => ({
      cells: shown.map((index) => cells[index] ?? ''),
      note,
    }));
    const widths = measure(some, someRows, screen);
    if (widths !== null) return renderGrid(some, someRows, widths, screen);
  }
  return renderRecords(columns, rows, screen);
}

/** A table with one line for each row, besides its note; null when a row would need a second line. */
export function renderOneLineRows(
  columns: readonly Column[],
  rows: readonly Row[],
  screen: Width,
): string | null {
  const whole = columns.map(({ title, align = 'left' }) => ({ title, align }));
  const widths = measure(whole, rows, screen);
  return widths === null ? null : renderGrid(whole, rows, widths, screen);
}

/** The column selections to try: all columns, then without one more optional column each, from the right. */
function listSelections(columns: readonly Column[]): readonly (readonly number[])[] {
  let shown = [...columns.keys()];
  const selections = [shown];
  for (const [index, { optional }] of [...columns.entries()].reverse()) {
    if (optional !== true) continue;
    shown = shown.filter((other) => other !== index);
    selections.push(shown);
  }
  return selections;
}

function measure(
  columns: readonly Column[],
  rows: readonly Row[],
  { width }: Width,
): readonly number[] | null {
  const needs = columns.map(({ title, wraps }, index) => {
    const texts = [title, ...rows.map(({ cells }) => shownText(cells[index]))];
    const natural = Math.max(...texts.map(({ length }) => length));
    const cellWidth = Math.max(...texts.slice(1).map(({ length }) => length), longestWordOf(title));
    return { natural, least: wraps === true ? Math.max(...texts.map(longestWordOf)) : cellWidth };
  });
  return fitColumns(needs, width === null ? null : width - gapWidth * (columns.length - 1));
}

function renderGrid(
  columns: readonly Column[],
  rows: readonly Row[],
  widths: readonly number[],
  { width }: Width,
): string {
  const wrapped = rows.map(({ cells }) => cells.map((cell, index) => wrapCell(cell, widths[index] ?? null)));
  const titles = columns.map(({ title }, index) => wrapText(title, widths[index] ?? null));
  const headLines = Math.max(...titles.map(({ length }) => length)) + 1;
  const table = new CliTable({
    chars: frame,
    style: { head: [], border: [], 'padding-left': 0, 'padding-right': 0, compact: true },
    head: titles.map((lines) => lines.map((text) => paint({ text, style: 'strong' })).join('\n')),
    colAligns: columns.map(({ align }) => align ?? 'left'),
  });
  for (const cells of wrapped) table.push(cells.map((lines) => lines.map(paint).join('\n')));
  const lines = trimLines(table.toString()).split('\n');
  const out = lines.slice(0, headLines);
  let next = headLines;
  for (const [index, { note }] of rows.entries()) {
    const height = Math.max(...(wrapped[index] ?? []).map(({ length }) => length));
    out.push(...lines.slice(next, next + height), ...renderNote(note, width));
    next += height;
  }
  return out.join('\n');
}

function renderNote(note: string | null, width: number | null): readonly string[] {
  if (note === null) return [];
  const lines = wrapText(escapeText(note), width === null ? null : width - noteIndent);
  return lines.map((line) => `${' '.repeat(noteIndent)}${paint({ text: line, style: 'faint' })}`);
}

function wrapCell(cell: Cell, width: number | null): readonly Cell[] {
  return wrapText(shownText(cell), width).map((line) => restyle(cell, line));
}

function renderRecords(columns: readonly Column[], rows: readonly Row[], screen: Width): string {
  const fieldsOf = ({ cells, note }: Row) => [
    ...columns.map(({ title }, index) => {
      const cell = cells[index] ?? '';
      return [title, cellText(cell) === '' ? null : cell] as const;
    }),
    ['', note] as const,
  ];
  return rows.map((row) => renderFields(fieldsOf(row), screen)).join('\n\n');
}

function trimLines(text: string): string {
  return text.replace(/[^\S\n]+$/gm, '');
}
