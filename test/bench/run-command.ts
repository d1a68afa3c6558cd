import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { json } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import type { Usage } from './report-usage.ts';

/** One run of a program in a process of its own. */
export interface CommandRun extends Usage {
  readonly tookMs: number;
}

const preload = new URL('report-usage.ts', import.meta.url).href;
const pathOf = (script: string) => fileURLToPath(new URL(`../../${script}`, import.meta.url));

/**
 * Runs the command `relay` with these arguments.
 *
 * @throws Error when the command fails: what it did not do is not worth measuring
 */
export async function runCommand(
  args: readonly string[],
  nodeArgs: readonly string[] = [],
): Promise<CommandRun> {
  const startedAtMs = performance.now();
  const child = spawn(process.execPath, [...nodeArgs, '--import', preload, pathOf('cli/main.ts'), ...args], {
    stdio: ['ignore', 'ignore', 'inherit', 'pipe'],
  });
  const [usage, [exitCode]] = await Promise.all([json(child.stdio[3] as Readable), once(child, 'close')]);
  const tookMs = performance.now() - startedAtMs;
  if (exitCode !== 0) throw new Error(`relay ${args.join(' ')} ended with ${exitCode}`);
  return { tookMs, ...(usage as Usage) };
}

/**
 * Starts the relay as `npm start` does, and stops it once it is ready.
 *
 * @returns `tookMs` until it is ready; the CPU time is that of start and stop
 * @throws Error when it does not start
 */
export async function runStart(dataPath: string): Promise<CommandRun> {
  const args = ['--port', '0', '--paper-port', '0', '--frozen', '--data', dataPath];
  const startedAtMs = performance.now();
  const child = spawn(process.execPath, ['--import', preload, pathOf('infra/local/main.ts'), ...args], {
    stdio: ['ignore', 'pipe', 'inherit', 'pipe'],
  });
  const ended = Promise.all([json(child.stdio[3] as Readable), once(child, 'close')]);
  const ready = waitForReady(child.stdout as Readable).then(() => performance.now() - startedAtMs);
  const tookMs = await Promise.race([ready, ended.then(() => null)]);
  if (tookMs === null) throw new Error('the relay ended before it was ready; the reason stands above');
  child.kill('SIGTERM');
  const [usage] = await ended;
  return { tookMs, ...(usage as Usage) };
}

async function waitForReady(output: Readable): Promise<void> {
  let text = '';
  const { promise, resolve } = Promise.withResolvers<void>();
  output.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
    if (/^ready$/m.test(text)) resolve();
  });
  await promise;
}
