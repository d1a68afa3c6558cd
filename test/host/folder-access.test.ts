import { chmodSync, existsSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { type DataFolder, locateDataFolder } from '../../lib/host/data-folder.ts';
import { restrictDataFolder } from '../../lib/host/folder-access.ts';

describe('the access of other users to the data folder', () => {
  let folder: DataFolder;
  beforeEach(() => {
    folder = locateDataFolder(mkdtempSync(join(tmpdir(), 'relay-access-')));
  });
  afterEach(() => rmSync(folder.path, { recursive: true }));

  const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8);

  function put(path: string, mode: number): void {
    writeFileSync(path, '{}');
    // The modes must not depend on the umask of the test run.
    chmodSync(path, mode);
  }

  test('is removed', () => {
    const { secretsPath, databasePath, paperPath, logPath, lockPath, runPath, path } = folder;
    const files = [
      ...[secretsPath, databasePath, paperPath, logPath, lockPath, runPath],
      ...[`${databasePath}-wal`, `${databasePath}-shm`, `${logPath}.1`, `${logPath}.moved`],
    ];
    for (const file of files) put(file, 0o644);
    chmodSync(path, 0o755);

    const said = restrictDataFolder(folder);

    expect(files.map(modeOf)).toEqual(files.map(() => '600'));
    expect(modeOf(path)).toBe('700');
    for (const changed of [...files, path]) expect(said.join('\n')).toContain(`${changed} `);
    expect(said).toHaveLength(files.length + 1);
    expect(restrictDataFolder(folder)).toEqual([]);
  });

  test.each(['640', '604', '620', '666'])('to secrets of mode %s is reported and removed', (mode) => {
    put(folder.secretsPath, Number.parseInt(mode, 8));

    const said = restrictDataFolder(folder);

    expect(said).toEqual([expect.stringContaining(`(mode 0${mode})`)]);
    expect(modeOf(folder.secretsPath)).toBe('600');
  });

  test('to the leftovers of an interrupted change of the secrets ends with their deletion', () => {
    const leftOvers = [`${folder.secretsPath}.new`, `${folder.secretsPath}.0a1b2c3d4e5f.new`];
    put(folder.secretsPath, 0o600);
    for (const path of leftOvers) put(path, 0o644);

    const said = restrictDataFolder(folder);

    expect(leftOvers.filter((path) => existsSync(path))).toEqual([]);
    expect(said).toHaveLength(2);
    expect(existsSync(folder.secretsPath)).toBe(true);
  });

  test('to secrets whose mode cannot be set is an error that names the command', () => {
    // The modes of files under /proc cannot be changed.
    symlinkSync('/proc/self/status', folder.secretsPath);

    expect(() => restrictDataFolder(folder)).toThrow(
      expect.objectContaining({
        code: 'secrets_exposed',
        message: expect.stringContaining(`chmod 600 ${folder.secretsPath}`),
      }),
    );
  });

  test('to any other file whose mode cannot be set is reported with the command', () => {
    symlinkSync('/proc/self/status', folder.logPath);

    expect(restrictDataFolder(folder)).toEqual([expect.stringContaining(`chmod 600 ${folder.logPath}`)]);
  });

  test('stays as it is in a folder that holds other files too', () => {
    put(folder.secretsPath, 0o600);
    put(join(folder.path, 'holiday.jpg'), 0o644);
    chmodSync(folder.path, 0o755);

    const said = restrictDataFolder(folder);

    expect(said).toEqual([expect.stringContaining('holds other files too')]);
    expect([modeOf(folder.path), modeOf(join(folder.path, 'holiday.jpg'))]).toEqual(['755', '644']);
  });
});
