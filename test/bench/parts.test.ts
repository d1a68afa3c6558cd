import { expect, test } from '@jest/globals';
import { addUp, listTotals } from './parts.ts';

test('the parts of an order add up to its CPU time, and every step between them is named', () => {
  const shares = [
    { part: 'commits', micros: 700 },
    { part: 'log', micros: 300 },
  ];
  const profiled = { cpuMicrosPerOrder: 650, mainThreadMicrosPerOrder: 500 };

  expect(listTotals(addUp(shares, profiled, 600))).toEqual([
    ['sum: the main thread is busy', 1000],
    ['without CPU: waiting for the disk, or for a core', -500],
    ['other threads: garbage collection, compiler, network, profiler', 150],
    ['sum: CPU per order, profiled', 650],
    ['what profiling costs', -50],
    ['sum: CPU per order', 600],
  ]);
});
