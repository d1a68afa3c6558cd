import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { systemClock } from '../../lib/base/clock.ts';
import { createRandom } from '../../lib/base/random.ts';
import { openSqlite, type SqliteFile } from '../../lib/base/sqlite.ts';
import { createSqliteLedger } from '../../lib/ledger/sqlite-ledger.ts';
import { createSqliteLine } from '../../lib/queue/sqlite-line.ts';

const writerPath = join(import.meta.dirname, 'crash-writer.ts');

/** The steps that the writer acknowledged before it died. */
type Told = Readonly<Record<'stored' | 'starting' | 'sending' | 'placed', ReadonlySet<string>>>;

/** Runs the writer on the file and kills it after it has printed the given number of steps. */
async function writeUntilKilled(path: string, lineCount: number): Promise<Told> {
  const writer = spawn(process.execPath, [writerPath, path], { stdio: ['ignore', 'pipe', 'inherit'] });
  let text = '';
  writer.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
    if (text.split('\n').length > lineCount) writer.kill('SIGKILL');
  });
  const [, killedBy] = await once(writer, 'close');
  expect(killedBy).toBe('SIGKILL');
  const lines = text.split('\n').slice(0, -1);
  const told = (what: string) =>
    new Set(lines.filter((line) => line.startsWith(`${what} `)).map((line) => line.slice(what.length + 1)));
  return {
    stored: told('stored'),
    starting: told('starting'),
    sending: told('sending'),
    placed: told('placed'),
  };
}

/** The id of a signal is made from its alert and its position in it. */
function alertOf(signalId: string): string {
  return signalId.slice(0, signalId.lastIndexOf('-'));
}

/** Every waiting signal in the order of delivery. */
async function readLine(file: SqliteFile): Promise<readonly string[]> {
  const line = createSqliteLine(file, { clock: systemClock, maxDeliveries: 5 });
  const ids: string[] = [];
  for (let next = line.take(); next !== null; next = line.take()) {
    ids.push(next.key.signalId);
    expect(next.deliveries).toBe(1);
    line.left(next.key);
    line.finish(next);
  }
  return ids;
}

describe('after kill -9', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'crash-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  const random = createRandom(20_260_102);
  const lineCounts = Array.from({ length: 6 }, () => 1 + Math.floor(random() * 600));

  test.each(lineCounts)('everything is there that was acknowledged in %i lines', async (lineCount) => {
    const path = join(folder, 'relay.db');
    const told = await writeUntilKilled(path, lineCount);

    const file = openSqlite(path);
    const ledger = createSqliteLedger(file);
    const ids = await readLine(file);
    const statusOf = async (signalId: string) => (await ledger.read({ account: 'main', signalId }))?.status;
    const statuses = new Map<string, string | undefined>();
    for (const id of new Set([...told.stored, ...told.sending])) statuses.set(id, await statusOf(id));
    const { entries } = await ledger.list({ limit: 10_000 });
    const integrity = file.database.prepare('PRAGMA integrity_check').get();
    file.close();

    expect(told.stored.size).toBeGreaterThan(0);
    expect([...told.stored].filter((id) => statuses.get(id) === undefined)).toEqual([]);
    expect([...told.sending].filter((id) => !['sending', 'placed'].includes(statuses.get(id) ?? ''))).toEqual(
      [],
    );
    expect([...told.placed].filter((id) => statuses.get(id) !== 'placed')).toEqual([]);
    expect([...told.stored].filter((id) => !told.starting.has(id) && !ids.includes(id))).toEqual([]);
    expect([...told.sending].filter((id) => ids.includes(id))).toEqual([]);
    expect(new Set(ids).size).toBe(ids.length);
    // Acknowledged or not, an alert is stored completely or not at
    // all, and waits in its order.
    const alerts = Map.groupBy(entries, ({ signalId }) => alertOf(signalId));
    expect([...alerts.values()].filter(({ length }) => length !== 3)).toEqual([]);
    const waiting = entries.filter(({ status }) => status === 'accepted').map(({ signalId }) => signalId);
    expect(waiting.filter((id) => !ids.includes(id))).toEqual([]);
    expect(ids.filter((id) => !entries.some(({ signalId }) => signalId === id))).toEqual([]);
    for (const queued of Map.groupBy(ids, alertOf).values()) expect(queued).toEqual([...queued].sort());
    expect(integrity).toMatchObject({ integrity_check: 'ok' });
  });
});
