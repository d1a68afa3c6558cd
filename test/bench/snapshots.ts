import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command } from 'commander';
import { locateDataFolder } from '../../lib/host/data-folder.ts';
import { type Amounts, fillSnapshots } from './fill-snapshots.ts';
import { type CommandRun, runCommand } from './run-command.ts';
import { formatNumber, spreadOf } from './statistics.ts';

new Command('npm run bench:snapshots')
  .description('Measures what balances and interest of one and of five years cost; takes minutes.')
  .parse();

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
/** Written to files, so that nobody has to read along. */
const everything: readonly (readonly [what: string, args: readonly string[]])[] = [
  ['`balances chart` of everything', ['balances', 'chart', ...wholeTime, '--out', join(folder, 'all.svg')]],
  ['`export balances`', ['export', 'balances', '--out', join(folder, 'balances.csv')]],
  ['`export interest`', ['export', 'interest', '--out', join(folder, 'interest.csv')]],
];
/** What is garbage must be collected at once there: what is left is needed. */
const smallHeapMb = 32;
const smallHeap = [`--max-old-space-size=${smallHeapMb}`, '--max-semi-space-size=4'];

const small = await fill('one-year', oneYear);
const large = await fill('five-years', fiveYears);
process.stdout.write(
  `Node ${process.version}, ${cpus().length} cores; medians of ${rounds} rounds, each command a process of its own\n` +
    `1 year: ${describe(oneYear)}, ${sizeOf(small)}; 5 years: ${describe(fiveYears)}, ${sizeOf(large)}\n\n` +
    '| command | store | time | of it CPU | memory at most |\n| --- | --- | --- | --- | --- |\n',
);
await measure('nothing but starting: `--help`', '', ['--help']);
for (const [store, path] of [
  ['1 year', small],
  ['5 years', large],
] as const) {
  await measure('`balances`, a month by days', store, ['balances', ...month, '--data', path]);
  const hourly = ['balances', ...month, '--every', '1h', '--format', 'csv', '--data', path];
  await measure('`balances --every 1h`, a month', store, hourly);
  await measure('`interest`, a month', store, ['interest', ...month, '--data', path]);
  for (const [what, args] of everything) await measure(what, store, [...args, '--data', path]);
}
for (const [what, args] of everything)
  await measure(`${what}, in a heap of ${smallHeapMb} MB`, '5 years', [...args, '--data', large], smallHeap);

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

async function measure(
  what: string,
  store: string,
  args: readonly string[],
  nodeArgs: readonly string[] = [],
): Promise<void> {
  const runs: CommandRun[] = [];
  for (let round = 0; round < rounds; round += 1) runs.push(await runCommand(args, nodeArgs));
  const medianOf = (figureOf: (run: CommandRun) => number) => spreadOf(runs.map(figureOf)).median;
  const columns = [
    what,
    store,
    `${formatNumber(medianOf(({ tookMs }) => tookMs) / 1000, 2)} s`,
    `${formatNumber(medianOf(({ cpuMicros }) => cpuMicros) / 1e6, 2)} s`,
    `${formatNumber(medianOf(({ memoryKb }) => memoryKb) / 1024, 0)} MB`,
  ];
  process.stdout.write(`| ${columns.join(' | ')} |\n`);
}
