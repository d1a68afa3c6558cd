import { join } from 'node:path';
import { locateDataFolder } from '../../lib/host/data-folder.ts';
import { installCcxt } from '../clients/ccxt.ts';
import { type BenchProcess, startProcess } from './bench-process.ts';
import {
  createRuns,
  followReference,
  followRelay,
  type MeasureRun,
  pace,
  type RelayTarget,
  type Run,
  type Target,
} from './load.ts';
import type { BenchKind } from './workload.ts';

/**
 * The servers that are compared: the relay, and its references.
 *
 * @see DECISIONS 32
 */
export const servers = ['bare', 'two_flushes', 'three_flushes', 'ccxt', 'relay'] as const;
export type Server = (typeof servers)[number];

/** The runs of one server, round by round. */
export type Rounds = Readonly<Partial<Record<Server, readonly Run[]>>> & {
  readonly bare: readonly Run[];
  readonly two_flushes: readonly Run[];
  readonly relay: readonly Run[];
};

export interface OrderFigures {
  readonly rounds: number;
  /** By orders in flight. */
  readonly byLoad: ReadonlyMap<number, Rounds>;
  /** Why ccxt was not measured; null when it was. */
  readonly ccxtAbsence: string | null;
  /** How often the relay's log said something that concerns no order, by what it said. */
  readonly asides: ReadonlyMap<string, number>;
}

/** Many short rounds: the more there are, the closer the bounds of the medians. */
const rounds = 21;
/** Orders of one round, by how many are in flight. */
const ordersByLoad = new Map([
  [1, 150],
  [8, 500],
  [64, 1000],
]);
/** Enough for the just-in-time compiler to have seen every path. */
const warmUpOrders = 3000;

/** In every round each server has its turn, so that a busy moment of the machine meets all alike. */
export async function compareServers(folder: string): Promise<OrderFigures> {
  const exchange = await startProcess('exchange-stub.ts');
  const measureRun = createRuns(exchange);
  const measurePaced = pace(measureRun);
  const { ccxt, absence } = await openCcxt(exchange);
  const relay = await openRelay(exchange, join(folder, 'compared'));
  const targets = new Map<Server, Target>([
    ['bare', followReference(await startProcess('bare-server.ts', [exchange.url]))],
    ['two_flushes', await openFloor(exchange, folder, '2')],
    ['three_flushes', await openFloor(exchange, folder, '3')],
    ...(ccxt === null ? [] : [['ccxt', ccxt] as const]),
    ['relay', relay],
  ]);
  const measureOf = (server: Server): MeasureRun => (server === 'relay' ? measurePaced : measureRun);
  for (const [server, target] of targets)
    await measureOf(server)(target, { orders: warmUpOrders, inFlight: 8 });
  const byLoad = new Map<number, Record<Server, Run[]>>();
  for (let round = 0; round < rounds; round += 1)
    for (const [inFlight, orders] of ordersByLoad) {
      const runs = byLoad.get(inFlight) ?? createRounds();
      byLoad.set(inFlight, runs);
      // Another one begins in each round: nobody always follows the same.
      for (const server of rotate([...targets.keys()], round))
        runs[server].push(await measureOf(server)(targets.get(server) as Target, { orders, inFlight }));
    }
  for (const { process } of targets.values()) await process.stop();
  await exchange.stop();
  return { rounds, byLoad, ccxtAbsence: absence, asides: relay.log.asides };
}

function createRounds(): Record<Server, Run[]> {
  return { bare: [], two_flushes: [], three_flushes: [], ccxt: [], relay: [] };
}

function rotate<T>(values: readonly T[], by: number): readonly T[] {
  const start = by % values.length;
  return [...values.slice(start), ...values.slice(0, start)];
}

async function openFloor(exchange: BenchProcess, folder: string, flushes: '2' | '3'): Promise<Target> {
  const databasePath = join(folder, `floor-${flushes}.db`);
  return followReference(await startProcess('floor-server.ts', [exchange.url, databasePath, flushes]));
}

/** The library comes from the user's cache folder, or from the package registry. The benchmark does not need it. */
async function openCcxt(
  exchange: BenchProcess,
): Promise<{ readonly ccxt: Target | null; readonly absence: string | null }> {
  try {
    await installCcxt();
    const ccxt = followReference(await startProcess('ccxt-server.ts', [exchange.url]));
    return { ccxt, absence: null };
  } catch (error) {
    return { ccxt: null, absence: error instanceof Error ? error.message : String(error) };
  }
}

/** A relay on a folder of its own. */
export async function openRelay(exchange: BenchProcess, path: string): Promise<RelayTarget> {
  const server = await startProcess('relay-server.ts', [exchange.url, path]);
  return await followRelay(server, locateDataFolder(path).secretsPath);
}

/** The runs of each kind of order, by orders in flight. */
export type KindFigures = ReadonlyMap<number, Readonly<Record<BenchKind, readonly Run[]>>>;

const kindRounds = 9;
/** Orders of one round that compares two kinds. The order book may be read 600 times in 10 s. */
const ordersOfKind = 120;
const loadsOfKinds = [1, 64];

/** Two kinds of orders through one relay, in turns. */
export async function compareKinds(folder: string): Promise<KindFigures> {
  const exchange = await startProcess('exchange-stub.ts');
  const measurePaced = pace(createRuns(exchange));
  const relay = await openRelay(exchange, join(folder, 'kinds'));
  await measurePaced(relay, { orders: warmUpOrders, inFlight: 8 });
  await measurePaced(relay, { orders: ordersOfKind, inFlight: 8, kind: 'market' });
  const runsByLoad = new Map(
    loadsOfKinds.map((load): [number, Record<BenchKind, Run[]>] => [load, { stop_limit: [], market: [] }]),
  );
  for (let round = 0; round < kindRounds; round += 1)
    for (const [inFlight, runs] of runsByLoad)
      for (const kind of ['stop_limit', 'market'] as const)
        runs[kind].push(await measurePaced(relay, { orders: ordersOfKind, inFlight, kind }));
  await relay.process.stop();
  await exchange.stop();
  return runsByLoad;
}
