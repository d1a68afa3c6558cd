import { describe, expect, test } from '@jest/globals';
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

describe('growth', () => {
  const growthOf = (isCommand: boolean, smallMs: number, largeMs: number) => ({
    operation: '`signals`',
    isCommand,
    costs: new Map([
      [10_000, [{ cpuMs: smallMs, tookMs: 1 }]],
      [3_000_000, [{ cpuMs: largeMs, tookMs: 1 }]],
    ]),
  });

  test.each([
    [false, 1, 1.6, true],
    [false, 1, 1.7, false],
    [true, 20, 32, true],
    [true, 20, 34, false],
    // Less than 10 ms of a command counts as 10 ms.
    [true, 1, 9, true],
    [true, -2, 17, false],
  ])(
    'command %p, %d ms with 10 thousand signals and %d ms with 3 million: met is %p',
    (isCommand, small, large, isMet) => {
      const [goal] = judgeGoals({ processors: [], growth: [growthOf(isCommand, small, large)] });

      expect(goal).toMatchObject({ name: '`signals`: with 3 million signals, to 10 thousand', isMet });
    },
  );

  test('of waiting signals is judged, too', () => {
    const waitingOf = (few: number, many: number) => ({
      what: 'in one market',
      cpuMs: new Map([
        [10, [few]],
        [10_000, [many]],
      ]),
    });

    const goals = judgeGoals({ processors: [], waiting: [waitingOf(1, 1.2), waitingOf(1, 1.3)] });

    expect(goals.map(({ isMet }) => isMet)).toEqual([true, false]);
  });
});

test('what was not measured is not judged', () => {
  expect(judgeGoals({ processors: [] })).toEqual([]);
});
