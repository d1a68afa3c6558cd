import { formatMinute, formatSecond, paint } from '../show/print.ts';
import { createScale } from './axes.ts';
import { findRuns, type LineRun } from './find-runs.ts';
import { formatGrouped } from './format-grouped.ts';
import type { Trace, Traces } from './trace-balances.ts';

/** A braille character is two dots wide and four high. */
const dotsAcross = 2;
const dotsDown = 4;
const rows = 6;
const labelWidth = 12;
const tickCount = 3;

/** The number of dot columns of a plot on a screen of that width. */
export function countDotColumns(width: number): number {
  return dotsAcross * Math.max(10, width - labelWidth - 2);
}

/** Draws a small chart for each trace, below one another. */
export function drawTerminal(traces: Traces): string {
  return traces.traces.map((trace) => drawPanel(trace, traces)).join('\n\n');
}

function drawPanel(trace: Trace, traces: Traces): string {
  const { ticker, first, last, least, most } = trace;
  const scale = createScale(trace, tickCount);
  const dots = new DotGrid(traces.columns, rows * dotsDown);
  const levelOf = (value: number) =>
    Math.round(((value - scale.low) / (scale.high - scale.low)) * (rows * dotsDown - 1));
  for (const run of findRuns(trace, traces)) {
    const [only, ...others] = run;
    if (only !== undefined && others.length === 0) dots.mark(only.column, levelOf(only.last));
    plotRun(dots, run, levelOf);
  }
  const labels = new Map(scale.ticks.map(({ value, label }) => [rowOf(levelOf(value)), label]));
  return [
    paint({ text: ticker, style: 'strong' }),
    ...wrapFacts([
      `first ${formatGrouped(first)}`,
      `last ${formatGrouped(last)}`,
      `least ${formatGrouped(least)}`,
      `most ${formatGrouped(most)}`,
    ]),
    ...dots.lines().map((line, row) => {
      const label = labels.get(row);
      return `${(label ?? '').padStart(labelWidth)} ${label === undefined ? '│' : '┤'}${line}`.trimEnd();
    }),
    drawTimeAxis(traces),
  ].join('\n');
}

const factsWidth = 78;

/** Wraps the facts, because exact amounts may be long. */
function wrapFacts(facts: readonly string[]): readonly string[] {
  const lines: string[] = [];
  for (const fact of facts) {
    const line = lines.at(-1);
    const longer = `${line}, ${fact}`;
    if (line !== undefined && longer.length <= factsWidth) lines[lines.length - 1] = longer;
    else lines.push(fact);
  }
  return lines.map((line) => paint({ text: line, style: 'faint' }));
}

/** The row of characters, counted from the top. */
function rowOf(level: number): number {
  return rows - 1 - Math.floor(level / dotsDown);
}

function drawTimeAxis({ period, columns }: Traces): string {
  const format =
    formatMinute(period.fromMs) === formatMinute(period.untilMs - 1) ? formatSecond : formatMinute;
  const [start, end] = [format(period.fromMs), `${format(period.untilMs - 1)} UTC`];
  const width = columns / dotsAcross;
  const margin = ' '.repeat(labelWidth + 1);
  return `${margin}└${'─'.repeat(width)}\n${margin} ${start}${end.padStart(Math.max(end.length + 1, width - start.length))}`;
}

/** Draws steps, because a balance counts as unchanged until the next snapshot, and no line over a gap. */
function plotRun(dots: DotGrid, run: LineRun, levelOf: (value: number) => number): void {
  let before: { readonly column: number; readonly level: number } | null = null;
  for (const { column, first, least, most, last } of run) {
    if (before !== null) {
      for (let across = before.column; across <= column; across += 1) dots.set(across, before.level);
      dots.setBetween(column, before.level, levelOf(first));
    }
    dots.setBetween(column, levelOf(least), levelOf(most));
    before = { column, level: levelOf(last) };
  }
}

/** @see https://www.unicode.org/charts/PDF/U2800.pdf the bits of braille patterns */
const dotBits = [
  [0x40, 0x04, 0x02, 0x01],
  [0x80, 0x20, 0x10, 0x08],
] as const;

class DotGrid {
  readonly #width: number;
  readonly #height: number;
  readonly #cells: Uint8Array;
  readonly #marks = new Set<number>();

  constructor(width: number, height: number) {
    this.#width = Math.ceil(width / dotsAcross);
    this.#height = height / dotsDown;
    this.#cells = new Uint8Array(this.#width * this.#height);
  }

  /** @param level from 0 at the bottom */
  set(column: number, level: number): void {
    const cell = this.#cellOf(column, level);
    const bit = dotBits[column % dotsAcross]?.[level % dotsDown] ?? 0;
    this.#cells[cell] = (this.#cells[cell] ?? 0) | bit;
  }

  setBetween(column: number, one: number, other: number): void {
    for (let level = Math.min(one, other); level <= Math.max(one, other); level += 1) this.set(column, level);
  }

  /** Fills a whole character for a single point, because one braille dot is hardly visible. */
  mark(column: number, level: number): void {
    this.#marks.add(this.#cellOf(column, level));
  }

  lines(): readonly string[] {
    return Array.from({ length: this.#height }, (_, row) =>
      Array.from(this.#cells.subarray(row * this.#width, (row + 1) * this.#width), (bits, across) =>
        this.#marks.has(row * this.#width + across)
          ? '●'
          : bits === 0
            ? ' '
            : String.fromCodePoint(0x2800 + bits),
      ).join(''),
    );
  }

  #cellOf(column: number, level: number): number {
    const row = this.#height - 1 - Math.floor(level / dotsDown);
    return row * this.#width + Math.floor(column / dotsAcross);
  }
}
