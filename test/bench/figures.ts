import type { CpuInfo } from 'node:os';
import type { BundleFigures } from './bundles.ts';
import type { Run } from './load.ts';
import type { KindFigures, OrderFigures } from './orders.ts';
import type { PartFigures } from './parts.ts';
import type { SigningRates } from './signing.ts';
import { percentileOf, ratioOf, type Spread, spreadOf } from './statistics.ts';

/** The figures of one run of the benchmark. A part that was not asked for is absent. */
export interface BenchFigures {
  readonly processors: readonly CpuInfo[];
  readonly signing?: SigningRates;
  readonly orders?: OrderFigures;
  readonly kinds?: KindFigures;
  /** By orders in flight. */
  readonly parts?: ReadonlyMap<number, PartFigures>;
  readonly starts?: readonly BundleFigures[];
}

/** One figure of a run, with its unit and how many decimal places of it matter. */
export interface Measure {
  readonly name: string;
  readonly unit: string;
  readonly digits: number;
  readonly of: (run: Run) => number;
}

export const cpuPerOrder: Measure = {
  name: 'CPU per order',
  unit: 'µs',
  digits: 0,
  of: ({ cpuMicrosPerOrder }) => cpuMicrosPerOrder,
};
export const ordersPerSecond: Measure = {
  name: 'orders per second',
  unit: '',
  digits: 0,
  of: (run) => run.ordersPerSecond,
};
/** From the post of the alert until the exchange had received the order. */
export const alertToOrderP50 = latency('alert to order, p50', 'orderedMs', 0.5);
export const alertToOrderP99 = latency('alert to order, p99', 'orderedMs', 0.99);
/** From the post of the alert until its outcome was written. */
export const writtenP50 = latency('outcome written, p50', 'writtenMs', 0.5);
export const writtenP99 = latency('outcome written, p99', 'writtenMs', 0.99);

function latency(name: string, end: 'orderedMs' | 'writtenMs', share: number): Measure {
  return {
    name,
    unit: 'ms',
    digits: 2,
    of: ({ latencies }) =>
      percentileOf(
        latencies.map((one) => one[end]),
        share,
      ),
  };
}

export function spreadOfRuns(runs: readonly Run[], measure: Measure): Spread {
  return spreadOf(runs.map(measure.of));
}

/** Round by round. */
export function ratioOfRuns(runs: readonly Run[], references: readonly Run[], measure: Measure): Spread {
  return ratioOf(runs.map(measure.of), references.map(measure.of));
}
