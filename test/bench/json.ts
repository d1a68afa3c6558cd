import {
  alertToOrderP50,
  alertToOrderP99,
  type BenchFigures,
  cpuPerOrder,
  type Measure,
  ordersPerSecond,
  ratioOfRuns,
  spreadOfRuns,
  writtenP50,
  writtenP99,
} from './figures.ts';
import { judgeGoals } from './goals.ts';
import type { Run } from './load.ts';
import { listTotals } from './parts.ts';

/** Names with their units, for programs. */
const measures: Readonly<Record<string, Measure>> = {
  cpuMicrosPerOrder: cpuPerOrder,
  ordersPerSecond,
  alertToOrderP50Ms: alertToOrderP50,
  alertToOrderP99Ms: alertToOrderP99,
  writtenP50Ms: writtenP50,
  writtenP99Ms: writtenP99,
};

/**
 * Everything that was measured, as one JSON document. Each figure is `{median, low, high}`, as `Spread` says; keys of
 * `orders`, `kinds` and `parts` are orders in flight. A part that was not measured is absent.
 */
export function writeJson(figures: BenchFigures): string {
  const { processors, signing, orders, kinds, parts, starts } = figures;
  const goals = judgeGoals(figures);
  const document = {
    node: process.version,
    processors: processors.map(({ model }) => model.trim()),
    signingsPerSecond: signing,
    orders: orders && {
      rounds: orders.rounds,
      ccxtAbsence: orders.ccxtAbsence,
      asides: Object.fromEntries(orders.asides),
      byLoad: mapLoads(orders.byLoad, (rounds) =>
        mapValues(rounds, (runs) => summarise(runs ?? [], rounds.bare)),
      ),
    },
    kinds:
      kinds && mapLoads(kinds, (rounds) => mapValues(rounds, (runs) => summarise(runs, rounds.stop_limit))),
    parts:
      parts &&
      mapLoads(parts, (figure) => ({
        microsPerOrder: Object.fromEntries(figure.shares.map(({ part, micros }) => [part, micros])),
        totals: Object.fromEntries(listTotals(figure)),
      })),
    starts,
    goals,
    missed: goals.filter(({ isMet }) => !isMet).map(({ name }) => name),
  };
  return `${JSON.stringify(document, null, 2)}\n`;
}

/** @returns null when there are no runs */
function summarise(runs: readonly Run[], references: readonly Run[]) {
  if (runs.length === 0) return null;
  return {
    ...mapValues(measures, (measure) => spreadOfRuns(runs, measure)),
    toReference: mapValues(measures, (measure) => ratioOfRuns(runs, references, measure)),
  };
}

function mapValues<T, R>(values: Readonly<Record<string, T>>, map: (value: T) => R): Record<string, R> {
  return Object.fromEntries(Object.entries(values).map(([key, value]) => [key, map(value)]));
}

function mapLoads<T, R>(byLoad: ReadonlyMap<number, T>, map: (value: T) => R): Record<string, R> {
  return Object.fromEntries(Array.from(byLoad, ([load, value]) => [String(load), map(value)]));
}
