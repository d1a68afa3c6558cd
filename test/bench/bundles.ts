import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { bundleFunctions } from '../../infra/aws/bundle.ts';
import { type FunctionName, functionNames } from '../../infra/aws/function-names.ts';
import { parseConfig } from '../../lib/host/config.ts';
import exampleConfig from '../../relay.config.example.ts';
import { ratioOf, type Spread, spreadOf } from './statistics.ts';

/** What a function's bundle weighs, and how long a fresh process takes to load it. */
export interface BundleFigures {
  readonly name: FunctionName;
  readonly bytes: number;
  /** From the start of the process to the end of loading, clients made and first requests on their way. */
  readonly startMs: Spread;
  /** To the same of a handler that does nothing, round by round. */
  readonly startRatio: Spread;
  /** The same of the CPU time, which other programs on the machine disturb less. */
  readonly cpuRatio: Spread;
}

/** What a function finds in its environment; nobody answers at the address, nobody is waited for. */
const environment = {
  AWS_REGION: 'eu-central-1',
  AWS_ACCESS_KEY_ID: 'a',
  AWS_SECRET_ACCESS_KEY: 'b',
  AWS_SESSION_TOKEN: 'c',
  AWS_ENDPOINT_URL: 'https://127.0.0.1:9',
  LEDGER_TABLE: 'ledger',
  STACK_NAME: 'trading-relay',
  SNAPSHOT_TABLE: 'snapshots',
  SIGNAL_QUEUE_URL: 'http://127.0.0.1:9/signals.fifo',
  WEBHOOK_TOKENS: '{"main":"tokens"}',
  EXCHANGE_KEYS: '{"main":"keys"}',
  NOTICE_SECRET: 'channels',
} as const;

/** One start of a fresh process. */
interface Start {
  readonly tookMs: number;
  /** User and system time of the process, in microseconds. */
  readonly cpuMicros: number;
}

/** Bundles the functions as the stack does and loads each in that many fresh processes, turn by turn. */
export async function measureBundles(rounds: number): Promise<readonly BundleFigures[]> {
  const folder = mkdtempSync(join(tmpdir(), 'relay-bundles-'));
  try {
    // As a package of Lambda's: without a package.json above it that calls everything an ES module.
    writeFileSync(join(folder, 'package.json'), '{}');
    const emptyPath = join(folder, 'empty.js');
    writeFileSync(emptyPath, 'exports.handler = async () => {};');
    const config = parseConfig(exampleConfig);
    const bundles = await bundleFunctions({ outputFolder: folder, config });
    const paths = new Map(functionNames.map((name) => [name, join(bundles[name], 'index.js')]));
    const starts = await startInTurns([emptyPath, ...paths.values()], rounds);
    const valuesOf = (path: string, key: keyof Start) => (starts.get(path) ?? []).map((start) => start[key]);
    return Array.from(paths, ([name, path]) => ({
      name,
      bytes: statSync(path).size,
      startMs: spreadOf(valuesOf(path, 'tookMs')),
      startRatio: ratioOf(valuesOf(path, 'tookMs'), valuesOf(emptyPath, 'tookMs')),
      cpuRatio: ratioOf(valuesOf(path, 'cpuMicros'), valuesOf(emptyPath, 'cpuMicros')),
    }));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/**
 * In turns, so that a busy moment of the machine meets all alike.
 *
 * @param paths the empty handler's first
 */
async function startInTurns(
  paths: readonly string[],
  rounds: number,
): Promise<ReadonlyMap<string, readonly Start[]>> {
  const starts = new Map(paths.map((path): [string, Start[]] => [path, []]));
  for (let round = 0; round < rounds; round += 1)
    for (const [path, measured] of starts) measured.push(await measureStart(path, path !== paths[0]));
  return starts;
}

/**
 * @param callsAws whether its first request, to AWS, loads TLS
 * @throws Error when the bundle cannot be loaded
 */
async function measureStart(path: string, callsAws: boolean): Promise<Start> {
  // The file descriptor is the pipe below.
  const script = `require(${JSON.stringify(path)});
    ${callsAws ? "require('node:tls');" : ''}
    require('node:fs').writeSync(3, JSON.stringify(process.cpuUsage()));
    process.exit(0);`;
  const startedAtMs = performance.now();
  const child = spawn(process.execPath, ['-e', script], {
    env: environment,
    stdio: ['ignore', 'ignore', 'inherit', 'pipe'],
  });
  const ended = once(child, 'exit').then(([exitCode]) => {
    if (exitCode !== 0) throw new Error(`${path} cannot be loaded: exit code ${exitCode}`);
    return performance.now() - startedAtMs;
  });
  const [usage, tookMs] = await Promise.all([text(child.stdio[3] as Readable), ended]);
  const { user, system } = JSON.parse(usage) as NodeJS.CpuUsage;
  return { tookMs, cpuMicros: user + system };
}
