import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, test } from '@jest/globals';
import { openSqlite } from '../../lib/base/sqlite.ts';
import { createSqliteLedger } from '../../lib/ledger/sqlite-ledger.ts';
import { spawnCli } from '../cli/run-cli.ts';
import { openWorld, type World } from '../support/world.ts';

const signals = 5_000;
/** Alerts under way at a time. */
const senders = 40;
/** A backup is begun whenever so many signals are acknowledged. */
const backupEvery = 1_000;

/** When the sender got the response, by signal. */
type Acknowledged = Map<string, number>;

test('while 5,000 signals arrive, each backup has all that was acknowledged before its end', async () => {
  const world = await openWorld({ dialect: 'live' });
  const place = mkdtempSync(join(tmpdir(), 'relay-backups-'));
  const data = dirname(world.secretsPath);
  const acknowledged: Acknowledged = new Map();
  const backups: Promise<{ file: string; untilMs: number }>[] = [];

  await Promise.all(
    Array.from({ length: senders }, (_, sender) => sendAll(world, sender, acknowledged, begin)),
  );
  function begin(): void {
    if (acknowledged.size % backupEvery === 0)
      backups.push(backUp(data, join(place, `${acknowledged.size}.db`)));
  }
  const made = await Promise.all(backups);
  const audits = await Promise.all(
    made.map(async ({ file, untilMs }) => {
      const restored = join(place, `restored-${untilMs}`);
      const run = await spawnCli(['restore', file, '--data', restored, '--json']);
      expect(run).toMatchObject({ exitCode: 0, stderr: '' });
      const kept = await readSignals(join(restored, 'relay.db'));
      const owed = [...acknowledged].filter(([, atMs]) => atMs < untilMs).map(([id]) => id);
      return { owed: owed.length, missing: owed.filter((id) => !kept.has(id)) };
    }),
  );
  await world.close();
  rmSync(place, { recursive: true });

  expect([acknowledged.size, made.length]).toEqual([signals, signals / backupEvery]);
  expect(audits.flatMap(({ missing }) => missing)).toEqual([]);
  // Otherwise nothing was under way, and nothing is shown.
  const [first] = audits.map(({ owed }) => owed).toSorted((one, next) => one - next);
  expect(first).toBeLessThan(signals);
  expect(first).toBeGreaterThan(0);
});

async function sendAll(
  world: World,
  sender: number,
  acknowledged: Acknowledged,
  onAcknowledged: () => void,
): Promise<void> {
  for (let number = sender; number < signals; number += senders) {
    const id = `load-${number}`;
    const alert = { id, ticker: 'BTCUSDT', action: 'cancel_all' };
    const { status } = await world.post(JSON.stringify(alert), { account: 'rehearsal' });
    if (status !== 202) throw new Error(`${id} got ${status}`);
    acknowledged.set(id, Date.now());
    onAcknowledged();
  }
}

async function backUp(data: string, file: string): Promise<{ file: string; untilMs: number }> {
  const { stdout, stderr, exitCode } = await spawnCli(['backup', file, '--data', data, '--json']);
  if (exitCode !== 0) throw new Error(stderr);
  return { file, untilMs: (JSON.parse(stdout) as { untilMs: number }).untilMs };
}

async function readSignals(path: string): Promise<ReadonlySet<string>> {
  const file = openSqlite(path);
  const found = new Set<string>();
  const ledger = createSqliteLedger(file);
  for (let cursor: string | null = ''; cursor !== null; ) {
    const page = await ledger.list({ limit: 1_000, ...(cursor === '' ? {} : { cursor }) });
    for (const { signalId } of page.entries) found.add(signalId);
    cursor = page.next;
  }
  file.close();
  return found;
}
