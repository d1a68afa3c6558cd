import { readFileSync, writeFileSync } from 'node:fs';
import type { CpuInfo } from 'node:os';
import { join } from 'node:path';
import { projectRoot } from '../support/project-files.ts';
import { type BundleFigures, budgets } from './bundles.ts';
import type { Run } from './load.ts';
import type { Share } from './profile.ts';
import { placedAt } from './report.ts';
import type { SigningRates } from './signing.ts';
import { formatNumber, formatRatio, spreadOf } from './statistics.ts';
import type { BenchKind } from './workload.ts';

/** The document that has the figures between markers, for example `<!-- bench orders -->` and `<!-- /bench -->`. */
export const documentPath = 'docs/performance.md';

/** The figures of one run of the benchmark; the numbers of a map are orders in flight. */
export interface BenchFigures {
  readonly processors: readonly CpuInfo[];
  readonly rounds: number;
  readonly signing: SigningRates;
  readonly servers: ReadonlyMap<number, { readonly bare: readonly Run[]; readonly relay: readonly Run[] }>;
  readonly kinds: ReadonlyMap<number, Readonly<Record<BenchKind, readonly Run[]>>>;
  readonly shares: ReadonlyMap<number, readonly Share[]>;
  readonly bundles: readonly BundleFigures[];
}

/** Replaces the tables of the document. Its sentences hold no figures and stay. */
export function writeDocument(figures: BenchFigures): void {
  const path = join(projectRoot, documentPath);
  const blocks = {
    orders: tabulateOrders,
    kinds: tabulateKinds,
    parts: tabulateParts,
    starts: tabulateStarts,
  };
  let text = readFileSync(path, 'utf8');
  for (const [name, tabulate] of Object.entries(blocks)) text = replaceBlock(text, name, tabulate(figures));
  writeFileSync(path, text);
}

/** @throws Error when the document has no such block */
export function replaceBlock(text: string, name: string, lines: readonly string[]): string {
  const [start, end] = [`<!-- bench ${name} -->\n`, '<!-- /bench -->'];
  const from = text.indexOf(start);
  const until = text.indexOf(end, from);
  if (from === -1 || until === -1) throw new Error(`${documentPath} has no block ${start.trim()} … ${end}`);
  return `${text.slice(0, from + start.length)}${lines.join('\n')}\n${text.slice(until)}`;
}

type FigureOf = (run: Run) => number;

const cpuOf: FigureOf = ({ cpuMicrosPerOrder }) => cpuMicrosPerOrder;

function medianOf(runs: readonly Run[], figureOf: FigureOf): number {
  return spreadOf(runs.map(figureOf)).median;
}

/** One row that compares two columns of runs. */
function compare(
  [one, other]: readonly [readonly Run[], readonly Run[]],
  figureOf: FigureOf,
  unit: string,
  digits: number,
): string {
  const [left, right] = [medianOf(one, figureOf), medianOf(other, figureOf)];
  const written = (figure: number) => `${formatNumber(figure, digits)}${unit}`;
  return `${written(left)} | ${written(right)} | ${formatRatio(right / left)}`;
}

function tabulateOrders({ processors, rounds, signing, servers }: BenchFigures): readonly string[] {
  const rows = [...servers].flatMap(([load, { bare, relay }]) => {
    const runs = [bare, relay] as const;
    return [
      `| ${load} | CPU per order | ${compare(runs, cpuOf, ' µs', 0)} |`,
      `| | orders per second | ${compare(runs, ({ ordersPerSecond }) => ordersPerSecond, '', 0)} |`,
      `| | placed, p50 | ${compare(runs, placedAt(0.5), ' ms', 1)} |`,
      `| | placed, p99 | ${compare(runs, placedAt(0.99), ' ms', 1)} |`,
    ];
  });
  const model = processors[0]?.model.trim() ?? 'unknown';
  const rate = formatNumber(signing.signed.median, 0);
  return [
    `Node ${process.version} on ${processors.length} × ${model}; medians of ${rounds} rounds. Signing alone, with nonce and JSON, runs at ${rate} a second and takes ${formatRatio(signing.bare.median / signing.signed.median)} as long as the bare HMAC.`,
    '',
    '| in flight | | bare server | relay | relay to bare |',
    '| --- | --- | --- | --- | --- |',
    ...rows,
  ];
}

function tabulateKinds({ kinds }: BenchFigures): readonly string[] {
  const rows = [...kinds].flatMap(([load, { stop_limit, market }]) => {
    const runs = [stop_limit, market] as const;
    return [
      `| ${load} | CPU per order | ${compare(runs, cpuOf, ' µs', 0)} |`,
      `| | placed, p50 | ${compare(runs, placedAt(0.5), ' ms', 1)} |`,
      `| | placed, p99 | ${compare(runs, placedAt(0.99), ' ms', 1)} |`,
    ];
  });
  return [
    '| in flight | | stop-limit | guarded market | market to stop-limit |',
    '| --- | --- | --- | --- | --- |',
    ...rows,
  ];
}

function tabulateParts({ shares }: BenchFigures): readonly string[] {
  const loads = [...shares.keys()];
  const parts = new Set([...shares.values()].flatMap((list) => list.map(({ part }) => part)));
  const microsOf = (load: number, part: string) =>
    shares.get(load)?.find((share) => share.part === part)?.micros ?? 0;
  return [
    `| part | ${loads.map((load) => `${load} in flight`).join(' | ')} |`,
    `| --- |${' --- |'.repeat(loads.length)}`,
    ...[...parts].map(
      (part) =>
        `| ${part} | ${loads.map((load) => `${formatNumber(microsOf(load, part), 0)} µs`).join(' | ')} |`,
    ),
  ];
}

function tabulateStarts({ bundles }: BenchFigures): readonly string[] {
  return [
    '| function | bundle | budget | start of a fresh process, to an empty handler |',
    '| --- | --- | --- | --- |',
    ...bundles.map(
      ({ name, bytes, startRatio }) =>
        `| ${name} | ${formatNumber(bytes / 1000, 0)} KB | ${formatNumber((budgets[name] ?? 0) / 1000, 0)} KB | ${formatRatio(startRatio)} |`,
    ),
  ];
}
