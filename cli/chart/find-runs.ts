import { columnAt, type Span, type Trace, type Traces } from './trace-balances.ts';

export interface Stop extends Span {
  readonly column: number;
}

/** Columns that a line connects, in order; between two runs lies a gap, or nobody knows whether one does. */
export type Run = readonly Stop[];

/** Two distances can be compared; one alone does not tell whether a snapshot is missing in it. */
const comparableSnapshots = 3;

export function findRuns(trace: Trace, traces: Traces): readonly Run[] {
  const breaks = traces.snapshots < comparableSnapshots ? new Set(trace.spans.keys()) : findBreaks(traces);
  const runs: Stop[][] = [];
  for (const [column, span] of trace.spans) {
    const run = runs.at(-1);
    if (run === undefined || breaks.has(column)) runs.push([{ column, ...span }]);
    else run.push({ column, ...span });
  }
  return runs;
}

/** Columns before which there is a gap; one within a column of pixels cannot be shown. */
function findBreaks({ gaps, period, columns }: Traces): ReadonlySet<number> {
  const crossing = gaps.filter(
    ({ fromMs, untilMs }) => columnAt(period, columns, fromMs) < columnAt(period, columns, untilMs),
  );
  return new Set(crossing.map(({ untilMs }) => columnAt(period, columns, untilMs)));
}
