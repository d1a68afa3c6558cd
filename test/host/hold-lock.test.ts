import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'relay-lock-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const source = new URL('../../lib/host/hold-lock.ts', import.meta.url).href;
/** So many that the processes meet at every step of taking the lock. */
const turns = 500;

test('every process that waits for the lock gets it, one at a time', async () => {
  const [lockPath, countPath] = [join(folder, 'lock'), join(folder, 'count')];
  writeFileSync(countPath, '0');
  const program = `
    import { readFileSync, writeFileSync } from 'node:fs';
    import { holdLock } from '${source}';
    process.stdout.write('ready');
    readFileSync(0);
    for (let turn = 0; turn < ${turns}; turn += 1)
      holdLock('${lockPath}', () => writeFileSync('${countPath}', String(Number(readFileSync('${countPath}')) + 1)));`;
  const workers = [1, 2, 3].map(() =>
    spawn(process.execPath, ['--input-type=module', '-e', program], { stdio: ['pipe', 'pipe', 'inherit'] }),
  );
  const ends = workers.map((worker) => once(worker, 'exit'));
  await Promise.all(workers.map((worker) => once(worker.stdout, 'data')));
  // Reading to the end of the input holds each of them back until all are ready.
  for (const worker of workers) worker.stdin.end();

  expect((await Promise.all(ends)).map(([code]) => code)).toEqual([0, 0, 0]);

  expect(Number(readFileSync(countPath, 'utf8'))).toBe(workers.length * turns);
});
