import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { RelayError } from '../../lib/base/errors.ts';
import { migrateTables } from '../../lib/base/migrate-tables.ts';
import { createSqliteFile, openSqlite, type SqliteFile } from '../../lib/base/sqlite.ts';

let folder: string;
let path: string;
let file: SqliteFile;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sqlite-'));
  path = join(folder, 'relay.db');
  file = openSqlite(path);
  file.database.exec('CREATE TABLE notes (text TEXT PRIMARY KEY NOT NULL) STRICT');
  file.database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
});

afterEach(() => {
  file.close();
  rmSync(folder, { recursive: true });
});

function add(text: string | null): Promise<unknown> {
  return file.write(() => file.database.prepare('INSERT INTO notes VALUES (?)').run(text));
}

/** Reads the file over another connection, as another process would. */
function notesOnDisk(): readonly unknown[] {
  const other = new DatabaseSync(path);
  const rows = other.prepare('SELECT text FROM notes ORDER BY rowid').all();
  other.close();
  return rows.map((row) => row['text']);
}

/** Pages in the write-ahead log: every commit leaves at least one. */
function logPages(): unknown {
  return file.database.prepare('PRAGMA wal_checkpoint(PASSIVE)').get()?.['log'];
}

async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

function outcomes(results: readonly PromiseSettledResult<unknown>[]): readonly string[] {
  return results.map((result) =>
    result.status === 'fulfilled'
      ? 'written'
      : result.reason instanceof RelayError
        ? result.reason.code
        : String(result.reason),
  );
}

