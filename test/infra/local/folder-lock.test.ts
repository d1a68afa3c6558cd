import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { lockFolder } from '../../../infra/local/folder-lock.ts';

describe('the lock of a data folder', () => {
  let lockPath: string;
  beforeEach(() => {
    lockPath = join(mkdtempSync(join(tmpdir(), 'relay-lock-')), 'lock.db');
  });
  afterEach(() => rmSync(join(lockPath, '..'), { recursive: true }));

  test('is held by one relay at a time', () => {
    const lock = lockFolder(lockPath);

    expect(() => lockFolder(lockPath)).toThrow(expect.objectContaining({ code: 'folder_in_use' }));

    lock.release();
    lockFolder(lockPath).release();
  });

  test('is readable by its owner only', () => {
    lockFolder(lockPath).release();
    expect(statSync(lockPath).mode & 0o777).toBe(0o600);
  });

  test('can be taken on a full disk too', () => {
    // Not a byte may be written to any file, as on a full disk.
    const script = `import { lockFolder } from './infra/local/folder-lock.ts'; lockFolder(${JSON.stringify(lockPath)}).release();`;
    const limited = ['-c', 'ulimit -f 0; exec "$0" "$@"', process.execPath];
    const { status, stderr } = spawnSync('bash', [...limited, '--input-type=module', '-e', script]);

    expect([
      status,
      stderr
        .toString()
        .split('\n')
        .filter((line) => line.includes('lock')),
    ]).toEqual([0, []]);
  });

  test('that contains garbage is reported as damaged, with the advice to remove it', () => {
    writeFileSync(lockPath, 'no database, but long enough to look at'.repeat(100));

    expect(() => lockFolder(lockPath)).toThrow(
      expect.objectContaining({
        code: 'store_unavailable',
        message: expect.stringMatching(/lock\.db is damaged.* remove the file/),
      }),
    );
  });

  test('that cannot be opened is not reported as another relay', () => {
    mkdirSync(lockPath);

    expect(() => lockFolder(lockPath)).toThrow(
      expect.objectContaining({
        code: 'store_unavailable',
        message: expect.stringMatching(/cannot be locked.* unable to open database file/),
      }),
    );
  });
});
