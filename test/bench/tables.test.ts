import { expect, test } from '@jest/globals';
import type { Run } from './load.ts';
import { createTables } from './tables.ts';

const run: Run = {
  cpuMicrosPerOrder: 200,
  mainThreadMicrosPerOrder: 190,
  ordersPerSecond: 2500,
  latencies: [{ answeredMs: 0.3, orderedMs: 0.25, writtenMs: 0.4 }],
};
const rounds = {
  bare: [run],
  two_flushes: [{ ...run, cpuMicrosPerOrder: 500 }],
  three_flushes: [{ ...run, cpuMicrosPerOrder: 600 }],
  relay: [{ ...run, cpuMicrosPerOrder: 760 }],
};
const orders = { rounds: 1, byLoad: new Map([[1, rounds]]), ccxtAbsence: 'no network', asides: new Map() };

test('the relay stands beside its references, and one that could not be installed has no figures', () => {
  const tables = createTables({ processors: [], orders });

  expect(tables.map(({ name }) => name)).toEqual(['orders', 'ratios', 'goals of orders']);
  const [medians, ratios] = tables;
  expect(medians?.rows.slice(0, 3)).toEqual([
    ['1', 'CPU per order', '200 µs', '500 µs', '600 µs', '–', '760 µs'],
    ['', 'orders per second', '2,500', '2,500', '2,500', '–', '2,500'],
    ['', 'alert to order, p50', '0.25 ms', '0.25 ms', '0.25 ms', '–', '0.25 ms'],
  ]);
  expect(ratios?.rows.at(0)).toEqual([
    '1',
    'CPU per order',
    '2.50× (2.50–2.50)',
    '3.00× (3.00–3.00)',
    '–',
    '3.80× (3.80–3.80)',
  ]);
  expect(ratios?.rows.at(-1)).toEqual([
    '',
    'CPU per order beyond 2 flushes',
    '0 µs',
    '100 µs',
    '–',
    '260 µs',
  ]);
});

test('the table of the parts ends with the CPU time of an order', () => {
  const figures = {
    shares: [{ part: 'log', micros: 300 }],
    waitedMicros: 100,
    otherThreadsMicros: 50,
    unprofiledMicros: 240,
  };

  const [table] = createTables({ processors: [], parts: new Map([[64, figures]]) });

  expect(table?.head).toEqual(['part', '64 in flight']);
  expect(table?.rows.at(0)).toEqual(['log', '300 µs']);
  expect(table?.rows.at(-1)).toEqual(['sum: CPU per order', '240 µs']);
});
