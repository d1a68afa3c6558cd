import { existsSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setImmediate } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { createReceivingWatch } from '../../../infra/local/receiving.ts';
import type { Alarm } from '../../../lib/base/alarms.ts';
import { openSqlite, type SqliteFile } from '../../../lib/base/sqlite.ts';
import { completeFileSecrets, createFileSecrets } from '../../../lib/host/file-secrets.ts';
import { createManualClock } from '../../support/manual-clock.ts';
import { createMovedClock, type MovedClock } from '../../support/moved-clock.ts';
import { openWorld, type World } from '../../support/world.ts';

const hourMs = 60 * 60_000;

describe('a relay that cannot take alerts', () => {
  let folder: string;
  let file: SqliteFile;
  const databasePath = () => join(folder, 'relay.db');
  const secretsPath = () => join(folder, 'secrets.json');
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'relay-receiving-'));
    file = openSqlite(databasePath());
    completeFileSecrets(secretsPath(), ['main'], () => null);
  });
  afterEach(() => {
    file.close();
    rmSync(folder, { recursive: true });
  });

  function open() {
    const clock = createManualClock(1_000_000);
    const raised: Alarm[] = [];
    const secrets = createFileSecrets(secretsPath(), clock);
    const watch = createReceivingWatch({
      file,
      databasePath: databasePath(),
      readSecrets: () => secrets.webhookTokens('main', 'newest'),
      clock,
      alarms: { raise: (alarm) => raised.push(alarm) },
    });
    return { clock, raised, watch };
  }

  test('raises one alarm an hour that names the file and the cause, until they can be taken', async () => {
    const { clock, raised, watch } = open();
    await watch.watch();
    const [before] = [raised.length];
    renameSync(secretsPath(), `${secretsPath()}.away`);
    for (const afterMs of [2_000, 10_000, hourMs, 10_000]) {
      clock.advance(afterMs);
      await watch.watch();
    }
    const during = raised.length;
    renameSync(`${secretsPath()}.away`, secretsPath());
    clock.advance(hourMs);
    const reason = await watch.watch();

    expect([before, during, raised.length, reason]).toEqual([0, 2, 2, null]);
    expect(raised[0]).toEqual({
      name: 'alerts_not_taken',
      message: expect.stringMatching(/secrets\.json \(ENOENT\)/),
    });
  });

  test('raises it for a file of secrets that was cut off', async () => {
    const { raised, watch } = open();
    writeFileSync(secretsPath(), '{"main": {"webhookTokens": ["ses');

    await watch.watch();

    expect(raised.map(({ message }) => message)).toEqual([expect.stringContaining('cannot be read as JSON')]);
    expect(raised[0]?.message).not.toContain('ses"');
  });

  test('raises none for a store that another process locks for a moment, and one when it lasts', async () => {
    const { clock, raised, watch } = open();
    const other = new DatabaseSync(databasePath());
    const lookLater = async () => {
      clock.advance(10_000);
      // The store tries again when the transaction that failed is over.
      for (let turn = 0; turn < 3; turn += 1) await setImmediate();
      await watch.watch();
    };
    other.exec('BEGIN IMMEDIATE');
    await lookLater();
    other.exec('ROLLBACK');
    await lookLater();
    const afterMoment = raised.length;
    other.exec('BEGIN IMMEDIATE');
    await lookLater();
    await lookLater();
    other.close();

    expect([afterMoment, raised.length]).toEqual([0, 1]);
  });

  test.each([
    ['was removed', () => undefined, 'is gone'],
    ['is another one', (path: string) => openSqlite(path).close(), 'is another file'],
  ])('because its database %s says so, and stores nothing', async (_, replace, words) => {
    const { clock, raised, watch } = open();
    watch.checkPlace();
    rmSync(databasePath());
    replace(databasePath());
    clock.advance(1_000);

    expect(() => watch.checkPlace()).toThrow(
      expect.objectContaining({ code: 'store_unavailable', message: expect.stringContaining(words) }),
    );
    await watch.watch();
    clock.advance(10_000);
    await watch.watch();
    expect(raised.map(({ message }) => message)).toEqual([expect.stringContaining(words)]);
  });
});

describe('the whole relay', () => {
  let world: World;
  let clock: MovedClock;
  beforeEach(async () => {
    clock = createMovedClock();
    world = await openWorld({ dialect: 'live', clock });
  });
  afterEach(() => world.close());
  const alert = (id: string) =>
    JSON.stringify({ id, ticker: 'BTCUSDT', action: 'buy', quantity: '0.01', maxSlippage: '1%' });
  const ask = async (path: string) => {
    const response = await fetch(new URL(path, world.webhookUrl));
    return [response.status, await response.json()];
  };

  test('is neither healthy nor ready while its secrets cannot be read, and raises the alarm', async () => {
    writeFileSync(world.secretsPath, '{"main"');
    clock.advance(2_000);
    const response = await fetch(world.webhookUrl, { method: 'POST', body: alert('unread') });
    const [health, ready] = [await ask('/health'), await ask('/ready')];

    expect([response.status, health[0], ready[0]]).toEqual([503, 503, 503]);
    expect(health[1]).toMatchObject({ store: 'writable', secrets: 'unreadable' });
    expect(world.logged.filter(({ facts }) => facts['alarmName'] === 'alerts_not_taken')).toHaveLength(1);
  });

  test('acknowledges nothing into a database that was removed', async () => {
    for (const name of ['relay.db', 'relay.db-wal', 'relay.db-shm'])
      rmSync(join(dirname(world.secretsPath), name), { force: true });
    clock.advance(2_000);
    const { status } = await world.post(alert('lost'));

    expect(status).toBe(503);
    expect((await ask('/health'))[0]).toBe(503);
    expect(existsSync(join(dirname(world.secretsPath), 'relay.db'))).toBe(false);
  });
});
