import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { createDataFolder, readRun, writeRun } from '../../lib/host/data-folder.ts';

describe('the data folder', () => {
  let parent: string;
  beforeEach(() => {
    parent = mkdtempSync(join(tmpdir(), 'relay-folder-'));
  });
  afterEach(() => rmSync(parent, { recursive: true }));

  test('is created for its owner only; creating it again changes nothing', () => {
    const folder = createDataFolder(join(parent, 'data'));
    createDataFolder(join(parent, 'data'));
    expect(statSync(folder.path).mode & 0o777).toBe(0o700);
  });

  test('stores the addresses at which the relay was started', () => {
    const folder = createDataFolder(parent);
    expect(readRun(folder)).toBeNull();

    const run = {
      relayUrl: 'http://127.0.0.1:1',
      exchangeUrl: 'http://127.0.0.1:2',
      dialect: 'live',
    } as const;
    writeRun(folder, run);

    expect(readRun(folder)).toEqual(run);
  });

  test('treats a damaged run.json as none', () => {
    const folder = createDataFolder(parent);
    writeFileSync(folder.runPath, '{"relayUrl":');
    expect(readRun(folder)).toBeNull();
  });
});
