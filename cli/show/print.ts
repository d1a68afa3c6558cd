import { inspect, styleText } from 'node:util';
import { type Decimal, formatDecimal } from '../../lib/base/decimal.ts';
import { escapeText } from '../../lib/signals/issues.ts';
import type { FailureReport } from '../failure.ts';
import type { Screen } from './terminal.ts';
import { wrapText } from './wrap-text.ts';

const styles = {
  good: ['green'],
  bad: ['red'],
  alarm: ['red', 'bold'],
  waiting: ['cyan'],
  strong: ['bold'],
  faint: ['dim'],
} as const satisfies Record<string, readonly string[]>;
export type Style = keyof typeof styles;

/**
 * A text for the terminal. It may come from any source: control characters are escaped when it is printed.
 */
export type Cell = string | { readonly text: string; readonly style: Style };

/**
 * Labels on the left, values on the right; a field without a value is left out.
 *
 * @param screen absent: values are not wrapped, so that they can be copied
 */
export function renderFields(
  fields: readonly (readonly [label: string, value: Cell | null])[],
  screen: Pick<Screen, 'width'> = { width: null },
): string {
  const labelWidth = Math.max(...fields.map(([label]) => label.length)) + 2;
  const width = screen.width === null ? null : screen.width - labelWidth;
  return fields
    .flatMap(([label, value]) => (value === null ? [] : renderField(label.padEnd(labelWidth), value, width)))
    .join('\n');
}

function renderField(label: string, value: Cell, width: number | null): readonly string[] {
  const lines = wrapText(escapeText(cellText(value)), width);
  return lines.map((line, index) => {
    const lead = index === 0 ? paint({ text: label, style: 'faint' }) : ' '.repeat(label.length);
    return `${lead}${paint(restyle(value, line))}`;
  });
}

/** Formats any value compactly over several lines. */
export function renderFacts(facts: unknown): string {
  return inspect(facts, {
    depth: 8,
    breakLength: 90,
    compact: 4,
    maxArrayLength: null,
    maxStringLength: 2000,
  });
}

/** The text with its style, if the terminal supports styles; control characters are escaped. */
export function paint(cell: Cell): string {
  const text = escapeText(cellText(cell));
  return typeof cell === 'string' ? text : styleText([...styles[cell.style]], text);
}

/** Another text in the style of a cell. */
export function restyle(cell: Cell, text: string): Cell {
  return typeof cell === 'string' ? text : { text, style: cell.style };
}

export function cellText(cell: Cell): string {
  return typeof cell === 'string' ? cell : cell.text;
}

/** With every character that a terminal would not show as it is in an escaped form. */
export function shownText(cell: Cell | undefined): string {
  return escapeText(cellText(cell ?? ''));
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

/** A decimal in plain notation; a dash for null and undefined. */
export function formatAmount(value: Decimal | null | undefined): string {
  return value === null || value === undefined ? '–' : formatDecimal(value);
}

/** The text of a failure for standard error: one JSON document with `--json`, otherwise lines. */
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
