import { mkdtempSync, rmSync } from 'node:fs';
import { availableParallelism, cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { locateDataFolder } from '../../lib/host/data-folder.ts';
import { startProcess } from './bench-process.ts';
import { followBare, followRelay, measureRun, type Run, type Target } from './load.ts';
import { sumByPart } from './profile.ts';
import { measureSigning, type SigningRates } from './signing.ts';
import { formatNumber, formatRatio, formatSpread, percentileOf, type Spread, spreadOf } from './statistics.ts';

const rounds = 5;
/** Orders of one round, by how many are in flight. */
const ordersByLoad = new Map([
  [1, 300],
  [8, 1000],
  [64, 1600],
]);
const warmUpOrders = 800;
const profiledOrders = 2000;

const folder = mkdtempSync(join(tmpdir(), 'relay-bench-'));
try {
  printMachine();
  printSigning(await measureSigning(rounds, 300));
  if (!process.env["ONLYPROF"]) await compareServers();
  for (const load of [1, 64]) await profileRelay(load);
} finally {
  rmSync(folder, { recursive: true });
}

function print(...lines: readonly string[]): void {
  process.stdout.write(`${lines.join('\n')}\n`);
}

function printMachine(): void {
  print(
    `Node ${process.version}, ${process.platform} ${process.arch}, ${availableParallelism()} × ${cpus()[0]?.model ?? 'CPU'}`,
    `Medians of ${rounds} rounds (least–most).`,
    '',
  );
}

function printSigning({ bare, signed, sent }: SigningRates): void {
  const row = (what: string, rate: Spread) =>
    `  ${what.padEnd(56)}${formatSpread(rate).padStart(26)}${formatRatio(bare.median / rate.median, 1).padStart(10)}`;
  print(
    'Signing, per second'.padEnd(84) + 'time'.padStart(10),
    row('node:crypto alone: HMAC-SHA512 and base64', bare),
    row('nonce, JSON and signature', signed),
    row('the whole client but the wire, answer read', sent),
    '',
  );
}

async function compareServers(): Promise<void> {
  const exchange = await startProcess('exchange-stub.ts');
  const bare = await openBare(exchange.url);
  const relay = await openRelay(exchange.url, 'compared');
  const runs = new Map([...ordersByLoad.keys()].map((load) => [load, { bare: [] as Run[], relay: [] as Run[] }]));
  for (let round = 0; round < rounds; round += 1)
    for (const [load, orders] of ordersByLoad) {
      runs.get(load)?.bare.push(await measureRun(bare, orders, load));
      runs.get(load)?.relay.push(await measureRun(relay, orders, load));
    }
  await relay.stop();
  await bare.stop();
  await exchange.stop();
  for (const [load, { bare: bareRuns, relay: relayRuns }] of runs) printComparison(load, bareRuns, relayRuns);
}

async function openBare(exchangeUrl: string): Promise<Target> {
  const bare = followBare(await startProcess('bare-server.ts', [exchangeUrl]));
  await measureRun(bare, warmUpOrders, 8);
  return bare;
}

async function openRelay(exchangeUrl: string, name: string): Promise<Target> {
  const path = join(folder, name);
  const process = await startProcess('relay-server.ts', [exchangeUrl, path]);
  const relay = await followRelay(process, locateDataFolder(path).secretsPath);
  await measureRun(relay, warmUpOrders, 8);
  return relay;
}

function printComparison(load: number, bare: readonly Run[], relay: readonly Run[]): void {
  const row = (what: string, of: (run: Run) => number, digits: number) => {
    const [bareSpread, relaySpread] = [spreadOf(bare.map(of)), spreadOf(relay.map(of))];
    const ratio = formatRatio(relaySpread.median, bareSpread.median);
    return `  ${what.padEnd(32)}${formatSpread(bareSpread, digits).padStart(26)}${formatSpread(relaySpread, digits).padStart(26)}${ratio.padStart(10)}`;
  };
  const latency = (of: 'answeredMs' | 'placedMs', share: number) => (run: Run) =>
    percentileOf(run.passages.map((passage) => passage[of]), share);
  print(
    `${load} in flight`.padEnd(34) + 'bare'.padStart(26) + 'relay'.padStart(26) + 'ratio'.padStart(10),
    row('CPU per order, µs', (run) => run.cpuMicrosPerOrder, 0),
    row('orders per second', (run) => run.ordersPerSecond, 0),
    row('POST to answer p50, ms', latency('answeredMs', 0.5), 2),
    row('POST to answer p99, ms', latency('answeredMs', 0.99), 2),
    row('POST to placed p50, ms', latency('placedMs', 0.5), 2),
    row('POST to placed p99, ms', latency('placedMs', 0.99), 2),
    '',
  );
}

async function profileRelay(load: number): Promise<void> {
  const exchange = await startProcess('exchange-stub.ts');
  const relay = await openRelay(exchange.url, `profiled-${load}`);
  const orders = profiledOrders;
  await relay.process.startProfile();
  const run = await measureRun(relay, orders, load);
  const prof = await relay.process.takeProfile(); (await import('node:fs')).writeFileSync('/tmp/prof-'+load+'.json', JSON.stringify(prof)); const shares = sumByPart(prof); print('cpu '+run.cpuMicrosPerOrder);
  await relay.stop();
  await exchange.stop();
  print(`The relay's main thread with ${load} in flight, µs per order (waiting for the disk included)`);
  for (const { part, micros } of shares)
    print(`  ${part.padEnd(56)}${formatNumber(micros / orders, 1).padStart(10)}`);
  print('');
}
