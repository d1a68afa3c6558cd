import { bundleBudgets } from '../support/bundle-budgets.ts';
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
import { type Goal, judgeGoals } from './goals.ts';
import { tabulateGrowth, tabulateWaiting } from './growth-tables.ts';
import type { Run } from './load.ts';
import { type OrderFigures, type Rounds, type Server, servers } from './orders.ts';
import { listTotals } from './parts.ts';
import { formatNumber, formatRatio, formatRatios } from './statistics.ts';
import type { Table } from './table.ts';

/** The tables of everything that was measured. */
export function createTables(figures: BenchFigures): readonly Table[] {
  const { signing, orders, kinds, parts, starts, growth, waiting } = figures;
  return [
    ...(signing === undefined ? [] : [tabulateSigning(signing)]),
    ...(orders === undefined ? [] : [tabulateOrders(orders), tabulateRatios(orders)]),
    ...(kinds === undefined ? [] : [tabulateKinds(kinds)]),
    ...(parts === undefined ? [] : [tabulateParts(parts)]),
    ...(starts === undefined ? [] : [tabulateStarts(starts)]),
    ...(growth === undefined ? [] : [tabulateGrowth(growth)]),
    ...(waiting === undefined ? [] : [tabulateWaiting(waiting)]),
    ...tabulateGoals(figures),
  ];
}

function formatMeasured(value: number, { unit, digits }: Pick<Measure, 'unit' | 'digits'>): string {
  return `${formatNumber(value, digits)}${unit === '' ? '' : ` ${unit}`}`;
}

function tabulateSigning({ bare, signed, sent }: NonNullable<BenchFigures['signing']>): Table {
  const rows = [
    ['bare HMAC-SHA512 and base64', bare],
    ['nonce, JSON and signature', signed],
    ['the whole client but the wire', sent],
  ] as const;
  return {
    name: 'signing',
    title: 'Signing',
    head: ['what', 'per second', 'time, to bare'],
    rows: rows.map(([what, rate]) => [
      what,
      formatNumber(rate.median, 0),
      formatRatio(bare.median / rate.median),
    ]),
  };
}

const serverNames: Readonly<Record<Server, string>> = {
  bare: 'bare server',
  two_flushes: 'floor, 2 flushes',
  three_flushes: 'floor, 3 flushes',
  ccxt: 'ccxt',
  relay: 'relay',
};

const orderMeasures = [
  cpuPerOrder,
  ordersPerSecond,
  alertToOrderP50,
  alertToOrderP99,
  writtenP50,
  writtenP99,
];

/** The rows of each load begin with the load, which is written once. */
function rowsByLoad<T>(
  byLoad: ReadonlyMap<number, T>,
  rowsOf: (figures: T) => readonly (readonly string[])[],
): readonly (readonly string[])[] {
  return [...byLoad].flatMap(([load, figures]) =>
    rowsOf(figures).map((row, index) => [index === 0 ? String(load) : '', ...row]),
  );
}

function tabulateOrders({ byLoad }: OrderFigures): Table {
  return {
    name: 'orders',
    title: 'Orders',
    head: ['in flight', 'median', ...servers.map((server) => serverNames[server])],
    rows: rowsByLoad(byLoad, (rounds) =>
      orderMeasures.map((measure) => [
        measure.name,
        ...servers.map((server) => describeMedian(rounds[server] ?? [], measure)),
      ]),
    ),
  };
}

function describeMedian(runs: readonly Run[], measure: Measure): string {
  return runs.length === 0 ? '–' : formatMeasured(spreadOfRuns(runs, measure).median, measure);
}

const ratioMeasures = [cpuPerOrder, alertToOrderP50, writtenP50];
const compared = servers.filter((server) => server !== 'bare');

function tabulateRatios({ byLoad }: OrderFigures): Table {
  return {
    name: 'ratios',
    title: 'The same, to the bare server: the median of the rounds, and its bounds with a confidence of 95 %',
    head: ['in flight', 'to the bare server', ...compared.map((server) => serverNames[server])],
    rows: rowsByLoad(byLoad, (rounds) => [
      ...ratioMeasures.map((measure) => [
        measure.name,
        ...compared.map((server) => {
          const runs = rounds[server] ?? [];
          return runs.length === 0 ? '–' : formatRatios(ratioOfRuns(runs, rounds.bare, measure));
        }),
      ]),
      ['CPU per order beyond 2 flushes', ...compared.map((server) => describeBeyond(rounds, server))],
    ]),
  };
}

