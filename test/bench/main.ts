import { mkdtempSync, rmSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command } from 'commander';
import { locateDataFolder } from '../../lib/host/data-folder.ts';
import { startProcess } from './bench-process.ts';
import { measureBundles, printBundles } from './bundles.ts';
import { documentPath, writeDocument } from './document.ts';
import { createPacer, followBare, followRelay, measureRun, type Run, type Target } from './load.ts';
import { type Share, sumByPart } from './profile.ts';
import { printComparison, printKinds, printMachine, printShares, printSigning } from './report.ts';
import { measureSigning } from './signing.ts';
import type { BenchKind } from './workload.ts';

const { write } = new Command('npm run bench')
  .description('Measures signing, the way of an alert against a bare server, and the bundles; takes minutes.')
  .option('--write', `write the tables of ${documentPath}, too`)
  .parse()
  .opts<{ write?: true }>();

const rounds = 5;
const signingRoundMs = 300;
/** Orders of one round, by how many are in flight. */
const ordersByLoad = new Map([
  [1, 300],
  [8, 1000],
  [64, 1600],
]);
/** Orders of one round that compares two kinds. The order book may be read 600 times in 10 s. */
const ordersOfKind = 250;
const loadsOfKinds = [1, 64];
const startRounds = 15;
/** Enough for the just-in-time compiler to have seen every path. */
const warmUpOrders = 1600;
const profiledOrders = 2000;

const folder = mkdtempSync(join(tmpdir(), 'relay-bench-'));
process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
process.once('SIGINT', () => process.exit(130));

const processors = cpus();
printMachine(processors, rounds);
const signing = await measureSigning(rounds, signingRoundMs);
printSigning(signing);
const servers = await compareServers();
for (const [load, runs] of servers) printComparison(load, runs.bare, runs.relay);
const kinds = await compareKinds();
for (const [load, runs] of kinds) printKinds(load, runs.stop_limit, runs.market);
const shares = new Map<number, readonly Share[]>();
for (const load of [1, 64]) shares.set(load, await profileRelay(load));
for (const [load, parts] of shares) printShares(load, parts);
const bundles = await measureBundles(startRounds);
printBundles(bundles, startRounds);
if (write === true) writeDocument({ processors, rounds, signing, servers, kinds, shares, bundles });

interface Runs {
  readonly bare: Run[];
  readonly relay: Run[];
}

/** Bare server and relay take turns, so that a busy moment of the machine meets both. */
async function compareServers(): Promise<ReadonlyMap<number, Runs>> {
  const exchange = await startProcess('exchange-stub.ts');
  const bare = await openBare(exchange.url);
  const measurePaced = createPacer();
  const relay = await openRelay(exchange.url, 'compared', measurePaced);
  const runsByLoad = new Map(
    Array.from(ordersByLoad.keys(), (load): [number, Runs] => [load, { bare: [], relay: [] }]),
  );
  for (let round = 0; round < rounds; round += 1)
    for (const [load, runs] of runsByLoad) {
      const orders = ordersByLoad.get(load) ?? 0;
      runs.bare.push(await measureRun(bare, orders, load));
      runs.relay.push(await measurePaced(relay, orders, load));
    }
  for (const { process: server } of [relay, bare]) await server.stop();
  await exchange.stop();
  return runsByLoad;
}

/** Two kinds of orders through one relay, in turns. */
async function compareKinds(): Promise<ReadonlyMap<number, Readonly<Record<BenchKind, Run[]>>>> {
  const exchange = await startProcess('exchange-stub.ts');
  const measurePaced = createPacer();
  const relay = await openRelay(exchange.url, 'kinds', measurePaced);
  await measurePaced(relay, ordersOfKind, 8, 'market');
  const runsByLoad = new Map(
    loadsOfKinds.map((load): [number, Record<BenchKind, Run[]>] => [load, { stop_limit: [], market: [] }]),
  );
  for (let round = 0; round < rounds; round += 1)
    for (const [load, runs] of runsByLoad)
      for (const kind of ['stop_limit', 'market'] as const)
        runs[kind].push(await measurePaced(relay, ordersOfKind, load, kind));
  await relay.process.stop();
  await exchange.stop();
  return runsByLoad;
}

async function openBare(exchangeUrl: string): Promise<Target> {
  const bare = followBare(await startProcess('bare-server.ts', [exchangeUrl]));
  await measureRun(bare, warmUpOrders, 8);
  return bare;
}

async function openRelay(exchangeUrl: string, name: string, measure = measureRun): Promise<Target> {
  const path = join(folder, name);
  const server = await startProcess('relay-server.ts', [exchangeUrl, path]);
  const relay = await followRelay(server, locateDataFolder(path).secretsPath);
  await measure(relay, warmUpOrders, 8);
  return relay;
}

/** What an order costs the relay's main thread, by part. */
async function profileRelay(load: number): Promise<readonly Share[]> {
  const exchange = await startProcess('exchange-stub.ts');
  const relay = await openRelay(exchange.url, `profiled-${load}`);
  await relay.process.startProfile();
  await measureRun(relay, profiledOrders, load);
  const shares = sumByPart(await relay.process.takeProfile());
  await relay.process.stop();
  await exchange.stop();
  return shares.map(({ part, micros }) => ({ part, micros: micros / profiledOrders }));
}
