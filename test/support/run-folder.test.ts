import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from '@jest/globals';
import { openRunFolder } from './run-folder.ts';

test('a run has a temporary folder of its own, and is told what stays in it', () => {
  const { TMPDIR: before } = process.env;
  const run = openRunFolder();
  expect(process.env['TMPDIR']).toBe(run.path);
  writeFileSync(join(run.path, 'forgotten'), '');

  expect(run.close()).toEqual(['forgotten']);
  expect(existsSync(run.path)).toBe(false);
  expect(process.env['TMPDIR']).toBe(before);
  expect(openRunFolder().close()).toEqual([]);
});

test('the folder of a run that was killed is removed by the next, and that of a running one is not', () => {
  const first = openRunFolder();
  const { pid } = spawnSync(process.execPath, ['--version']);
  const abandoned = join(dirname(first.path), `relay-tests-${pid}-abandoned`);
  mkdirSync(abandoned);

  const second = openRunFolder();

  expect(existsSync(abandoned)).toBe(false);
  expect(existsSync(first.path)).toBe(true);
  expect([second.close(), first.close()]).toEqual([[], []]);
});
