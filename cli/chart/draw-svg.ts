import type { Period } from '../../lib/snapshots/snapshot-store.ts';
import { createScale, createTimeTicks, type Scale, type Tick } from './axes.ts';
import { findRuns, type LineRun } from './find-runs.ts';
import { formatGrouped } from './format-grouped.ts';
import { columnAt, type Trace, type Traces } from './trace-balances.ts';

/** The number of pixel columns of a plot. */
export const svgColumns = 880;

/** In pixels. */
const left = 96;
const width = left + svgColumns + 24;
const headHeight = 76;
const captionHeight = 30;
const axisHeight = 34;
const tickDistance = 36;
const timeTickCount = 8;

const ink = { text: '#24292f', faint: '#59636e', grid: '#e4e7eb', line: '#0b63c5', gap: '#f0f1f3' };

export interface Heading {
  readonly title: string;
  readonly subtitle: string;
  /** The meaning of the lines. */
  readonly legend: string;
}

/** Draws one panel for each trace, below one another, with the same time axis and separate scales. */
export function drawSvg(traces: Traces, heading: Heading): string {
  const plotHeight = traces.traces.length > 3 ? 110 : 180;
  const panelHeight = captionHeight + plotHeight + axisHeight;
  const height = headHeight + traces.traces.length * panelHeight;
  const timeTicks = createTimeTicks(traces.period, timeTickCount);
  const panels = traces.traces.map((trace, index) =>
    drawPanel({
      trace,
      traces,
      timeTicks,
      top: headHeight + index * panelHeight + captionHeight,
      plotHeight,
    }),
  );
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" font-family="system-ui, -apple-system, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif" font-size="12" fill="${ink.text}">`,
    `<title>${escapeXml(`${heading.title}, ${heading.subtitle}`)}</title>`,
    `<rect width="${width}" height="${height}" fill="#ffffff"/>`,
    drawHead(heading, traces.gaps.length > 0),
    ...panels,
    '</svg>\n',
  ].join('\n');
}

function drawHead({ title, subtitle, legend }: Heading, hasGaps: boolean): string {
  const middle = 56;
  const gapAt = left + 40 + legend.length * 7 + 24;
  return [
    `<text x="${left}" y="26" font-size="17" font-weight="600">${escapeXml(title)}</text>`,
    `<text x="${width - 24}" y="26" text-anchor="end" fill="${ink.faint}">${escapeXml(subtitle)}</text>`,
    `<path d="M${left} ${middle}h28" stroke="${ink.line}" stroke-width="2"/>`,
    drawText(left + 36, middle + 4, legend),
    ...(hasGaps
      ? [
          `<rect x="${gapAt}" y="${middle - 7}" width="28" height="14" fill="${ink.gap}" stroke="${ink.grid}"/>`,
          drawText(gapAt + 36, middle + 4, 'no snapshots'),
        ]
      : []),
  ].join('\n');
}

function drawText(x: number, y: number, text: string): string {
  return `<text x="${x}" y="${y}" fill="${ink.faint}">${escapeXml(text)}</text>`;
}

interface Panel {
  readonly trace: Trace;
  readonly traces: Traces;
  readonly timeTicks: readonly Tick[];
  /** Of the plot, in pixels. */
  readonly top: number;
  readonly plotHeight: number;
}

function drawPanel({ trace, traces, timeTicks, top, plotHeight }: Panel): string {
  const scale = createScale(trace, Math.max(2, Math.round(plotHeight / tickDistance)));
  const yOf = (value: number) =>
    round(plotHeight - ((value - scale.low) / (scale.high - scale.low)) * plotHeight);
  const runs = findRuns(trace, traces);
  const path = runs.map((run) => drawRun(run, yOf)).join('');
  return [
    `<g class="panel" transform="translate(${left} ${top})">`,
    drawCaption(trace),
    ...traces.gaps.map((gap) => drawGap(gap, traces, plotHeight)),
    ...drawValueAxis(scale, yOf),
    ...drawTimeAxis(timeTicks, traces.period, plotHeight),
    `<path class="line" d="${path}" fill="none" stroke="${ink.line}" stroke-width="1.5" stroke-linecap="round" stroke-linejoin="round"/>`,
    ...runs.flatMap((run) => drawDot(run, yOf)),
    '</g>',
  ].join('\n');
}

function drawCaption({ ticker, last, least, most }: Trace): string {
  const facts = `last ${formatGrouped(last)} · least ${formatGrouped(least)} · most ${formatGrouped(most)}`;
  return `<text x="0" y="-12"><tspan font-size="14" font-weight="600">${escapeXml(ticker)}</tspan><tspan dx="12" fill="${ink.faint}">${facts}</tspan></text>`;
}

function drawGap({ fromMs, untilMs }: Period, { period, columns }: Traces, plotHeight: number): string {
  const from = columnAt(period, columns, fromMs);
  const until = untilMs === period.untilMs ? columns : columnAt(period, columns, untilMs);
  return `<rect class="gap" x="${from}" y="0" width="${until - from}" height="${plotHeight}" fill="${ink.gap}"/>`;
}

function drawValueAxis({ ticks }: Scale, yOf: (value: number) => number): readonly string[] {
  return ticks.flatMap(({ value, label }) => [
    `<path d="M0 ${yOf(value)}H${svgColumns}" stroke="${ink.grid}"/>`,
    `<text x="-10" y="${yOf(value) + 4}" text-anchor="end" fill="${ink.faint}">${label}</text>`,
  ]);
}

function drawTimeAxis(
  ticks: readonly Tick[],
  { fromMs, untilMs }: Period,
  plotHeight: number,
): readonly string[] {
  return ticks.flatMap(({ value, label }) => {
    const x = round(((value - fromMs) / (untilMs - fromMs)) * svgColumns);
    return [
      `<path d="M${x} ${plotHeight}v5" stroke="${ink.faint}"/>`,
      `<text x="${x}" y="${plotHeight + 19}" text-anchor="middle" fill="${ink.faint}">${label}</text>`,
    ];
  });
}

/** In pixels. */
const dotRadius = 3.5;

/** A single snapshot without a line to or from it. */
function drawDot([only, ...others]: LineRun, yOf: (value: number) => number): readonly string[] {
  if (only === undefined || others.length > 0) return [];
  const x = only.column + 0.5;
  return [`<circle class="dot" cx="${x}" cy="${yOf(only.last)}" r="${dotRadius}" fill="${ink.line}"/>`];
}

/**
 * A line of steps, because a balance counts as unchanged until the next snapshot. Within a column, the line
 * covers the least and the most amount.
 */
function drawRun(run: LineRun, yOf: (value: number) => number): string {
  const [start, ...others] = run;
  if (start === undefined || others.length === 0) return '';
  let y = yOf(start.first);
  let drawnTo = start.column;
  let path = `M${drawnTo + 0.5} ${y}`;
  for (const { column, first, least, most, last } of run)
    for (const stop of [first, least, most, last].map(yOf)) {
      if (stop === y) continue;
      path += `${column > drawnTo ? `H${column + 0.5}` : ''}V${stop}`;
      drawnTo = column;
      y = stop;
    }
  const end = run.at(-1)?.column ?? drawnTo;
  return end > drawnTo ? `${path}H${end + 0.5}` : path;
}

/** Rounds to a tenth of a pixel. */
function round(pixels: number): number {
  return Math.round(pixels * 10) / 10;
}

const xmlEntities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
};

function escapeXml(text: string): string {
  // Characters that XML does not allow are left out.
  return text
    .replace(/[^\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/gu, '')
    .replace(/[&<>"]/g, (character) => xmlEntities[character] ?? '');
}
