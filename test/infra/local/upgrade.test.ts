import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { waitUntil } from '../../deploy/wait-until.ts';
import { keptVersions, unpackFolder } from '../../support/kept-folders.ts';
import { projectRoot } from '../../support/project-files.ts';
import { proofShare, takeShare } from '../../support/share.ts';

interface Shown {
  readonly signals: readonly { readonly signalId: string; readonly status: string }[];
}

let folder: string;
let data: string;
let child: ChildProcess | null = null;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'relay-upgrade-'));
  data = join(folder, 'data');
});
afterEach(async () => {
  if (child !== null && child.exitCode === null && child.signalCode === null) {
    child.kill('SIGKILL');
    await once(child, 'exit');
  }
  child = null;
  rmSync(folder, { recursive: true });
});

/** Starts today's relay on the folder. */
async function start(): Promise<void> {
  const options = ['--port', '0', '--paper-port', '0', '--data', data, '--frozen', '--dialect', 'live'];
  child = spawn(process.execPath, ['infra/local/main.ts', ...options], {
    cwd: projectRoot,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const { stdout } = child;
  if (stdout === null) throw new Error('it has no output');
  for await (const line of createInterface({ input: stdout })) if (line === 'ready') break;
  stdout.resume();
}

/** Runs a command of today's tool. */
async function relay<T>(args: readonly string[], input = ''): Promise<T> {
  const running = promisify(execFile)(
    process.execPath,
    ['cli/main.ts', '--data', data, '--config', 'relay.config.example.ts', ...args, '--json'],
    { cwd: projectRoot, encoding: 'utf8' },
  );
  running.child.stdin?.end(input);
  return JSON.parse((await running).stdout);
}

/** As it was sent to the older release. `echo` had added the end of the line. */
const stopAlert =
  '{"id":"up-stop","ticker":"BTCUSDT","action":"buy","quantity":"0.001","orderType":"stop_limit","stopPrice":"61000","limitPrice":"61061"}\n';

async function readStatuses(): Promise<Readonly<Record<string, string>>> {
  const { signals } = await relay<Shown>(['signals', '--limit', '50']);
  return Object.fromEntries(signals.map(({ signalId, status }) => [signalId.split('@')[0], status]));
}

/** The newest one always: most traders come from there. */
const tried = new Set([...takeShare(keptVersions, proofShare), ...keptVersions.slice(-1)]);

describe.each([...tried])('The data folder of a release with ledger %i', (version) => {
  test('is carried over by a start, with all that it holds, and goes on', async () => {
    unpackFolder(version, data);
    await start();

    const { 'up-lost': lost, ...old } = await readStatuses();
    expect(old).toEqual({
      'up-stop': 'placed',
      'up-fill': 'placed',
      'up-cancelled': 'placed',
      'up-cancel': 'cancelled',
      'up-denied': 'denied',
      'up-typo': 'invalid',
    });
    // The reconciler may have looked it up by now.
    expect(['unknown', 'placed']).toContain(lost);
    const { positions } = await relay<{ positions: unknown[] }>(['positions', 'main']);
    expect(positions).toMatchObject([{ market: 'ETH_USDT', amount: '0.01' }]);
    const orders = JSON.stringify(await relay(['orders']));
    expect(['up-stop', 'up-cancelled'].map((id) => orders.includes(id))).toEqual([true, false]);
    const report = await relay<{ groups: unknown[] }>(['report']);
    expect(JSON.stringify(report)).toContain('ETH_USDT');

    // Earlier releases kept no messages.
    const { message } = await relay<{ message: unknown }>(['signal', 'up-stop']);
    expect(message).toEqual(version < 8 ? null : { text: stopAlert, omittedBytes: 0 });

    // The pause of before still holds.
    const resumed = await relay<{ resumed: unknown[] }>(['resume', 'main']);
    expect(JSON.stringify(resumed)).toContain('kept for the upgrade');
    // What was sent before is known, and places nothing again; a new alert is carried out.
    await expect(relay(['send', '-'], stopAlert)).rejects.toThrow('by signal \\"up-stop\\" (placed)');
    await relay(['send', '-'], '{"id":"new-1","ticker":"ETHUSDT","action":"close","maxSlippage":"0.5%"}');
    const statuses = await waitUntil(
      'the outcome of new-1',
      readStatuses,
      (found) => found['new-1'] === 'placed',
      30_000,
    );
    expect(statuses).toMatchObject({ 'up-stop': 'placed', 'new-1': 'placed' });
  });
});
