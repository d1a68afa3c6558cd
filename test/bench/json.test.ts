import { expect, test } from '@jest/globals';
import { writeJson } from './json.ts';
import type { Run } from './load.ts';

const run: Run = {
  cpuMicrosPerOrder: 100,
  mainThreadMicrosPerOrder: 90,
  ordersPerSecond: 1000,
  latencies: [{ answeredMs: 1, orderedMs: 2, writtenMs: 3 }],
};

test('everything that was measured is one JSON document, with the goals and those that are missed', () => {
  const rounds = { bare: [run], two_flushes: [run], relay: [{ ...run, cpuMicrosPerOrder: 500 }] };
  const byLoad = new Map([[1, rounds]]);
  const orders = {
    rounds: 1,
    byLoad,
    ccxtAbsence: 'no network',
    asides: new Map([['scheduled run done', 2]]),
  };

  const document = JSON.parse(writeJson({ processors: [], orders }));

  expect(document).toMatchObject({
    node: process.version,
    orders: {
      rounds: 1,
      ccxtAbsence: 'no network',
      asides: { 'scheduled run done': 2 },
      byLoad: {
        1: {
          relay: {
            cpuMicrosPerOrder: { median: 500, low: 500, high: 500 },
            alertToOrderP50Ms: { median: 2, low: 2, high: 2 },
            toReference: { cpuMicrosPerOrder: { median: 5, low: 5, high: 5 } },
          },
        },
      },
    },
    missed: ['CPU per order with 1 in flight, to the bare server', 'alert to order, p50 with 1 in flight'],
  });
  expect(Object.keys(document)).not.toContain('starts');
});
