import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  closeSync,
  constants,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { DatabaseSync } from 'node:sqlite';
import { text } from 'node:stream/consumers';
import { stripVTControlCharacters } from 'node:util';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { openSqlite } from '../../../lib/base/sqlite.ts';
import { createDataFolder, locateDataFolder, readRun } from '../../../lib/host/data-folder.ts';
import { createFileSecrets } from '../../../lib/host/file-secrets.ts';
import { createSqliteLedger } from '../../../lib/ledger/sqlite-ledger.ts';

/** Long enough for any start; a start that spins is ended after it. */
const patienceMs = 30_000;

describe('npm start', () => {
  let data: string;
  let child: ChildProcess | null = null;
  beforeEach(() => {
    data = mkdtempSync(join(tmpdir(), 'relay-start-'));
  });
  afterEach(async () => {
    if (child !== null && child.exitCode === null && child.signalCode === null) {
      child.kill('SIGKILL');
      await once(child, 'exit');
    }
    child = null;
    rmSync(data, { recursive: true });
  });

  function run(folder: string, environment: Readonly<Record<string, string>> = {}) {
    const started = spawn(process.execPath, argumentsFor(folder), {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, ...environment },
      timeout: patienceMs,
      killSignal: 'SIGKILL',
    });
    child = started;
    return started;
  }

  function argumentsFor(folder: string): readonly string[] {
    return [
      'bin/run.cjs',
      'infra/local/main.ts',
      '--port',
      '0',
      '--paper-port',
      '0',
      '--data',
      folder,
      '--frozen',
    ];
  }

  /** @returns its output until it is ready */
  async function start(): Promise<readonly string[]> {
    const { stdout } = run(data);
    const lines: string[] = [];
    for await (const line of createInterface({ input: stdout })) {
      lines.push(stripVTControlCharacters(line));
      if (line === 'ready') break;
    }
    stdout.resume();
    return lines;
  }

  /** @returns exit code and output of a start that fails */
  async function startInVain(
    folder = data,
    environment: Readonly<Record<string, string>> = {},
  ): Promise<{ exitCode: number | null; said: string }> {
    const started = run(folder, environment);
    const exited = once(started, 'exit') as Promise<[number | null]>;
    const [said, [exitCode]] = await Promise.all([text(started.stderr), exited]);
    return { exitCode, said };
  }

  test('runs even if its addresses cannot be recorded, and says so', async () => {
    // A folder in its place can be written as little as a file on a full disk.
    mkdirSync(join(data, 'run.json'));

    const lines = await start();

    expect(lines.at(-1)).toBe('ready');
    expect(lines.filter((line) => line.includes('run.json could not be written'))).toHaveLength(1);
  });

  test('goes on when its console cannot be written, and says so once in its log', async () => {
    const full = openSync('/dev/full', 'w');
    child = spawn(process.execPath, argumentsFor(data), {
      stdio: ['ignore', full, full],
      timeout: patienceMs,
      killSignal: 'SIGKILL',
    });
    closeSync(full);
    const url = await untilHealthy();

    const refusals = [];
    for (const token of ['one', 'two', 'three'])
      refusals.push((await fetch(`${url}/signals/main/${token}`, { method: 'POST', body: '{}' })).status);

    expect(refusals).toEqual([401, 401, 401]);
    expect((await fetch(`${url}/health`)).status).toBe(200);
    const log = readFileSync(join(data, 'relay.log'), 'utf8');
    expect(log.match(/the console cannot be written.*ENOSPC/g)).toHaveLength(1);
    expect(log.match(/request refused/g)).toHaveLength(3);
  });

  /** @returns the address of the relay that was started, once it responds; a start in vain ends the wait */
  async function untilHealthy(): Promise<string> {
    const started = child;
    while (started !== null && started.exitCode === null && started.signalCode === null) {
      const url = readRun(locateDataFolder(data))?.relayUrl;
      const response = url === undefined ? null : await fetch(`${url}/health`).catch(() => null);
      if (url !== undefined && response?.ok === true) return url;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    throw new Error(`the relay ended with ${started?.exitCode ?? started?.signalCode}`);
  }

  test('creates all files readable by their owner only, whatever the umask', async () => {
    await start();

    const names = [
      'relay.db',
      'paper.db',
      'lock.db',
      'secrets.json',
      'relay.db-wal',
      'relay.db-shm',
      'run.json',
    ];
    const modes = names.map((name) => [name, (statSync(join(data, name)).mode & 0o777).toString(8)]);
    expect(modes).toEqual(names.map((name) => [name, '600']));
  });

  test('closes secrets and databases that others could read, and says so', async () => {
    await start();
    child?.kill('SIGTERM');
    await once(child as ChildProcess, 'exit');
    for (const name of ['secrets.json', 'relay.db', 'paper.db']) chmodSync(join(data, name), 0o644);
    writeFileSync(join(data, 'secrets.json.new'), '{}', { mode: 0o644 });

    const said = (await start()).join('\n');

    for (const name of ['secrets.json', 'relay.db', 'paper.db']) {
      expect(statSync(join(data, name)).mode & 0o777).toBe(0o600);
      expect(said).toContain(join(data, name));
    }
    expect(said).toContain('secrets.json.new was left by');
    expect(statSync(join(data, 'secrets.json.new'), { throwIfNoEntry: false })).toBeUndefined();
  });

  test('prints the process to kill, and a kill of it stops everything', async () => {
    const lines = await start();
    const [, pid] = /^ {2}process +(\d+) /m.exec(lines.join('\n')) ?? [];

    process.kill(Number(pid), 'SIGTERM');

    expect(await once(child as ChildProcess, 'exit')).toEqual([0, null]);
    const { relayUrl, exchangeUrl } = readRun(locateDataFolder(data)) ?? { relayUrl: '', exchangeUrl: '' };
    await expect(fetch(relayUrl)).rejects.toThrow('fetch failed');
    await expect(fetch(exchangeUrl)).rejects.toThrow('fetch failed');
  });

  test('says "stopped" last, once everything has ended', async () => {
    const started = run(data);
    const exited = once(started, 'exit');
    const lines: string[] = [];

    for await (const line of createInterface({ input: started.stdout })) {
      lines.push(line);
      if (line === 'ready') started.kill('SIGTERM');
    }

    expect(lines.at(-1)).toBe('stopped');
    expect(await exited).toEqual([0, null]);
  });

  test('ends within seconds although nobody reads what it prints, and has stored what it took', async () => {
    const path = join(data, 'unread');
    execFileSync('mkfifo', [path]);
    const pipe = openSync(path, constants.O_RDWR | constants.O_NONBLOCK);
    child = spawn(process.execPath, argumentsFor(data), {
      stdio: ['ignore', pipe, 'ignore'],
      timeout: patienceMs,
      killSignal: 'SIGKILL',
    });
    await untilReady(pipe);
    fill(pipe);
    const url = await untilHealthy();
    const folder = locateDataFolder(data);
    const [token] = await createFileSecrets(folder.secretsPath).webhookTokens('main');
    const alert = { id: 'kept', ticker: 'BTCUSDT', action: 'buy', orderType: 'market', quantity: '0.001' };
    const response = await fetch(`${url}/signals/main/${token}`, {
      method: 'POST',
      body: JSON.stringify(alert),
    });
    const sinceMs = performance.now();

    child.kill('SIGTERM');

    expect(await once(child, 'exit')).toEqual([0, null]);
    expect(performance.now() - sinceMs).toBeLessThan(10_000);
    closeSync(pipe);
    expect(response.status).toBe(202);
    const file = openSqlite(folder.databasePath);
    expect(await createSqliteLedger(file).read({ account: 'main', signalId: 'kept' })).toMatchObject({
      status: 'placed',
    });
    file.close();
  });

  /** Reads what the relay prints until it is ready. */
  async function untilReady(pipe: number): Promise<void> {
    const chunk = Buffer.alloc(65_536);
    for (let said = ''; !said.includes('\nready\n'); ) {
      try {
        said += chunk.toString('utf8', 0, readSync(pipe, chunk));
      } catch {
        // Nothing is there yet.
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    }
  }

  /** Writes to a pipe until it takes not one byte more. */
  function fill(pipe: number): void {
    for (const length of [4096, 1])
      try {
        for (;;) writeSync(pipe, Buffer.alloc(length));
      } catch {
        // It is full.
      }
  }

  test.each([
    ['everything', 'no order goes out, but cancellations do.'],
    ['entries', 'nothing opens or enlarges a position, but closes go out.'],
  ] as const)('says which accounts are paused, and that %s is, before "ready"', async (kind, effect) => {
    const file = openSqlite(createDataFolder(data).databasePath);
    await createSqliteLedger(file).writePause('main', { sinceMs: 1, reason: '', kind });
    file.close();

    const lines = await start();

    expect(lines.join(' ').replaceAll(/\s+/g, ' ')).toContain(`PAUSED main: ${effect}`);
    expect(lines.join('\n')).toContain(`\`npx relay resume --data ${data}`);
    expect(lines.at(-1)).toBe('ready');
  });

  test('serves the page beside the relay, at an address without its token: this is no terminal', async () => {
    const lines = await start();
    const line = lines.find((each) => each.startsWith('  page ')) ?? '';
    const [, url = ''] =
      /(http:\/\/127\.0\.0\.1:\d+) {2}\(only a terminal gets its token\)$/.exec(line) ?? [];

    const [page, script, call] = await Promise.all([
      fetch(url),
      fetch(`${url}/page.js`),
      fetch(`${url}/api/about`),
    ]);

    expect([page.status, script.status, call.status]).toEqual([200, 200, 401]);
    expect(lines.join('\n')).not.toContain('#token=');
    expect(lines.at(-1)).toBe('ready');
  });

  test('prints its options and starts nothing for --help', async () => {
    const help = spawn(process.execPath, ['bin/run.cjs', 'infra/local/main.ts', '--help', '--data', data], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    child = help;
    const said = await text(help.stdout);

    for (const option of [
      '--port <number>',
      '--paper-port <number>',
      '--page-port <number>',
      '--no-page',
      '--data <folder>',
      '--dialect <name>',
      '--frozen',
    ])
      expect(said).toContain(`  ${option} `);
    expect(readdirSync(data)).toEqual([]);
  });

  test.each([
    ['on Ctrl-C, which the terminal and npm both send', ['SIGINT', 'SIGINT', 'SIGTERM']],
    ['when its terminal is closed', ['SIGHUP']],
  ] as const)('stops gracefully %s', async (_, signals) => {
    await start();

    for (const signal of signals) child?.kill(signal);

    expect(await once(child as ChildProcess, 'exit')).toEqual([0, null]);
  });

  test('does not start with other options than it was given when npm took some', async () => {
    const environment = { npm_lifecycle_event: 'start', npm_config_paper_port: '9000' };

    const { exitCode, said } = await startInVain(data, environment);

    expect([exitCode, said]).toEqual([
      1,
      'npm took --paper-port 9000 for itself, and nothing was started: write `npm start -- --paper-port 9000`\n',
    ]);
  });

  test('does not change the folder of a newer release, and says so in a sentence', async () => {
    const { databasePath } = createDataFolder(data);
    const database = new DatabaseSync(databasePath);
    database.exec(
      "CREATE TABLE schema_versions (store TEXT PRIMARY KEY, version INTEGER NOT NULL); INSERT INTO schema_versions VALUES ('ledger', 99)",
    );
    database.close();

    const { exitCode, said } = await startInVain();

    expect([exitCode, said]).toEqual([
      1,
      `a newer release wrote the data folder "${data}": its ledger has version 99, and this release reads at most version 10; nothing was started and nothing was changed\nRun the release that wrote it, or choose another folder with --data.\n`,
    ]);
    expect(readdirSync(data)).toEqual(['relay.db']);
  });

  test.each(['/proc/relay', '/proc/self/relay', '/dev/null', '/dev/null/relay'])(
    'refuses %s as its folder',
    async (folder) => {
      const { exitCode, said } = await startInVain(folder);

      expect([exitCode, said]).toEqual([1, expect.stringContaining(`"${folder}" cannot be created`)]);
      expect(said).toContain('--data');
    },
  );

  test('refuses a folder that is there and cannot be written', async () => {
    const { exitCode, said } = await startInVain('/proc');

    expect([exitCode, said]).toEqual([1, expect.stringContaining('"/proc" cannot be written')]);
  });

  test('shows the token of a webhook to a terminal alone', async () => {
    const greeting = (await start()).join('\n');
    const [token = ''] = await createFileSecrets(join(data, 'secrets.json')).webhookTokens('main');

    expect(token).not.toBe('');
    expect(greeting).not.toContain(token);
    expect(greeting).toContain(`npx relay webhook --data ${data}`);
  });
});
