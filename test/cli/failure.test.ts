import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createDataFolder, writeRun } from '../../lib/host/data-folder.ts';
import { mainPath, runCli, runForFailure, shippedConfig } from './run-cli.ts';
import { type StoredSignals, storeSignals } from './stored-signals.ts';

let stored: StoredSignals;
let emptyPath: string;

beforeAll(async () => {
  stored = await storeSignals();
  emptyPath = mkdtempSync(join(tmpdir(), 'relay-cli-empty-'));
});

afterAll(() => {
  stored.remove();
  rmdirSync(emptyPath);
});

const here = (...args: string[]) => [...args, '--data', stored.folder.path];

test.each(['', 'eu central'])('a stack in no region, %j, is told what to set', async (region) => {
  const failure = await runForFailure(['signals', '--stack', 'trading-relay', '--region', region]);

  expect(failure).toMatchObject({ exitCode: 1, code: 'aws_region_missing' });
});

describe('a wrong command line', () => {
  test('ends with 2 and a reason on one line', async () => {
    const failures = await Promise.all(
      [
        ['singals'],
        ['signals', '--nope'],
        ['signal'],
        ['signals', '--limit', '0'],
        ['signals', '--status', 'lost'],
        ['signals', '--from', 'yesterday'],
        ['report', '--from', 'yesterday'],
        ['webhook', 'nobody'],
        ['limits', 'main', '--account', 'rehearsal'],
        ['pause', '--reason', ' '],
        ['cancel', 'BTC_USDT'],
        ['cancel', 'BTC_USDT', '--order-id', '1', '--client-order-id', 'a'],
        ['paper', 'price', 'BTC_USDT', '6e'],
        ['paper', 'fault', 'earthquake'],
        ['paper', 'fault', 'refuse', '--probability', '1.5'],
      ].map((args) => runForFailure(here(...args))),
    );

    expect(failures.map(({ exitCode, code }) => `${exitCode} ${code}`)).toEqual(Array(15).fill('2 usage'));
    expect(failures.map(({ message }) => message)).toEqual([
      expect.stringMatching(/^unknown command 'singals' .*signals/),
      expect.stringContaining("'--nope'"),
      expect.stringContaining("'id'"),
      expect.stringMatching(/'0' .* whole number from 1 to 1000/),
      expect.stringMatching(/'lost' .* unknown/),
      expect.stringMatching(/'yesterday' .* in your time zone, or with a Z at its end in UTC, like 2026/),
      expect.stringMatching(/'yesterday' .* in UTC, like 2026/),
      expect.stringContaining('"nobody"'),
      expect.stringMatching(/two accounts are named: "main" and, with --account, "rehearsal"/),
      expect.stringContaining('reason'),
      expect.stringContaining('no order is named'),
      expect.stringMatching(/'--order-id <n>' .* '--client-order-id <id>'/),
      expect.stringMatching(/'6e' .* positive decimal/),
      expect.stringMatching(/'earthquake' .* drop_after/),
      expect.stringMatching(/'1.5' .* from 0 to 1/),
    ]);
    expect(failures.filter(({ message, action }) => message.includes('\n') || action === '')).toEqual([]);
  });

  test('ends with 2 and shows the help when there is no command at all', async () => {
    const { exitCode, stdout, stderr } = await runCli([]);

    expect(exitCode).toBe(2);
    expect(stdout).toBe('');
    expect(stderr).toMatch(/^Usage: relay <command>/);
  });

  test('ends with 2 when help was asked for of a command that does not exist', async () => {
    expect(await runForFailure(['help', 'nonsense'])).toMatchObject({
      exitCode: 2,
      code: 'usage',
      message: "unknown command 'nonsense'",
    });
  });

  test('ends with 0 when help was asked for', async () => {
    const { exitCode, stdout, stderr } = await runCli(['paper', 'fault', '--help']);

    expect(exitCode).toBe(0);
    expect(stdout).toMatch(/^Usage: relay paper fault/);
    expect(stderr).toBe('');
  });
});

describe('help', () => {
  test.each([[], ['paper'], ['signals'], ['report'], ['export']])(
    'fits into a terminal of 80 columns: %s',
    async (...args: string[]) => {
      const { stdout } = await runCli([...args, '--help'], '', { width: 80 });

      expect(stdout.split('\n').filter(({ length }) => length > 80)).toEqual([]);
    },
  );
});

describe('a missing relay', () => {
  test('that was never started leaves the folder unchanged', async () => {
    const failures = await Promise.all(
      [['webhook'], ['send', '-'], ['signals'], ['pause'], ['ping'], ['balance'], ['paper', 'state']].map(
        (args) => runForFailure([...args, '--data', emptyPath]),
      ),
    );

    expect(failures).toEqual(
      Array(7).fill({
        exitCode: 1,
        code: 'never_started',
        message: `no relay was ever started with the data folder "${emptyPath}"`,
        issues: [],
        action:
          'Start one with `npm start`, or name another folder with --data, or a stack on AWS with --stack.',
      }),
    );
    expect(readdirSync(emptyPath)).toEqual([]);
  });

  test('that is not running is reported', async () => {
    const failures = await Promise.all(
      [['send', '-'], ['ping'], ['balance'], ['paper', 'faults']].map((args) => runForFailure(here(...args))),
    );

    expect(failures.map(({ exitCode, code, message }) => `${exitCode} ${code}: ${message}`)).toEqual([
      '1 not_running: the relay at http://127.0.0.1:1 is not running',
      '1 not_running: the exchange at http://127.0.0.1:1 is not running',
      '1 not_running: the exchange at http://127.0.0.1:1 is not running',
      '1 not_running: the paper exchange at http://127.0.0.1:1 is not running',
    ]);
    expect(failures.map(({ action }) => action)).toEqual(
      Array(4).fill(`Start it with \`npm start -- --data ${stored.folder.path}\`.`),
    );
  });
});

