import { join } from 'node:path';
import { startProcess } from './bench-process.ts';
import { createRuns } from './load.ts';
import { openRelay } from './orders.ts';
import { type Share, sumByPart } from './profile.ts';

/** Where the time of an order goes, in microseconds per order. */
export interface PartFigures {
  /** What the main thread does, by a sampling profile. It is real time: waiting for the disk counts. */
  readonly shares: readonly Share[];
  /** What the main thread did without CPU: it waited for the disk, or for a core. */
  readonly waitedMicros: number;
  /** CPU time of all other threads: garbage collection, compiler, network, and the profiler's. */
  readonly otherThreadsMicros: number;
  /** CPU time that the same relay took without a profiler, just before and just after. */
  readonly unprofiledMicros: number;
}

const loads = [1, 64];
const orders = 2000;

/** Profiles a relay with each number of orders in flight. */
export async function measureParts(folder: string): Promise<ReadonlyMap<number, PartFigures>> {
  const figures = new Map<number, PartFigures>();
  for (const inFlight of loads) figures.set(inFlight, await profileRelay(folder, inFlight));
  return figures;
}

async function profileRelay(folder: string, inFlight: number): Promise<PartFigures> {
  const exchange = await startProcess('exchange-stub.ts');
  const measureRun = createRuns(exchange);
  const relay = await openRelay(exchange, join(folder, `profiled-${inFlight}`));
  await measureRun(relay, { orders, inFlight: 8 });
  const before = await measureRun(relay, { orders, inFlight });
  await relay.process.ask('start-profile');
  const profiled = await measureRun(relay, { orders, inFlight });
  const profile = await relay.process.ask('take-profile');
  const after = await measureRun(relay, { orders, inFlight });
  await relay.process.stop();
  await exchange.stop();
  const shares = sumByPart(profile).map(({ part, micros }) => ({ part, micros: micros / orders }));
  return addUp(shares, profiled, (before.cpuMicrosPerOrder + after.cpuMicrosPerOrder) / 2);
}

interface Cpu {
  readonly cpuMicrosPerOrder: number;
  readonly mainThreadMicrosPerOrder: number;
}

/** Relates the parts, which are real time of one thread, to the CPU time of the whole process. */
export function addUp(shares: readonly Share[], profiled: Cpu, unprofiledMicros: number): PartFigures {
  const { cpuMicrosPerOrder, mainThreadMicrosPerOrder } = profiled;
  return {
    shares,
    waitedMicros: sumOf(shares) - mainThreadMicrosPerOrder,
    otherThreadsMicros: cpuMicrosPerOrder - mainThreadMicrosPerOrder,
    unprofiledMicros,
  };
}

/** One row of the account from the parts to the CPU time of an order, in microseconds. */
export type PartRow = readonly [what: string, micros: number];

/** The sum of the parts, and what leads from it to the CPU time of an order. Each sum is that of the rows above it. */
export function listTotals(figures: PartFigures): readonly PartRow[] {
  const { shares, waitedMicros, otherThreadsMicros, unprofiledMicros } = figures;
  const busyMicros = sumOf(shares);
  const profiledMicros = busyMicros - waitedMicros + otherThreadsMicros;
  return [
    ['sum: the main thread is busy', busyMicros],
    ['without CPU: waiting for the disk, or for a core', -waitedMicros],
    ['other threads: garbage collection, compiler, network, profiler', otherThreadsMicros],
    ['sum: CPU per order, profiled', profiledMicros],
    ['what profiling costs', unprofiledMicros - profiledMicros],
    ['sum: CPU per order', unprofiledMicros],
  ];
}

function sumOf(shares: readonly Share[]): number {
  return shares.reduce((sum, { micros }) => sum + micros, 0);
}
