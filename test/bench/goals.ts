import { alertToOrderP50, type BenchFigures, cpuPerOrder, ratioOfRuns, spreadOfRuns } from './figures.ts';
import type { OrderFigures } from './orders.ts';
import type { Spread } from './statistics.ts';

/** A goal, and what was measured for it. */
export interface Goal {
  readonly name: string;
  readonly unit: '×' | 'ms' | 'KB';
  readonly atMost: number;
  readonly measured: Spread;
  /** By the median. */
  readonly isMet: boolean;
}

/** CPU time of an order, to that of the bare server, by orders in flight. */
const cpuGoals = new Map([
  [1, 3.8],
  [8, 2.6],
  [64, 2.2],
]);
const alertToOrderMs = 1.1;
const alertToOrderToFloor = 1.2;
/** Two servers are level when they differ by no more than measurements of the same server do. */
const levelWithCcxt = 1.05;
const bundleKb = 260;
const startGoals = new Map([
  ['receive-signal', 2.4],
  ['execute-signal', 2.5],
]);

/** Judges all goals whose figures were measured. */
export function judgeGoals({ orders, starts = [] }: BenchFigures): readonly Goal[] {
  return [
    ...(orders === undefined ? [] : [...judgeCpu(orders), ...judgeLatency(orders), ...judgeCcxt(orders)]),
    ...starts.flatMap(({ name, bytes, startRatio }) => {
      const atMost = startGoals.get(name);
      if (atMost === undefined) return [];
      const kb = bytes / 1000;
      return [
        judge(`start of ${name}, to an empty handler`, '×', atMost, startRatio),
        judge(`bundle of ${name}`, 'KB', bundleKb, { median: kb, low: kb, high: kb }),
      ];
    }),
  ];
}

function judge(name: string, unit: Goal['unit'], atMost: number, measured: Spread): Goal {
  return { name, unit, atMost, measured, isMet: measured.median <= atMost };
}

function judgeCpu({ byLoad }: OrderFigures): readonly Goal[] {
  return [...cpuGoals].flatMap(([load, atMost]) => {
    const rounds = byLoad.get(load);
    if (rounds === undefined) return [];
    const ratio = ratioOfRuns(rounds.relay, rounds.bare, cpuPerOrder);
    return [judge(`CPU per order with ${load} in flight, to the bare server`, '×', atMost, ratio)];
  });
}

function judgeLatency({ byLoad }: OrderFigures): readonly Goal[] {
  const rounds = byLoad.get(1);
  if (rounds === undefined) return [];
  const ratio = ratioOfRuns(rounds.relay, rounds.two_flushes, alertToOrderP50);
  return [
    judge(
      'alert to order, p50 with 1 in flight',
      'ms',
      alertToOrderMs,
      spreadOfRuns(rounds.relay, alertToOrderP50),
    ),
    judge('the same, to the floor with two flushes', '×', alertToOrderToFloor, ratio),
  ];
}

function judgeCcxt({ byLoad }: OrderFigures): readonly Goal[] {
  const { relay = [], ccxt = [] } = byLoad.get(64) ?? {};
  if (ccxt.length === 0) return [];
  const ratio = ratioOfRuns(relay, ccxt, cpuPerOrder);
  return [judge('CPU per order with 64 in flight, to ccxt in a web server', '×', levelWithCcxt, ratio)];
}
