import { existsSync, mkdirSync, mkdtempSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { keepRunRecorded } from '../../../infra/local/run-record.ts';
import { createDataFolder, type DataFolder, type Run, readRun } from '../../../lib/host/data-folder.ts';
import { createListeningLog } from '../../support/listening-log.ts';

const run: Run = { relayUrl: 'http://127.0.0.1:1', exchangeUrl: 'http://127.0.0.1:2', dialect: 'live' };

describe('the addresses of a run that cannot be written', () => {
  let folder: DataFolder;
  beforeEach(() => {
    folder = createDataFolder(mkdtempSync(join(tmpdir(), 'relay-run-')));
  });
  afterEach(() => rmSync(folder.path, { recursive: true }));

  test('are written as soon as they can be', async () => {
    const { log, lines, nextLine } = createListeningLog();
    mkdirSync(folder.runPath);
    const recording = keepRunRecorded(folder, run, log, 1);
    const before = [readRun(folder), lines.map(({ level }) => level)];
    const written = nextLine();
    rmdirSync(folder.runPath);
    await written;
    recording.stop();

    expect(before).toEqual([null, ['error']]);
    expect(readRun(folder)).toEqual(run);
  });

  test('are not left as those of an earlier run', () => {
    // No room for the longer name of the file that is written first.
    const narrow = { ...folder, runPath: join(folder.path, 'r'.repeat(250)) };
    writeFileSync(narrow.runPath, JSON.stringify({ ...run, relayUrl: 'http://127.0.0.1:3' }));

    keepRunRecorded(narrow, run, createListeningLog().log).stop();

    expect(existsSync(narrow.runPath)).toBe(false);
  });
});
