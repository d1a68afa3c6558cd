import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setImmediate } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createHealth } from '../../../infra/local/health.ts';
import { createReceivingWatch } from '../../../infra/local/receiving.ts';
import type { Clock } from '../../../lib/base/clock.ts';
import { openSqlite, type SqliteFile } from '../../../lib/base/sqlite.ts';
import { readVersion } from '../../../lib/host/version.ts';
import { createManualClock } from '../../support/manual-clock.ts';
import { createMovedClock } from '../../support/moved-clock.ts';
import { readProjectFile } from '../../support/project-files.ts';
import { openWorld, type World } from '../../support/world.ts';

function watchFile(file: SqliteFile, clock: Clock) {
  const readSecrets = async () => undefined;
  return createReceivingWatch({
    file,
    databasePath: null,
    readSecrets,
    clock,
    alarms: { raise: () => undefined },
  });
}

describe('GET /health', () => {
  let world: World;
  let url: string;
  beforeAll(async () => {
    world = await openWorld({ dialect: 'live' });
    url = new URL('/health', world.webhookUrl).href;
  });
  afterAll(() => world.close());

  test('reports the release and the store, and nothing else', async () => {
    const response = await fetch(url);

    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(await response.json()).toEqual({
      status: 'ok',
      trades: 'paper',
      version: readVersion(),
      store: 'writable',
      secrets: 'readable',
    });
  });

  test('works with a query string, and for HEAD without a body', async () => {
    const [asked, head] = await Promise.all([fetch(`${url}?at=1`), fetch(url, { method: 'HEAD' })]);

    expect([asked.status, head.status, await head.text()]).toEqual([200, 200, '']);
  });

  test.each([
    ['POST', 'health'],
    ['GET', 'healthy'],
    ['GET', 'health/main'],
  ])('is all there is: %s /%s is not found', async (method, path) => {
    const response = await fetch(new URL(path, url), { method });

    expect(response.status).toBe(404);
  });
});

describe('a store that cannot be written', () => {
  test('is reported with 503 for as long as alerts get one', async () => {
    const clock = createMovedClock();
    const world = await openWorld({ dialect: 'live', clock });
    const ask = async (path: string) => {
      const response = await fetch(new URL(path, world.webhookUrl));
      return [response.status, await response.json()] as const;
    };
    const other = new DatabaseSync(join(dirname(world.secretsPath), 'relay.db'));
    const alert = { ticker: 'BTCUSDT', action: 'buy', quantity: '0.01', maxSlippage: '1%' };

    // The relay itself has looked once.
    await ask('/health');
    other.exec('BEGIN IMMEDIATE');
    clock.advance(2_000);
    const refused = await world.post(JSON.stringify({ id: 'unstored', ...alert }));
    const [failing, unready] = [await ask('/health'), await ask('/ready')];
    other.exec('ROLLBACK');
    other.close();
    const taken = await world.post(JSON.stringify({ id: 'stored', ...alert }));
    await world.settled('stored');
    await world.close();

    expect([refused.status, taken.status]).toEqual([503, 202]);
    expect(failing).toEqual([
      503,
      {
        status: 'failing',
        trades: 'paper',
        version: readVersion(),
        store: 'unwritable',
        secrets: 'readable',
      },
    ]);
    expect(unready).toEqual([
      503,
      { status: 'not_ready', trades: 'paper', store: 'unwritable', secrets: 'readable', heldAccounts: 0 },
    ]);
  });

  test('is found healthy again a second later', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'relay-health-'));
    const path = join(folder, 'relay.db');
    const file = openSqlite(path);
    const clock = createManualClock(1_000_000);
    const receiving = watchFile(file, clock);
    const health = createHealth({ receiving, version: '1.2.3', trades: 'live', listHeld: () => [] });
    const other = new DatabaseSync(path);

    other.exec('BEGIN IMMEDIATE');
    const whileLocked = await health.respond();
    other.exec('ROLLBACK');
    const atOnce = await health.respond();
    clock.advance(1_000);
    // The store tries again when the transaction that failed is over.
    for (let turn = 0; turn < 3; turn += 1) await setImmediate();
    const later = await health.respond();
    other.close();
    file.close();
    rmSync(folder, { recursive: true });

    expect([whileLocked.statusCode, atOnce.statusCode, later.statusCode]).toEqual([503, 503, 200]);
  });

  test('makes the relay not ready; so does an account whose signals wait', async () => {
    const file = openSqlite(':memory:');
    const held: string[] = [];
    const receiving = watchFile(file, createManualClock(1_000_000));
    const health = createHealth({ receiving, version: '1', trades: 'live', listHeld: () => held });

    const ready = await health.respondReady();
    held.push('main');
    const unready = await health.respondReady();
    file.close();

    expect([ready.statusCode, unready.statusCode]).toEqual([200, 503]);
    expect(JSON.parse(unready.body)).toEqual({
      status: 'not_ready',
      trades: 'live',
      store: 'writable',
      secrets: 'readable',
      heldAccounts: 1,
    });
  });
});

test('the release is that of package.json', () => {
  expect(readVersion()).toBe((JSON.parse(readProjectFile('package.json')) as { version: string }).version);
});
