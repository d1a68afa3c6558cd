import { alertToOrderP50, type BenchFigures, cpuPerOrder, ratioOfRuns, spreadOfRuns } from './figures.ts';
import { type GrowthFigures, ledgerSizes } from './growth.ts';
import type { OrderFigures } from './orders.ts';
import { ratioOf, type Spread } from './statistics.ts';
import { fewWaiting, manyWaiting, type WaitingFigures } from './waiting.ts';

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
const startGoals = new Map([
  ['receive-signal', { ratio: 2.3, bundleKb: 270 }],
  ['execute-signal', { ratio: 2.5, bundleKb: 380 }],
]);

const [smallestLedger, , largestLedger] = ledgerSizes;
/** As fast as the logarithm of the number of signals grows, and no faster: 1.62. */
const growthLimit = Math.log(largestLedger) / Math.log(smallestLedger);
/** CPU times of less count as this much: less is lost in how much the start of a process varies. */
const leastCommandMs = 10;
/** Signals that wait should cost the same, however many there are; measurements of the same differ by less. */
const waitingLimit = 1.25;

/** Judges all goals whose figures were measured. */
export function judgeGoals({
  orders,
  starts = [],
  growth = [],
  waiting = [],
}: BenchFigures): readonly Goal[] {
  return [
    ...(orders === undefined ? [] : [...judgeCpu(orders), ...judgeLatency(orders), ...judgeCcxt(orders)]),
    ...growth.map(judgeGrowth),
    ...waiting.map(judgeWaiting),
    ...starts.flatMap(({ name, bytes, startRatio }) => {
      const goals = startGoals.get(name);
      if (goals === undefined) return [];
      const kb = bytes / 1000;
      return [
        judge(`start of ${name}, to an empty handler`, '×', goals.ratio, startRatio),
        judge(`bundle of ${name}`, 'KB', goals.bundleKb, { median: kb, low: kb, high: kb }),
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

/** By CPU time: a query that reads more rows costs more of it, and other programs disturb it less than the time. */
function judgeGrowth({ operation, isCommand, costs }: GrowthFigures): Goal {
  const valuesOf = (size: number) =>
    (costs.get(size) ?? []).map(({ cpuMs }) => (isCommand ? Math.max(cpuMs, leastCommandMs) : cpuMs));
  const ratio = ratioOf(valuesOf(largestLedger), valuesOf(smallestLedger));
  return judge(`${operation}: with 3 million signals, to 10 thousand`, '×', growthLimit, ratio);
}

function judgeWaiting({ what, cpuMs }: WaitingFigures): Goal {
  const ratio = ratioOf(cpuMs.get(manyWaiting) ?? [], cpuMs.get(fewWaiting) ?? []);
  return judge(`a signal of 10,000 that wait ${what}, to one of 10`, '×', waitingLimit, ratio);
}