/** What the server takes beyond the floor with two flushes: what is left to save. */
function describeBeyond(rounds: Rounds, server: Server): string {
  const runs = rounds[server] ?? [];
  if (runs.length === 0) return '–';
  const medianOf = (some: readonly Run[]) => spreadOfRuns(some, cpuPerOrder).median;
  return formatMeasured(medianOf(runs) - medianOf(rounds.two_flushes), cpuPerOrder);
}

function tabulateKinds(kinds: NonNullable<BenchFigures['kinds']>): Table {
  const measures = [cpuPerOrder, writtenP50, writtenP99];
  return {
    name: 'kinds',
    title: 'Kinds of orders, the relay alone',
    head: ['in flight', 'median', 'stop-limit', 'guarded market', 'market to stop-limit'],
    rows: rowsByLoad(kinds, ({ stop_limit, market }) =>
      measures.map((measure) => [
        measure.name,
        formatMeasured(spreadOfRuns(stop_limit, measure).median, measure),
        formatMeasured(spreadOfRuns(market, measure).median, measure),
        formatRatios(ratioOfRuns(market, stop_limit, measure)),
      ]),
    ),
  };
}

function tabulateParts(figures: NonNullable<BenchFigures['parts']>): Table {
  const columns = [...figures.values()].map((one) => ({
    shares: new Map(one.shares.map(({ part, micros }) => [part, micros])),
    totals: new Map(listTotals(one)),
  }));
  const rowsOf = (key: 'shares' | 'totals') => {
    const names = new Set(columns.flatMap((column) => [...column[key].keys()]));
    return [...names].map((name) => [
      name,
      ...columns.map((column) => `${formatNumber(column[key].get(name) ?? 0, 0)} µs`),
    ]);
  };
  return {
    name: 'parts',
    title: 'Where the time of an order goes in the relay, by a sampling profile',
    head: ['part', ...[...figures.keys()].map((load) => `${load} in flight`)],
    rows: [...rowsOf('shares'), ...rowsOf('totals')],
  };
}

function tabulateStarts(starts: NonNullable<BenchFigures['starts']>): Table {
  return {
    name: 'starts',
    title: 'Bundles, and starts of a fresh process, to an empty handler',
    head: ['function', 'bundle', 'budget', 'start, to an empty handler', 'its CPU time, to an empty handler'],
    rows: starts.map(({ name, bytes, startRatio, cpuRatio }) => [
      name,
      `${formatNumber(bytes / 1000, 0)} KB`,
      `${formatNumber(bundleBudgets[name] / 1000, 0)} KB`,
      formatRatios(startRatio),
      formatRatios(cpuRatio),
    ]),
  };
}

const judgedParts = ['orders', 'starts', 'growth', 'waiting'] as const;

/** One table for each part that was measured, so that another run of one part leaves the goals of the others alone. */
function tabulateGoals({ processors, ...figures }: BenchFigures): readonly Table[] {
  return judgedParts.flatMap((part) => {
    const goals = judgeGoals({ processors, [part]: figures[part] });
    return goals.length === 0 ? [] : [tabulateGoalsOf(part, goals)];
  });
}

function tabulateGoalsOf(part: string, goals: readonly Goal[]): Table {
  return {
    name: `goals of ${part}`,
    title: `Goals: ${part}`,
    head: ['goal', 'at most', 'measured', 'verdict'],
    rows: goals.map(({ name, unit, atMost, measured, isMet }) => {
      const digits = unit === 'KB' ? 0 : 2;
      const written = (value: number) =>
        unit === '×' ? formatRatio(value) : `${formatNumber(value, digits)} ${unit}`;
      const { median, low, high } = measured;
      const spread = low === high ? '' : ` (${formatNumber(low, digits)}–${formatNumber(high, digits)})`;
      return [name, written(atMost), `${written(median)}${spread}`, isMet ? 'met' : 'missed'];
    }),
  };
}
