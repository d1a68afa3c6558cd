import { mkdtempSync, rmSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command } from 'commander';
import { locateDataFolder } from '../../lib/host/data-folder.ts';
import { startProcess } from './bench-process.ts';
import { measureBundles, printBundles } from './bundles.ts';
import { createPacer, followBare, followRelay, measureRun, type Run, type Target } from './load.ts';
import { type Share, sumByPart } from './profile.ts';
import { printComparison, printMachine, printShares, printSigning } from './report.ts';
import { measureSigning } from './signing.ts';

new Command('npm run bench')
  .description('Measures signing, the way of an alert against a bare server, and the bundles; takes minutes.')
  .parse();

const rounds = 5;
const signingRoundMs = 300;
/** Orders of one round, by how many are in flight. */
const ordersByLoad = new Map([
  [1, 300],
  [8, 1000],
  [64, 1600],
]);
const startRounds = 15;
/** Enough for the just-in-time compiler to have seen every path. */
const warmUpOrders = 1600;
const profiledOrders = 2000;

const folder = mkdtempSync(join(tmpdir(), 'relay-bench-'));
process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
process.once('SIGINT', () => process.exit(130));

printMachine(cpus(), rounds);
printSigning(await measureSigning(rounds, signingRoundMs));
for (const [load, runs] of await compareServers()) printComparison(load, runs.bare, runs.relay);
for (const load of [1, 64]) printShares(load, await profileRelay(load));
printBundles(await measureBundles(startRounds), startRounds);

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