describe('openSqlite', () => {
  test('flushes a write-ahead log at every commit', () => {
    expect(file.database.prepare('PRAGMA journal_mode').get()).toMatchObject({ journal_mode: 'wal' });
    expect(file.database.prepare('PRAGMA synchronous').get()).toMatchObject({ synchronous: 2 });
  });

  test('waits for another process for a fraction of the 3 s after which a sender gives up', () => {
    expect(file.database.prepare('PRAGMA busy_timeout').get()).toMatchObject({ timeout: 250 });
  });

  test('names the path that it cannot open', () => {
    expect(() => openSqlite(join(folder, 'missing', 'x.db'))).toThrow(
      expect.objectContaining({
        code: 'store_unavailable',
        message: expect.stringContaining(join('missing', 'x.db')),
      }),
    );
  });

  test('makes a file that only its owner can read', () => {
    const path = join(folder, 'own.db');
    openSqlite(path).close();
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  test.each([':memory:', 'file:in-memory?mode=memory'])('makes no file for %s', (path) => {
    openSqlite(path).close();
    expect(existsSync(path)).toBe(false);
  });

  test('refuses a file that is not a database', () => {
    const wrong = join(folder, 'notes.txt');
    writeFileSync(wrong, 'no database, but long enough to look at'.repeat(100));
    expect(() => openSqlite(wrong)).toThrow(expect.objectContaining({ code: 'store_unavailable' }));
  });
});

describe('write', () => {
  test('resolves with the result once another process can see the row', async () => {
    const result = await file.write(
      () => file.database.prepare("INSERT INTO notes VALUES ('a')").run().changes,
    );
    expect(result).toBe(1);
    expect(notesOnDisk()).toEqual(['a']);
  });

  test('keeps the order in which writes were requested', async () => {
    const order: number[] = [];
    const writes = [1, 2, 3, 4, 5].map((n) => file.write(() => n).then((result) => order.push(result)));
    await Promise.all(writes);
    expect(order).toEqual([1, 2, 3, 4, 5]);
  });

  test('commits the writes of one turn together', async () => {
    await Promise.all(Array.from({ length: 20 }, (_, i) => add(`together ${i}`)));
    expect(logPages()).toBeLessThan(10);
  });

  test('commits the writes of the next turn along with them', async () => {
    const first = add('a');
    await new Promise((resolve) => setImmediate(resolve));
    void add('b');
    await first;
    expect(notesOnDisk()).toEqual(['a', 'b']);
  });

  test('commits writes that wait for each other one by one', async () => {
    for (let i = 0; i < 20; i += 1) await add(`alone ${i}`);
    expect(logPages()).toBeGreaterThanOrEqual(20);
  });

  test('rejects the write that breaks a constraint, and no other of its transaction', async () => {
    const results = await Promise.allSettled([add('a'), add(null), add('b'), add('a'), add('c')]);
    expect(outcomes(results)).toEqual([
      'written',
      'store_unavailable',
      'written',
      'store_unavailable',
      'written',
    ]);
    expect(notesOnDisk()).toEqual(['a', 'b', 'c']);
  });

  test('rolls back what an operation wrote before it threw', async () => {
    const half = file.write(() => {
      file.database.exec("INSERT INTO notes VALUES ('half')");
      throw new RelayError('entry_conflict', 'changed its mind');
    });
    const results = await Promise.allSettled([add('before'), half, add('after')]);
    expect(outcomes(results)).toEqual(['written', 'entry_conflict', 'written']);
    expect(notesOnDisk()).toEqual(['before', 'after']);
  });

  test('passes on an error of the operation itself unchanged', async () => {
    const fault = new TypeError('not the database');
    const write = file.write(() => {
      throw fault;
    });
    await expect(write).rejects.toBe(fault);
  });

  test('rejects all writes while the disk is full, and works again when there is room', async () => {
    await add('first');
    const { page_count: pages } = file.database.prepare('PRAGMA page_count').get() ?? {};
    file.database.exec(`PRAGMA max_page_count = ${Number(pages)}`);

    const results = await Promise.allSettled([add('x'.repeat(50_000)), add('y'.repeat(50_000))]);
    file.database.exec('PRAGMA max_page_count = 100000');
    await add('last');

    expect(outcomes(results)).toEqual(['store_unavailable', 'store_unavailable']);
    expect(notesOnDisk()).toEqual(['first', 'last']);
  });

  test('rejects all waiting writes, after one try, while another process holds the lock', async () => {
    file.database.exec('PRAGMA busy_timeout = 0');
    const other = new DatabaseSync(path);
    other.exec('BEGIN IMMEDIATE');
    let runs = 0;
    const count = () => file.write(() => (runs += 1));

    const results = await Promise.allSettled([count(), count(), count()]);
    other.exec('ROLLBACK');
    other.close();
    await turns(2);
    const later = await count();

    expect(outcomes(results)).toEqual(['store_unavailable', 'store_unavailable', 'store_unavailable']);
    expect(later).toBe(1);
  });

  test('gives the reason in the message and keeps the cause', async () => {
    await expect(add(null)).rejects.toMatchObject({
      code: 'store_unavailable',
      message: 'the database could not be written: NOT NULL constraint failed: notes.text',
      cause: { code: 'ERR_SQLITE_ERROR' },
    });
  });
});

describe('execute', () => {
  const insert = (text: string | null) => () =>
    file.database.prepare('INSERT INTO notes (text) VALUES (?)').run(text).changes;

  test('has its result at once, and is durable with the next flush', async () => {
    const { result, durable } = file.execute(insert('a'));
    expect([result, notesOnDisk()]).toEqual([1, []]);
    await durable;
    expect(notesOnDisk()).toEqual(['a']);
  });

  test('is on the disk when a later operation is', async () => {
    file.execute(insert('a'));
    await add('b');
    expect(notesOnDisk()).toEqual(['a', 'b']);
  });

  test('throws at once what the operation throws, and keeps the transaction', async () => {
    const { durable } = file.execute(insert('a'));
    expect(() => file.execute(insert(null))).toThrow(expect.objectContaining({ code: 'store_unavailable' }));
    await durable;
    expect(notesOnDisk()).toEqual(['a']);
  });

  test('loses every operation of a transaction that cannot be committed', async () => {
    const { durable } = file.execute(insert('a'));
    file.database.exec('ROLLBACK');
    await expect(durable).rejects.toMatchObject({ code: 'store_unavailable' });
    expect(notesOnDisk()).toEqual([]);
    await add('b');
    expect(notesOnDisk()).toEqual(['b']);
  });

  test('loses the operations before one that finds the disk full', async () => {
    const { page_count: pages } = file.database.prepare('PRAGMA page_count').get() ?? {};
    file.database.exec(`PRAGMA max_page_count = ${Number(pages)}`);
    const { durable } = file.execute(insert('a'));
    expect(() => file.execute(insert('x'.repeat(50_000)))).toThrow('full');
    await expect(durable).rejects.toMatchObject({ code: 'store_unavailable' });
    expect(notesOnDisk()).toEqual([]);
  });

  test('is on the disk once what was executed by then is flushed', async () => {
    await file.flushed();
    file.execute(insert('a'));
    await file.flushed();
    expect(notesOnDisk()).toEqual(['a']);

    file.execute(insert('b')).durable.catch(() => undefined);
    const flushed = file.flushed();
    file.database.exec('ROLLBACK');
    await expect(flushed).rejects.toMatchObject({ code: 'store_unavailable' });
  });

  test('a query for what is on the disk waits until the transaction is committed or lost', async () => {
    const readNotes = () => file.database.prepare('SELECT count(*) AS notes FROM notes').get()?.['notes'];
    expect(await file.readDurable(readNotes)).toBe(0);

    file.execute(insert('a')).durable.catch(() => undefined);
    const lost = file.readDurable(readNotes);
    file.database.exec('ROLLBACK');
    expect(await lost).toBe(0);

    file.execute(insert('b'));
    expect(await file.readDurable(readNotes)).toBe(1);
    expect(notesOnDisk()).toEqual(['b']);
  });

  test('asks its own schedule for the flush, once for each transaction', async () => {
    const flushes: (() => void)[] = [];
    const own = createSqliteFile(new DatabaseSync(path), {
      scheduleFlush: (flush) => flushes.push(flush),
    });
    const first = own.execute(() => 1);
    own.execute(() => 2);
    expect(flushes).toHaveLength(1);
    flushes[0]?.();
    await first.durable;
    own.execute(() => 3);
    expect(flushes).toHaveLength(2);
    own.close();
  });
});

describe('a process that writes all the time', () => {
  /** Begins the next transaction as soon as the last one is on the disk. */
  const busyWriter = `
    const { openSqlite } = await import(process.argv[1]);
    const file = openSqlite(process.argv[2]);
    const insert = file.database.prepare('INSERT INTO notes VALUES (?)');
    for (let count = 0; ; count += 1) {
      await file.write(() => insert.run('busy ' + count));
      if (count === 100) process.send('busy');
    }`;

  test('leaves the lock to a patient one', async () => {
    const module = fileURLToPath(new URL('../../lib/base/sqlite.ts', import.meta.url));
    const writer = spawn(process.execPath, ['--input-type=module', '-e', busyWriter, module, path], {
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    try {
      await once(writer, 'message');
      const patient = openSqlite(path, { patienceMs: 20_000 });
      const insert = patient.database.prepare('INSERT INTO notes VALUES (?)');
      for (let count = 0; count < 20; count += 1) await patient.write(() => insert.run(`patient ${count}`));
      patient.close();
    } finally {
      writer.kill('SIGKILL');
      await once(writer, 'exit');
    }
    expect(notesOnDisk().filter((text) => String(text).startsWith('patient'))).toHaveLength(20);
  }, 60_000);
});

describe('read', () => {
  test('sees a write that is not on the disk yet', async () => {
    const write = add('a');
    const seen = file.read(() => file.database.prepare('SELECT text FROM notes').all().length);
    expect([seen, notesOnDisk()]).toEqual([1, []]);
    await write;
  });

  test('reports a database that cannot be read', () => {
    const statement = file.database.prepare('SELECT text FROM notes');
    file.close();
    expect(() => file.read(() => statement.all())).toThrow(
      expect.objectContaining({ code: 'store_unavailable' }),
    );
  });
});

describe('close', () => {
  test('completes the writes already requested', async () => {
    const write = add('in time');
    file.close();
    await write;
    expect(notesOnDisk()).toEqual(['in time']);
  });

  test('refuses later writes', async () => {
    file.close();
    await expect(file.write(() => 1)).rejects.toMatchObject({ code: 'store_unavailable' });
  });

  test('may be called again', () => {
    file.close();
    expect(() => file.close()).not.toThrow();
  });
});

describe('migrateTables', () => {
  const first = 'CREATE TABLE birds (name TEXT) STRICT';
  const second = "ALTER TABLE birds ADD COLUMN colour TEXT; INSERT INTO birds VALUES ('robin', 'red')";

  test('runs each script once, whatever the release it starts from', () => {
    migrateTables(file, 'birds', [first]);
    migrateTables(file, 'birds', [first, second]);
    migrateTables(file, 'birds', [first, second]);
    expect(file.database.prepare('SELECT * FROM birds').all()).toMatchObject([
      { name: 'robin', colour: 'red' },
    ]);
  });

  test('keeps the stores of one file apart', () => {
    migrateTables(file, 'birds', [first]);
    migrateTables(file, 'fish', ['CREATE TABLE fish (name TEXT) STRICT']);
    expect(file.database.prepare('SELECT * FROM fish').all()).toEqual([]);
  });

  test('leaves the file as it was when a script fails', () => {
    migrateTables(file, 'birds', [first]);
    const broken = `${second}; INSERT INTO nowhere VALUES (1)`;
    expect(() => migrateTables(file, 'birds', [first, broken])).toThrow(
      expect.objectContaining({ code: 'store_unavailable' }),
    );
    migrateTables(file, 'birds', [first, second]);
    expect(file.database.prepare('SELECT count(*) AS n FROM birds').get()).toMatchObject({ n: 1 });
  });

  test('does not change a file of a newer release', () => {
    migrateTables(file, 'birds', [first, second]);
    expect(() => migrateTables(file, 'birds', [first])).toThrow(
      expect.objectContaining({
        code: 'store_unavailable',
        message:
          'the birds tables have version 2, and this release knows version 1: run the newer release that wrote them',
      }),
    );
    expect(file.database.isTransaction).toBe(false);
  });
});

describe('an operation that is insisted on', () => {
  const insert = (text: string) => () => void file.database.prepare('INSERT INTO notes VALUES (?)').run(text);
  /** As a full disk does: the transaction is lost when it is to be committed. */
  const loseTransaction = () => file.database.exec('ROLLBACK');

  test('is in the next transaction when its own is lost, before what is written there', async () => {
    file.insist(insert('an alarm'));
    const lost = add('its outcome');
    loseTransaction();
    await expect(lost).rejects.toMatchObject({ code: 'store_unavailable' });
    expect(notesOnDisk()).toEqual([]);

    await add('its outcome');
    await add('more');

    expect(notesOnDisk()).toEqual(['an alarm', 'its outcome', 'more']);
  });

  test('lets nothing be written while it cannot be, and waits for its turn', async () => {
    const other = new DatabaseSync(path, { timeout: 0 });
    other.exec('BEGIN IMMEDIATE');
    file.database.exec('PRAGMA busy_timeout = 0');
    expect(() => file.insist(insert('an alarm'))).toThrow(
      expect.objectContaining({ code: 'store_unavailable' }),
    );
    await turns(3);
    other.exec('ROLLBACK');
    other.close();

    await add('its outcome');

    expect(notesOnDisk()).toEqual(['an alarm', 'its outcome']);
  });

  test('is written when the file is closed', () => {
    file.insist(insert('an alarm'));
    loseTransaction();

    file.close();

    expect(notesOnDisk()).toEqual(['an alarm']);
  });

  test('that fails by itself is given up: it must not keep others from being written', async () => {
    await add('a');
    expect(() => file.insist(() => JSON.parse('{'))).toThrow(SyntaxError);

    await add('b');

    expect(notesOnDisk()).toEqual(['a', 'b']);
  });
});
