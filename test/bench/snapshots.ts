import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { locateDataFolder } from '../../lib/host/data-folder.ts';
import { type Amounts, fillSnapshots } from './fill-snapshots.ts';
import { formatNumber, spreadOf } from './statistics.ts';

const rounds = 5;
/** 2025-01-01. */
const endMs = 1_735_689_600_000;
const oneYear: Amounts = { endMs, snapshots: 365 * 24, payments: 40_000, seed: 1 };
const fiveYears: Amounts = { endMs, snapshots: 1826 * 24, payments: 200_000, seed: 1 };

const folder = mkdtempSync(join(tmpdir(), 'relay-snapshots-'));
process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
process.once('SIGINT', () => process.exit(130));

const month = ['--from', '2024-12-01', '--to', '2024-12-31'];
const wholeTime = ['--from', '2020-01-02', '--to', '2024-12-31'];
const csvPath = join(folder, 'everything.csv');
const svgPath = join(folder, 'everything.svg');

const small = await fill('one-year', oneYear);
const large = await fill('five-years', fiveYears);
process.stdout.write(
  `Node ${process.version}, ${cpus().length} cores; medians of ${rounds} rounds, each command a process of its own\n` +
    `1 year: ${describe(oneYear)}, ${sizeOf(small)}; 5 years: ${describe(fiveYears)}, ${sizeOf(large)}\n\n` +
    '| command | store | time | memory at most |\n| --- | --- | --- | --- |\n',
);
await measure('nothing but starting: `--help`', '', ['--help']);
for (const [store, path] of [
  ['1 year', small],
  ['5 years', large],
] as const) {
  await measure('`balances`, a month by days, 31 rows', store, ['balances', ...month, '--data', path]);
  const hourly = ['balances', ...month, '--every', '1h', '--format', 'csv', '--data', path];
  await measure('`balances --every 1h`, a month, 744 rows', store, hourly);
  await measure('`interest`, a month', store, ['interest', ...month, '--data', path]);
}
const chart = ['balances', 'chart', ...wholeTime, '--out', svgPath];
await measure('`balances chart` of everything', '1 year', [...chart, '--data', small]);
await measure('`balances chart` of everything', '5 years', [...chart, '--data', large]);
for (const what of ['balances', 'interest']) {
  const exported = ['export', what, '--out', csvPath];
  await measure(`\`export ${what}\`, CSV`, '1 year', [...exported, '--data', small]);
  await measure(`\`export ${what}\`, CSV`, '5 years', [...exported, '--data', large]);
}

async function fill(name: string, amounts: Amounts): Promise<string> {
  const path = join(folder, name);
  await fillSnapshots(path, amounts);
  return path;
}

function describe({ snapshots, payments }: Amounts): string {
  return `${formatNumber(snapshots, 0)} snapshots of 40 tickers and ${formatNumber(payments, 0)} payments`;
}

function sizeOf(path: string): string {
  return `${Math.round(statSync(locateDataFolder(path).databasePath).size / 1e6)} MB`;
}

interface Run {
  readonly tookMs: number;
  readonly memoryMb: number;
}

async function measure(what: string, store: string, args: readonly string[]): Promise<void> {
  const runs: Run[] = [];
  for (let round = 0; round < rounds; round += 1) runs.push(await run(args));
  const took = spreadOf(runs.map(({ tookMs }) => tookMs)).median;
  const memory = spreadOf(runs.map(({ memoryMb }) => memoryMb)).median;
  process.stdout.write(
    `| ${what} | ${store} | ${formatNumber(took / 1000, 2)} s | ${formatNumber(memory, 0)} MB |\n`,
  );
}

/** @throws Error when the command fails: what it did not do is not worth measuring */
async function run(args: readonly string[]): Promise<Run> {
  const preload = new URL('report-usage.ts', import.meta.url).href;
  const main = fileURLToPath(new URL('../../cli/main.ts', import.meta.url));
  const startedAtMs = performance.now();
  const child = spawn(process.execPath, ['--import', preload, main, ...args], {
    stdio: ['ignore', 'ignore', 'inherit', 'pipe'],
  });
  const [kilobytes, [exitCode]] = await Promise.all([text(child.stdio[3] as Readable), once(child, 'close')]);
  const tookMs = performance.now() - startedAtMs;
  if (exitCode !== 0) throw new Error(`relay ${args.join(' ')} ended with ${exitCode}`);
  return { tookMs, memoryMb: Number(kilobytes) / 1024 };
}