test('a backup that is there is named, and so is one that is not', async () => {
  const { configPath, missing } = { configPath: shippedConfig, missing: join(emptyPath, 'none.db') };

  expect(await runForFailure(here('backup', configPath))).toMatchObject({
    code: 'store_unavailable',
    message: `"${configPath}" exists already, and it was not changed`,
    action: 'Name a file that does not exist yet.',
  });
  expect(await runForFailure(here('restore', missing))).toMatchObject({
    code: 'store_unavailable',
    message: `there is no file "${missing}", and nothing was changed`,
    action: 'Name a file that `backup` wrote.',
  });
});

test('a folder without secrets is named', async () => {
  const folder = createDataFolder(mkdtempSync(join(tmpdir(), 'relay-cli-bare-')));
  writeRun(folder, { relayUrl: 'http://127.0.0.1:1', exchangeUrl: 'http://127.0.0.1:1', dialect: 'live' });
  const failures = await Promise.all(
    [['webhook'], ['balance']].map((args) => runForFailure([...args, '--data', folder.path])),
  );
  rmSync(folder.path, { recursive: true });

  const expected = {
    exitCode: 1,
    code: 'secrets_missing',
    message: `there is no secrets file ${folder.secretsPath}`,
  };
  expect(failures).toEqual([expect.objectContaining(expected), expect.objectContaining(expected)]);
});

test('a failure prints what happened and what to do, and nothing else', async () => {
  const { exitCode, stdout, stderr } = await runCli(here('signal', 'nope'));

  expect(exitCode).toBe(1);
  expect(stdout).toBe('');
  expect(stderr).toBe(
    'error: the ledger has no signal "nope" of main or rehearsal\n`npx relay signals` lists the ids.\n',
  );
});

test('a failure and a response keep to the width of the screen', async () => {
  const screen = { width: 40 };
  const failed = await runCli(here('signal', 'nope'), '', screen);
  const paused = await runCli(here('pause', 'rehearsal'), '', screen);
  await runCli(here('resume', 'rehearsal'));

  expect(failed.stderr).toBe(
    'error: the ledger has no signal "nope"\nof main or rehearsal\n`npx relay signals` lists the ids.\n',
  );
  expect(paused.stdout.split('\n').slice(-4)).toEqual([
    'An order that rests at the exchange may',
    'still fill: `npx relay orders` lists it,',
    '`npx relay cancel` ends it.',
    '',
  ]);
});

test('an alert file that cannot be read is named', async () => {
  expect(await runForFailure(here('send', '/nowhere/alert.json'))).toMatchObject({
    exitCode: 1,
    code: 'file_unreadable',
    message: '"/nowhere/alert.json" cannot be read (ENOENT)',
  });
});

test('a reader that stops early causes no failure', async () => {
  const child = spawn(process.execPath, [mainPath, ...here('signals')], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  child.stdout.destroy();
  const [stderr, [exitCode]] = await Promise.all([text(child.stderr), once(child, 'close')]);

  expect(stderr).toBe('');
  expect(exitCode).toBe(0);
});

test.each([
  ['token rotate', ['token', 'rotate', 'main'], ''],
  ['keys set', ['keys', 'set', 'main'], 'paper-key-2\npaper-secret-2\n'],
])('%s on a full disk says so, and leaves the secrets unchanged', async (_, args, input) => {
  const { secretsPath, path } = stored.folder;
  const before = readFileSync(secretsPath, 'utf8');
  // Not a byte may be written to any file, as on a full disk.
  const limited = ['-c', 'ulimit -f 0; exec "$0" "$@"', process.execPath, 'cli/main.ts', '--json'];
  const child = spawn('bash', [...limited, ...here(...args)]);
  child.stdin.end(input);
  const [stderr, [exitCode]] = await Promise.all([text(child.stderr), once(child, 'close')]);

  const { error } = JSON.parse(stderr) as { error: { code: string; message: string; action: string } };
  expect([exitCode, error.code]).toEqual([1, 'store_unavailable']);
  expect(error.message).toContain(secretsPath);
  expect(error.message).toContain('the tokens and keys stored before stay valid');
  expect(error.action).toMatch(/^Check the disk/);
  expect(readFileSync(secretsPath, 'utf8')).toBe(before);
  expect(readdirSync(path).filter((name) => name.endsWith('new'))).toEqual([]);
});

test('backup on a full disk says so, and leaves no file', async () => {
  const file = join(stored.folder.path, 'backup.db');
  const limited = ['-c', 'ulimit -f 0; exec "$0" "$@"', process.execPath, 'cli/main.ts', '--json'];
  const child = spawn('bash', [...limited, ...here('backup', file)]);
  const [stderr, [exitCode]] = await Promise.all([text(child.stderr), once(child, 'close')]);

  expect([exitCode, JSON.parse(stderr)]).toMatchObject([1, { error: { code: 'store_unavailable' } }]);
  expect(readdirSync(stored.folder.path).filter((name) => name.startsWith('backup'))).toEqual([]);
});
