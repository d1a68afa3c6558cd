import { inspect, styleText } from 'node:util';
import CliTable from 'cli-table3';
import { type Decimal, formatDecimal } from '../lib/base/decimal.ts';
import { escapeText } from '../lib/signals/issues.ts';
import type { FailureReport } from './failure.ts';

const styles = {
  good: ['green'],
  bad: ['red'],
  alarm: ['red', 'bold'],
  waiting: ['cyan'],
  strong: ['bold'],
  faint: ['dim'],
} as const satisfies Record<string, readonly string[]>;
export type Style = keyof typeof styles;

/** A text for one place of the screen, from anywhere: it is made safe for the terminal when it is printed. */
export type Cell = string | { readonly text: string; readonly style: Style };

export interface Column {
  readonly title: string;
  readonly align?: 'left' | 'right';
  /** In characters; longer cells wrap. */
  readonly maximumWidth?: number;
}

/** A line under the head, a gap between columns, and nothing else. */
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

/** A table with a ruled head and no frame. */
export function renderTable(columns: readonly Column[], rows: readonly (readonly Cell[])[]): string {
  const table = new CliTable({
    chars: frame,
    style: { head: [], border: [], 'padding-left': 0, 'padding-right': 0, compact: true },
    head: columns.map(({ title }) => paint({ text: title, style: 'strong' })),
    colAligns: columns.map(({ align }) => align ?? 'left'),
    colWidths: columns.map((column, index) => fixedWidth(column, index, rows)),
    wordWrap: true,
    wrapOnWordBoundary: false,
  });
  for (const row of rows) table.push(row.map(paint));
  return trimLines(table.toString());
}

/** Null: as wide as its longest cell. */
function fixedWidth(
  { maximumWidth }: Column,
  index: number,
  rows: readonly (readonly Cell[])[],
): number | null {
  if (maximumWidth === undefined) return null;
  const isTooWide = rows.some((row) => textOf(row[index] ?? '').length > maximumWidth);
  return isTooWide ? maximumWidth : null;
}

/** Labels on the left, values on the right; a field without a value is left out. */
export function renderFields(fields: readonly (readonly [label: string, value: Cell | null])[]): string {
  const width = Math.max(...fields.map(([label]) => label.length)) + 2;
  return fields
    .flatMap(([label, value]) =>
      value === null ? [] : [`${paint({ text: label.padEnd(width), style: 'faint' })}${paint(value)}`],
    )
    .join('\n');
}

/** Facts of any shape, over as few lines as stay readable. */
export function renderFacts(facts: unknown): string {
  return inspect(facts, {
    depth: 8,
    breakLength: 90,
    compact: 4,
    maxArrayLength: null,
    maxStringLength: 2000,
  });
}

/** The text with its style, if the terminal shows any; control characters are spelled out. */
export function paint(cell: Cell): string {
  const text = escapeText(textOf(cell));
  return typeof cell === 'string' ? text : styleText([...styles[cell.style]], text);
}

function textOf(cell: Cell): string {
  return typeof cell === 'string' ? cell : cell.text;
}

function trimLines(text: string): string {
  return text.replace(/[^\S\n]+$/gm, '');
}

/** `11-21 08:32:19`, UTC: for lists of what is recent. */
export function formatRecent(timeMs: number): string {
  return formatSecond(timeMs).slice(5);
}

/** `2026-11-21 08:32:19`, UTC. */
export function formatSecond(timeMs: number): string {
  return formatMillisecond(timeMs).slice(0, -4);
}

/** `2026-11-21 08:32`, UTC. */
export function formatMinute(timeMs: number): string {
  return formatMillisecond(timeMs).slice(0, -7);
}

/** `2026-11-21 08:32:19.123`, UTC. */
export function formatMillisecond(timeMs: number): string {
  return new Date(timeMs).toISOString().slice(0, -1).replace('T', ' ');
}

/** A decimal in plain notation; a dash where there is none. */
export function formatAmount(value: Decimal | null | undefined): string {
  return value === null || value === undefined ? '–' : formatDecimal(value);
}

/** A failure as standard error shows it: one JSON document for programs, lines for people. */
export function renderFailure({ exitStatus: _, ...failure }: FailureReport, isJson: boolean): string {
  if (isJson) return `${JSON.stringify({ error: failure })}\n`;
  const mark = styleText(['red', 'bold'], 'error:', { stream: process.stderr });
  const issues = failure.issues.map(
    ({ path, message, hint }) =>
      `  ${path === '' ? '' : `${path}: `}${message}${hint === '' ? '' : ` (${hint})`}`,
  );
  const lines = [failure.message, ...issues, failure.action].map(escapeText);
  return `${mark} ${lines.join('\n')}\n`;
}
