import { columnAt, type Span, type Trace, type Traces } from './trace-balances.ts';

export interface Stop extends Span {
  readonly column: number;
}

/**
 * Consecutive columns that a line connects. Between two runs there is a gap, or too few snapshots to know.
 */
export type LineRun = readonly Stop[];

/** At least two distances are needed: a single one does not show whether a snapshot is missing in it. */
const comparableSnapshots = 3;

export function findRuns(trace: Trace, traces: Traces): readonly LineRun[] {
  const breaks = traces.snapshots < comparableSnapshots ? new Set(trace.spans.keys()) : findBreaks(traces);
  const runs: Stop[][] = [];
  for (const [column, span] of trace.spans) {
    const run = runs.at(-1);
    if (run === undefined || breaks.has(column)) runs.push([{ column, ...span }]);
    else run.push({ column, ...span });
  }
  return runs;
}

/** Columns that follow a gap. A gap within one pixel column cannot be shown. */
function findBreaks({ gaps, period, columns }: Traces): ReadonlySet<number> {
  const crossing = gaps.filter(
    ({ fromMs, untilMs }) => columnAt(period, columns, fromMs) < columnAt(period, columns, untilMs),
  );
  return new Set(crossing.map(({ untilMs }) => columnAt(period, columns, untilMs)));
}
