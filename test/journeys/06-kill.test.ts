import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { createRandom } from '../../lib/base/random.ts';
import { openSqlite } from '../../lib/base/sqlite.ts';
import { locateDataFolder, readRun } from '../../lib/host/data-folder.ts';
import { createSqliteLedger } from '../../lib/ledger/sqlite-ledger.ts';
import { buyAlert } from '../support/alerts.ts';
import { runs } from '../support/runs.ts';

/** `npm start` as a separate process. */
interface Relay {
  readonly process: ChildProcess;
  readonly webhookUrl: string;
  readonly exchangeUrl: string;
}

describe('kill -9 of the relay, then a new start', () => {
  let data: string;
  const running: ChildProcess[] = [];

  beforeEach(() => {
    data = mkdtempSync(join(tmpdir(), 'relay-kill-'));
  });
  afterEach(async () => {
    for (const child of running.splice(0)) await kill(child);
    rmSync(data, { recursive: true });
  });

  async function start(): Promise<Relay> {
    const child = spawn(
      process.execPath,
      ['infra/local/main.ts', '--port', '0', '--paper-port', '0', '--data', data, '--frozen'],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    );
    running.push(child);
    const lines = createInterface({ input: child.stdout });
    for await (const line of lines) if (line === 'ready') break;
    // The output must be read until the end, or the relay would block on a full pipe.
    child.stdout.resume();
    const run = readRun(locateDataFolder(data));
    const secrets = JSON.parse(readFileSync(join(data, 'secrets.json'), 'utf8')) as {
      main: { webhookTokens: string[] };
    };
    return {
      process: child,
      webhookUrl: `${run?.relayUrl}/signals/main/${secrets.main.webhookTokens[0]}`,
      exchangeUrl: run?.exchangeUrl ?? '',
    };
  }

  async function kill(child: ChildProcess): Promise<void> {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGKILL');
    await once(child, 'exit');
  }

  /** Posts all alerts in parallel, kills the relay meanwhile, and returns the acknowledged alerts. */
  async function postAndKill(relay: Relay, ids: readonly string[], killAfter: number): Promise<string[]> {
    const acknowledged: string[] = [];
    await Promise.all(
      ids.map(async (id) => {
        const response = await fetch(relay.webhookUrl, {
          method: 'POST',
          body: buyAlert({ id, quantity: '0.001' }),
        }).catch(() => null);
        if (response?.status !== 202) return;
        acknowledged.push(id);
        if (acknowledged.length === killAfter) relay.process.kill('SIGKILL');
      }),
    );
    await kill(relay.process);
    return acknowledged;
  }

  /** Signals of a market are executed in order: when the last one has its outcome, all have. */
  async function finish(relay: Relay): Promise<void> {
    const id = `last-${relay.process.pid}`;
    await fetch(relay.webhookUrl, {
      method: 'POST',
      body: JSON.stringify({ id, ticker: 'BTCUSDT', action: 'cancel', clientOrderId: 'none' }),
    });
    const lines = createInterface({ input: relay.process.stdout as NodeJS.ReadableStream });
    for await (const line of lines) if (line.includes(id) && line.includes('rejected')) break;
  }

  test.each(Array.from({ length: runs(3) }, (_, index) => index + 1))(
    'accepted signals are executed or unknown, never sent twice, never lost (round %i)',
    async (round) => {
      const random = createRandom(round);
      const acknowledged: string[] = [];
      for (let crash = 0; crash < 3; crash += 1) {
        const relay = await start();
        const ids = Array.from({ length: 15 }, (_, index) => `s-${crash}-${index}`);
        acknowledged.push(...(await postAndKill(relay, ids, 1 + Math.floor(random() * 14))));
      }

      const relay = await start();
      await finish(relay);

      const { orders } = (await (await fetch(`${relay.exchangeUrl}/control/state`)).json()) as {
        orders: { clientOrderId: string }[];
      };
      const ledger = createSqliteLedger(openSqlite(locateDataFolder(data).databasePath));
      const { entries } = await ledger.list({ limit: 200 });
      const byId = new Map(entries.map((entry) => [entry.signalId, entry]));
      const ordersOf = (clientOrderId: string | null) =>
        orders.filter((order) => order.clientOrderId === clientOrderId).length;

      expect(acknowledged.length).toBeGreaterThan(2);
      expect(acknowledged.filter((id) => !byId.has(id))).toEqual([]);
      const ended = entries.filter(({ clientOrderId }) => clientOrderId !== null);
      expect(
        [...new Set(ended.map(({ status }) => status))].filter(
          (status) => status !== 'placed' && status !== 'unknown',
        ),
      ).toEqual([]);
      expect(
        ended.filter(({ status, clientOrderId }) => status === 'placed' && ordersOf(clientOrderId) !== 1),
      ).toEqual([]);
      expect(ended.filter(({ clientOrderId }) => ordersOf(clientOrderId) > 1)).toEqual([]);
    },
  );
});
