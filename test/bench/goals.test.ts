import { expect, test } from '@jest/globals';
import { judgeGoals } from './goals.ts';
import type { Run } from './load.ts';

function runOf(cpuMicrosPerOrder: number, orderedMs: number): Run {
  return {
    cpuMicrosPerOrder,
    mainThreadMicrosPerOrder: cpuMicrosPerOrder,
    ordersPerSecond: 1,
    latencies: [{ answeredMs: orderedMs, orderedMs, writtenMs: orderedMs }],
  };
}

const rounds = {
  bare: [runOf(100, 0.5), runOf(200, 0.5)],
  two_flushes: [runOf(200, 1), runOf(400, 1)],
  relay: [runOf(380, 1.1), runOf(800, 1.3)],
};

const orders = { rounds: 2, byLoad: new Map([[1, rounds]]), ccxtAbsence: 'no network', asides: new Map() };

test('goals are judged by the median, round by round against the reference', () => {
  expect(judgeGoals({ processors: [], orders })).toEqual([
    {
      name: 'CPU per order with 1 in flight, to the bare server',
      unit: '×',
      atMost: 3.8,
      measured: { median: 3.8, low: 3.8, high: 4 },
      isMet: true,
    },
    {
      name: 'alert to order, p50 with 1 in flight',
      unit: 'ms',
      atMost: 1.1,
      measured: { median: 1.1, low: 1.1, high: 1.3 },
      isMet: true,
    },
    {
      name: 'the same, to the floor with two flushes',
      unit: '×',
      atMost: 1.2,
      measured: { median: 1.1, low: 1.1, high: 1.3 },
      isMet: true,
    },
  ]);
});

test('a missed goal is told, and ccxt is compared when it was there', () => {
  const at64 = { ...rounds, ccxt: [runOf(300, 1), runOf(600, 1)] };
  const goals = judgeGoals({ processors: [], orders: { ...orders, byLoad: new Map([[64, at64]]) } });

  expect(goals.map(({ name, isMet }) => [name, isMet])).toEqual([
    ['CPU per order with 64 in flight, to the bare server', false],
    ['CPU per order with 64 in flight, to ccxt in a web server', false],
  ]);
});

test('what was not measured is not judged', () => {
  expect(judgeGoals({ processors: [] })).toEqual([]);
});
