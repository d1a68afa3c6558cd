import {
  copyFileSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { systemClock } from '../../lib/base/clock.ts';
import { openSqlite } from '../../lib/base/sqlite.ts';
import { backUpFolder, restoreFolder } from '../../lib/host/backup.ts';
import { createDataFolder, type DataFolder } from '../../lib/host/data-folder.ts';
import { completeFileSecrets } from '../../lib/host/file-secrets.ts';
import { claimLiveFolder, readFolderKind } from '../../lib/host/folder-kind.ts';
import { openLock } from '../../lib/host/hold-lock.ts';
import { createSqliteAccountFacts } from '../../lib/ledger/sqlite-account-facts.ts';
import { createSqliteLedger } from '../../lib/ledger/sqlite-ledger.ts';
import { orderIn } from '../queue/open-store.ts';
import { acceptOne } from '../support/accept-one.ts';

const clock = systemClock;
const exchange = 'https://whitebit.com';

describe('a backup', () => {
  let place: string;
  let folder: DataFolder;
  let other: DataFolder;
  let path: string;
  beforeEach(async () => {
    place = mkdtempSync(join(tmpdir(), 'relay-backup-'));
    folder = createDataFolder(join(place, 'first'));
    other = createDataFolder(join(place, 'second'));
    path = join(place, 'backup.db');
    claimLiveFolder(folder, exchange);
    completeFileSecrets(folder.secretsPath, ['main'], () => ({ apiKey: 'key-of-main', apiSecret: 'secret' }));
    const file = openSqlite(folder.databasePath);
    await createSqliteLedger(file).refuse({
      account: 'main',
      signalId: 'refused-1',
      fingerprint: 'f',
      step: { status: 'invalid', atMs: 1, note: 'no' },
    });
    file.close();
  });
  afterEach(() => rmSync(place, { recursive: true }));

  async function readPause(of: DataFolder) {
    const file = openSqlite(of.databasePath);
    const pause = await createSqliteLedger(file).readPause('main');
    file.close();
    return pause;
  }

  const make = (withSecrets = false) => backUpFolder(folder, path, { withSecrets, clock });
  const restore = () => restoreFolder(other, path, { accounts: ['main'], clock });

  test('is one file that only its owner can read, without keys and tokens', async () => {
    expect(await make()).toMatchObject({ signals: 1, withSecrets: false });

    expect(readdirSync(place).toSorted()).toEqual(['backup.db', 'first', 'second']);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(readFileSync(path, 'latin1')).not.toContain('key-of-main');
  });

  test('is restored as what it was, and sends nothing before its owner has looked', async () => {
    await make();

    expect(await restore()).toEqual({ signals: 1, withSecrets: false });

    expect(readFolderKind(other)).toEqual({ kind: 'live', exchange });
    expect(await readPause(other)).toMatchObject({
      kind: 'everything',
      reason: expect.stringContaining('restored from a backup'),
    });
    expect(await readPause(folder)).toBeNull();
    const file = openSqlite(other.databasePath);
    expect(await createSqliteAccountFacts(file).read('main', 'restored')).toEqual({
      atMs: expect.any(Number),
    });
    file.close();
    expect(readdirSync(other.path).toSorted()).toEqual(['lock.db', 'relay.db']);
  });

  test('sends nothing that waited: the relay that it was made of may have sent it since', async () => {
    const file = openSqlite(folder.databasePath);
    for (let count = 0; count < 150; count += 1)
      await acceptOne(createSqliteLedger(file), { ...orderIn(`waits-${count}`), account: 'main', atMs: 1 });
    file.close();
    await make();

    await restore();

    const restored = openSqlite(other.databasePath);
    const ledger = createSqliteLedger(restored);
    expect(await ledger.waiting('main', 'BTC_USDT', 1)).toEqual([]);
    expect(await ledger.read({ account: 'main', signalId: 'waits-149' })).toMatchObject({
      status: 'sending',
      orderOpen: true,
      steps: [{ status: 'accepted' }, { status: 'sending', note: expect.stringContaining('backup') }],
    });
    restored.close();
  });

  test('has the secrets if they are asked for; the restored ledger does not', async () => {
    await make(true);
    await restore();

    expect(readFileSync(other.secretsPath, 'utf8')).toBe(readFileSync(folder.secretsPath, 'utf8'));
    expect(statSync(other.secretsPath).mode & 0o777).toBe(0o600);
    expect(readFileSync(other.databasePath, 'latin1')).not.toContain('key-of-main');
  });

  test('replaces no file and no ledger, and is not restored under a running relay', async () => {
    await make();

    await expect(make()).rejects.toThrow('exists already');
    await expect(restoreFolder(folder, path, { accounts: [], clock })).rejects.toThrow('is there: move');
    const lock = openLock(other.lockPath, 0);
    await expect(restore()).rejects.toMatchObject({ code: 'folder_in_use' });
    lock.close();
  });

  test('is not restored beside what a killed relay has left of a ledger that is gone', async () => {
    await make();
    // SQLite would read it as the newest pages of the restored ledger.
    copyFileSync(await leaveLog(), `${other.databasePath}-wal`);

    await expect(restore()).rejects.toThrow(`"${other.databasePath}-wal" is there: move`);
    expect(readdirSync(other.path)).toEqual(['lock.db', 'relay.db-wal']);
  });

  /** The write-ahead log of a ledger whose process was killed. */
  async function leaveLog(): Promise<string> {
    const file = openSqlite(folder.databasePath);
    await createSqliteLedger(file).writePause('main', { sinceMs: 1, reason: 'no', kind: 'entries' });
    copyFileSync(`${folder.databasePath}-wal`, join(place, 'log'));
    file.close();
    return join(place, 'log');
  }

  test('is refused when any byte of it has changed, and leaves nothing', async () => {
    await make();
    const bytes = readFileSync(path);
    // A figure or a word of an entry, the header, the checksum, and the last byte.
    for (const at of [bytes.indexOf('refused-1'), 24, 69, bytes.length - 1]) {
      const damaged = Buffer.from(bytes);
      damaged.writeUInt8(damaged.readUInt8(at) ^ 0b1, at);
      writeFileSync(path, damaged);

      await expect(restore()).rejects.toThrow('not as it was written');
      expect(readdirSync(other.path)).toEqual(['lock.db']);
    }
  });

  test('without a checksum is refused when its pages do not fit together', async () => {
    await make();
    const bytes = readFileSync(path);
    bytes.fill(0, 68, 72);
    bytes.fill(0xff, 4096, 4096 * 3);
    writeFileSync(path, bytes);

    await expect(restore()).rejects.toMatchObject({ code: 'store_unavailable' });
    expect(readdirSync(other.path)).toEqual(['lock.db']);
  });

  test('of a restored folder can be made and restored again', async () => {
    await make();
    await restore();
    rmSync(path);
    await backUpFolder(other, path, { withSecrets: false, clock });
    const third = createDataFolder(join(place, 'third'));

    expect(await restoreFolder(third, path, { accounts: [], clock })).toMatchObject({ signals: 1 });
    expect(readFileSync(third.databasePath).readUInt32BE(68)).toBe(0);
  });

  test('is nothing but a backup', async () => {
    await expect(restore()).rejects.toThrow('there is no file');
    writeFileSync(path, 'a letter');
    await expect(restore()).rejects.toMatchObject({ code: 'store_unavailable' });

    expect(readdirSync(other.path)).toEqual(['lock.db']);
  });
});
