import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Writable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { stripVTControlCharacters } from 'node:util';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { createLogOutput, describeLine } from '../../infra/local/log-output.ts';
import { createManualClock } from '../support/manual-clock.ts';

function lineOf(message: string): string {
  return `${JSON.stringify({ message })}\n`;
}

/** A terminal, and the lines it shows. */
function createTerminal(): { readonly terminal: Writable; readonly shown: readonly string[] } {
  const shown: string[] = [];
  const terminal = new Writable({
    write(chunk, _encoding, done) {
      shown.push(stripVTControlCharacters(String(chunk)).trimEnd());
      done();
    },
  });
  return { terminal, shown };
}

/** As its `create` does: a new file of the same name, at once. */
function logrotate(path: string): void {
  renameSync(path, `${path}.moved`);
  writeFileSync(path, '');
}

function blockRotation(path: string): void {
  writeFileSync(path, 'x'.repeat(100));
  mkdirSync(`${path}.1`);
}

describe('the log of a local run', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'relay-log-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  test('is kept as it is and shown in words', async () => {
    const { terminal, shown } = createTerminal();
    const output = createLogOutput(join(folder, 'relay.log'), terminal);
    const line = `${JSON.stringify({ level: 'INFO', message: 'signal placed', timestamp: '2026-11-01T08:31:45.120Z', account: 'main', signalId: 's-1', note: 'buy 1' })}\n`;

    output.write(line);
    output.end();
    await once(output, 'finish');

    expect(readFileSync(join(folder, 'relay.log'), 'utf8')).toBe(line);
    expect(shown).toEqual(['08:31:45.120  signal placed  main s-1  buy 1']);
  });

  test.each(['ENOSPC', 'EIO', 'EPIPE'])(
    'keeps every line when the terminal fails with %s, and says so once',
    async (code) => {
      const path = join(folder, 'relay.log');
      const kept: string[] = [];
      const terminal = new Writable({
        autoDestroy: false,
        write(_chunk, _encoding, done) {
          kept.push(readFileSync(path, 'utf8').trimEnd().split('\n').at(-1) ?? '');
          done(Object.assign(new Error(`${code}: write`), { code }));
        },
      });
      const output = createLogOutput(path, terminal);

      output.write(lineOf('one'));
      await setImmediate();
      output.write(lineOf('two'));
      await setImmediate();

      const log = readFileSync(path, 'utf8');
      expect(log).toContain(lineOf('one'));
      expect(log).toContain(lineOf('two'));
      expect(log.match(new RegExp(`console cannot be written.*${code}`, 'g'))).toHaveLength(1);
      // It is in the file before it is shown.
      expect(`${kept[0]}\n`).toBe(lineOf('one'));
    },
  );

  test('keeps every line when nobody reads the terminal, says so once, and lets no more than a MiB wait', async () => {
    const path = join(folder, 'relay.log');
    let read = (): void => undefined;
    const terminal = new Writable({
      write(_chunk, _encoding, done) {
        read = done;
      },
    });
    const output = createLogOutput(path, terminal, { maximumFileBytes: 2 ** 25 });
    const line = lineOf('x'.repeat(2 ** 16));

    for (let count = 0; count < 50; count += 1) output.write(line);
    await setImmediate();

    const log = readFileSync(path, 'utf8');
    expect(log.split('\n').filter((each) => `${each}\n` === line)).toHaveLength(50);
    expect(log.match(/console cannot be written.*nobody reads what it was given/g)).toHaveLength(1);
    expect(terminal.writableLength).toBeLessThan(1.2 * 2 ** 20);
    while (terminal.writableLength > 0) {
      read();
      await setImmediate();
    }
    output.write(lineOf('shown again'));
    await setImmediate();
    expect(terminal.writableLength).toBeGreaterThan(0);
  });

  test('shows what to do about an alarm on a line of its own, as it can be pasted', () => {
    const whatToDo = `echo '{"id":"stop-1"}' | npx relay send - --account main`;
    const alarm = { alarm: true, alarmName: 'position_unprotected' };
    const line = JSON.stringify({
      ...{ level: 'ERROR', message: 'no stop-loss', account: 'main' },
      ...alarm,
      whatToDo,
    });

    expect(stripVTControlCharacters(describeLine(line))).toBe(
      `ALARM position_unprotected  no stop-loss  main\n    ${whatToDo}`,
    );
  });

  test('keeps for the file that a run of the clock went well', async () => {
    const { terminal, shown } = createTerminal();
    const output = createLogOutput(join(folder, 'relay.log'), terminal);
    const line = (message: string) =>
      `${JSON.stringify({ level: 'INFO', message, schedule: 'reconcile-signals' })}\n`;

    output.write(line('scheduled run done'));
    output.write(line('scheduled run failed'));
    output.end();
    await once(output, 'finish');

    expect(readFileSync(join(folder, 'relay.log'), 'utf8').split('\n')).toHaveLength(3);
    expect(shown).toEqual(['scheduled run failed  reconcile-signals']);
  });

  test.each([
    ['moved', (path: string) => renameSync(path, `${path}.moved`)],
    ['removed', (path: string) => rmSync(path)],
    ['moved, and its name taken by another', (path: string) => logrotate(path)],
  ])('whose file is %s goes on in a new one, full again or not', (_, disturb) => {
    const path = join(folder, 'relay.log');
    const { terminal, shown } = createTerminal();
    const output = createLogOutput(path, terminal, { maximumFileBytes: 45 });

    output.write(lineOf('one'));
    disturb(path);
    // The old file's bytes and these would be too many for one file.
    for (const message of ['two', 'three', 'four']) output.write(lineOf(message));

    expect(readFileSync(path, 'utf8')).toBe(lineOf('four'));
    expect(readFileSync(`${path}.1`, 'utf8')).toBe(lineOf('two') + lineOf('three'));
    expect(shown).toEqual(['one', 'two', 'three', 'four']);
  });

  test.each([
    ['the disk is full', 'ENOSPC', (path: string) => symlinkSync('/dev/full', path)],
    ['the folder is gone', 'ENOENT', (path: string) => rmSync(dirname(path), { recursive: true })],
    ['a folder is in its place', 'EISDIR', (path: string) => mkdirSync(path)],
    ['a full one cannot be put aside', 'EISDIR', blockRotation],
  ])(
    'that cannot be written because %s goes on at the terminal, which is told why, once',
    (_, code, spoil) => {
      const path = join(folder, 'logs', 'relay.log');
      mkdirSync(dirname(path));
      const { terminal, shown } = createTerminal();
      const output = createLogOutput(path, terminal, { maximumFileBytes: 100 });

      spoil(path);
      for (let count = 0; count < 1000; count += 1) output.write(lineOf('alarm'));

      expect(shown.filter((line) => line === 'alarm')).toHaveLength(1000);
      expect(shown.filter((line) => line !== 'alarm')).toEqual([expect.stringContaining(code)]);
      expect(shown.findIndex((line) => line.includes(code))).toBe(0);
      expect(output.writableLength).toBe(0);
    },
  );

  test('goes on as soon as there is room again, and says in the file what is missing', () => {
    const path = join(folder, 'relay.log');
    symlinkSync('/dev/full', path);
    const { terminal, shown } = createTerminal();
    const output = createLogOutput(path, terminal, { clock: createManualClock(0) });
    output.write(lineOf('no room'));
    output.write(lineOf('still no room'));

    rmSync(path);
    output.write(lineOf('room again'));
    output.write(lineOf('and again'));

    const lines = readFileSync(path, 'utf8').trimEnd().split('\n');
    const [first, ...others] = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(first).toMatchObject({ level: 'WARN', timestamp: '1970-01-01T00:00:00.000Z' });
    expect(first?.['message']).toContain('2 lines are missing');
    expect(others).toEqual([{ message: 'room again' }, { message: 'and again' }]);
    expect(shown.filter((line) => line.includes('are missing'))).toHaveLength(1);
  });

  test('counts each line of those that were written together', () => {
    const path = join(folder, 'relay.log');
    symlinkSync('/dev/full', path);
    const { terminal, shown } = createTerminal();
    const output = createLogOutput(path, terminal);
    output.write(lineOf('no room'));
    output.cork();
    output.write(lineOf('still'));
    output.write(lineOf('no room'));
    output.uncork();

    rmSync(path);
    output.write(lineOf('room again'));

    expect(readFileSync(path, 'utf8')).toContain('3 lines are missing');
    expect(shown.filter((line) => !line.includes('log file'))).toEqual([
      'no room',
      'still',
      'no room',
      'room again',
    ]);
  });

  test('begins a line of its own after one that was cut off', () => {
    const path = join(folder, 'relay.log');
    writeFileSync(path, '{"message":"cut o');
    const output = createLogOutput(path, null);

    output.write(lineOf('whole'));

    expect(readFileSync(path, 'utf8')).toBe(`{"message":"cut o\n${lineOf('whole')}`);
  });

  test('does not wait for the reader of a pipe in place of its file', () => {
    const path = join(folder, 'relay.log');
    expect(spawnSync('mkfifo', [path]).status).toBe(0);
    const { terminal, shown } = createTerminal();
    const output = createLogOutput(path, terminal);

    for (let count = 0; count < 3; count += 1) output.write(lineOf('x'.repeat(100_000)));

    expect(shown.filter((line) => line.startsWith('xxx'))).toHaveLength(3);
  });

  test('shows what is no line of the log as it is', () => {
    expect(describeLine('a warning of a library')).toBe('a warning of a library');
    expect(describeLine('null')).toBe('null');
  });

  test('is readable by its owner only', () => {
    const path = join(folder, 'relay.log');
    createLogOutput(path, null).write(lineOf('one'));
    expect(statSync(path).mode & 0o777).toBe(0o600);
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
