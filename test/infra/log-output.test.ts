import { once } from 'node:events';
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { stripVTControlCharacters } from 'node:util';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { createLogOutput, describeLine } from '../../infra/local/log-output.ts';

function isOpen(path: string): boolean {
  const links = readdirSync('/proc/self/fd').map((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`);
    } catch {
      return '';
    }
  });
  return links.includes(path);
}

describe('the log of a local run', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'relay-log-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  test('is kept as it is and shown in words', async () => {
    const terminal = new PassThrough();
    const output = createLogOutput(join(folder, 'relay.log'), terminal);
    const line = `${JSON.stringify({ level: 'INFO', message: 'signal placed', timestamp: '2026-11-01T08:31:45.120Z', account: 'main', signalId: 's-1', note: 'buy 1' })}\n`;

    output.write(line);
    output.end();
    await once(output, 'finish');

    expect(readFileSync(join(folder, 'relay.log'), 'utf8')).toBe(line);
    expect(stripVTControlCharacters(String(terminal.read()))).toBe(
      '08:31:45.120  signal placed  main s-1  buy 1\n',
    );
  });

  test('keeps for the file that a run of the clock went well', async () => {
    const terminal = new PassThrough();
    const output = createLogOutput(join(folder, 'relay.log'), terminal);
    const line = (message: string) =>
      `${JSON.stringify({ level: 'INFO', message, schedule: 'reconcile-signals' })}\n`;

    output.write(line('scheduled run done'));
    output.write(line('scheduled run failed'));
    output.end();
    await once(output, 'finish');

    expect(readFileSync(join(folder, 'relay.log'), 'utf8').split('\n')).toHaveLength(3);
    expect(stripVTControlCharacters(String(terminal.read()))).toBe(
      'scheduled run failed  reconcile-signals\n',
    );
  });

  test('that finds no room is dropped, and whoever writes it goes on', async () => {
    const output = createLogOutput('/dev/full', null);

    for (let count = 0; count < 3; count += 1) output.write('{"message":"a line"}\n');
    output.end();

    await once(output, 'finish');
  });

  test('goes on as soon as there is room again', async () => {
    const path = join(folder, 'relay.log');
    symlinkSync('/dev/full', path);
    const output = createLogOutput(path, null);
    output.write('{"message":"no room"}\n');
    // The kernel tells which files this process holds: the full one was opened, and given up.
    while (!isOpen('/dev/full')) await setImmediate();
    while (isOpen('/dev/full')) await setImmediate();

    rmSync(path);
    while (!existsSync(path) || !readFileSync(path, 'utf8').includes('room again')) {
      output.write('{"message":"room again"}\n');
      await setImmediate();
    }
    output.end();
    await once(output, 'finish');

    expect(readFileSync(path, 'utf8')).toMatch(/^\n(\{"message":"room again"\}\n)+$/);
  });

  test('begins anew when the file is full, and keeps the one before', async () => {
    const path = join(folder, 'relay.log');
    writeFileSync(path, 'x'.repeat(10 * 1024 * 1024));
    const output = createLogOutput(path, null);

    output.write('{"message":"one more"}\n');
    output.end();
    await once(output, 'finish');

    expect(readFileSync(path, 'utf8')).toBe('{"message":"one more"}\n');
    expect(readFileSync(`${path}.1`).byteLength).toBe(10 * 1024 * 1024);
  });

  test('shows a refusal with its code and reason', () => {
    const line = JSON.stringify({
      level: 'WARN',
      message: 'request refused',
      timestamp: '',
      code: 'stale',
      reason: 'too late',
    });
    expect(stripVTControlCharacters(describeLine(line))).toBe('request refused  stale: too late');
  });
});
