import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { bundleFunctions } from '../../infra/aws/bundle.ts';
import { parseConfig } from '../../lib/host/config.ts';
import exampleConfig from '../../relay.config.example.ts';
import { formatNumber, formatRatio, formatSpread, type Spread, spreadOf } from './statistics.ts';

/** What a function's bundle weighs, and how long a fresh process takes to load it. */
export interface BundleFigures {
  readonly name: string;
  readonly bytes: number;
  /** From the start of the process to the end of loading, clients made and first requests on their way. */
  readonly startMs: Spread;
  /** To the same of a handler that does nothing. */
  readonly startRatio: number;
}

/** The size budgets of the functions, in bytes, as `test/infra/app.test.ts` asserts them. */
export const budgets: Readonly<Record<string, number>> = {
  'receive-signal': 260_000,
  'execute-signal': 330_000,
  'reconcile-signals': 290_000,
  'snapshot-balances': 260_000,
  'snapshot-fees': 260_000,
  'import-interest': 260_000,
};

/** What a function finds in its environment; nobody answers at the address, nobody is waited for. */
const environment = {
  AWS_REGION: 'eu-central-1',
  AWS_ACCESS_KEY_ID: 'a',
  AWS_SECRET_ACCESS_KEY: 'b',
  AWS_SESSION_TOKEN: 'c',
  // With TLS, as on AWS: loading it is a part of the start.
  AWS_ENDPOINT_URL: 'https://127.0.0.1:9',
  LEDGER_TABLE: 'ledger',
  SNAPSHOT_TABLE: 'snapshots',
  SIGNAL_QUEUE_URL: 'http://127.0.0.1:9/signals.fifo',
  WEBHOOK_TOKENS: '{"main":"tokens"}',
  EXCHANGE_KEYS: '{"main":"keys"}',
} as const;

/** Bundles the functions as the stack does and loads each in that many fresh processes, turn by turn. */
export async function measureBundles(rounds: number): Promise<readonly BundleFigures[]> {
  const folder = mkdtempSync(join(tmpdir(), 'relay-bundles-'));
  try {
    // As a package of Lambda's: without a package.json above it that calls everything an ES module.
    writeFileSync(join(folder, 'package.json'), '{}');
    writeFileSync(join(folder, 'empty.js'), 'exports.handler = async () => {};');
    const config = parseConfig(exampleConfig);
    const bundles = Object.entries(await bundleFunctions({ outputFolder: folder, config }));
    const paths = new Map(bundles.map(([name, path]) => [name, join(path, 'index.js')]));
    const times = await timeInTurns([join(folder, 'empty.js'), ...paths.values()], rounds);
    const empty = spreadOf(times.get(join(folder, 'empty.js')) ?? []);
    return Array.from(paths, ([name, path]) => {
      const startMs = spreadOf(times.get(path) ?? []);
      return { name, bytes: statSync(path).size, startMs, startRatio: startMs.median / empty.median };
    });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** In turns, so that a busy moment of the machine meets all alike. */
async function timeInTurns(
  paths: readonly string[],
  rounds: number,
): Promise<ReadonlyMap<string, readonly number[]>> {
  const times = new Map(paths.map((path): [string, number[]] => [path, []]));
  for (let round = 0; round < rounds; round += 1)
    for (const [path, measured] of times) measured.push(await timeStart(path));
  return times;
}

async function timeStart(path: string): Promise<number> {
  const script = `require(${JSON.stringify(path)}); process.exit(0);`;
  const startedAtMs = performance.now();
  const child = spawn(process.execPath, ['-e', script], {
    env: environment,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const [exitCode] = await once(child, 'exit');
  if (exitCode !== 0) throw new Error(`${path} cannot be loaded: exit code ${exitCode}`);
  return performance.now() - startedAtMs;
}

export function printBundles(figures: readonly BundleFigures[], rounds: number): void {
  const rows = figures.map(({ name, bytes, startMs, startRatio }) => {
    const budget = budgets[name];
    const size = `${formatNumber(bytes / 1000, 0)} KB`;
    return [
      `  ${name.padEnd(20)}`,
      (budget === undefined ? size : `${size} of ${formatNumber(budget / 1000, 0)} KB`).padStart(20),
      formatSpread(startMs, 0).padStart(20),
      formatRatio(startRatio).padStart(12),
    ].join('');
  });
  const head = `  ${'Function'.padEnd(20)}${'bundle'.padStart(20)}${'start, ms'.padStart(20)}${'to empty'.padStart(12)}`;
  process.stdout.write(
    `${[`Bundles, and starts of a fresh process (median of ${rounds}), against a handler that does nothing`, head, ...rows].join('\n')}\n\n`,
  );
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) printBundles(await measureBundles(15), 15);
