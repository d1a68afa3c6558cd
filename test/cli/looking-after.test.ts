import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { openSqlite } from '../../lib/base/sqlite.ts';
import { digestConfig, parseConfig } from '../../lib/host/config.ts';
import { locateDataFolder } from '../../lib/host/data-folder.ts';
import { createFileSecrets, storeFileKeys } from '../../lib/host/file-secrets.ts';
import config from '../../relay.config.example.ts';
import { runCli, runForFailure, runForJson } from './run-cli.ts';
import { type RunningRelay, startRelay } from './running-relay.ts';
import { buySignal } from './stored-signals.ts';

let relay: RunningRelay;

beforeEach(async () => {
  relay = await startRelay('live');
});

afterEach(() => relay.world.close());

const dataPath = () => dirname(relay.world.secretsPath);

interface Examined {
  readonly healthy: boolean;
  readonly checks: readonly { readonly name: string; readonly verdict: string; readonly found: string }[];
}

async function examine(): Promise<{ readonly exitCode: number; readonly amiss: readonly string[] }> {
  const { exitCode, stdout } = await runCli(relay.here('doctor', '--json'));
  const { checks } = JSON.parse(stdout) as Examined;
  return {
    exitCode,
    amiss: checks.flatMap(({ name, verdict }) => (verdict === 'ok' ? [] : [`${name}: ${verdict}`])),
  };
}

/** Stores a signal that is a dead letter. In one write, or the running relay would execute it before it is one. */
function bury(signalId: string): void {
  const file = openSqlite(locateDataFolder(dataPath()).databasePath);
  const nowMs = Date.now();
  const steps = JSON.stringify([{ status: 'accepted', atMs: nowMs, note: '' }]);
  file.database
    .prepare(
      `INSERT INTO entries (account, signal_id, status, signal, market, client_order_id, fingerprint, created_at_ms,
         updated_at_ms, accepted_at_ms, steps, set_aside_at_ms)
       VALUES ('main', ?1, 'accepted', ?2, 'BTC_USDT', ?3, 'f1', ?4, ?4, ?4, ?5, ?4)`,
    )
    .run(signalId, JSON.stringify({ ...buySignal, timeMs: null }), `tr-${signalId}`, nowMs, steps);
  file.close();
}

describe('doctor', () => {
  test('has no long lines in a pipe', async () => {
    const { stdout } = await runCli(relay.here('doctor'));

    expect(Math.max(...stdout.split('\n').map(({ length }) => length))).toBeLessThanOrEqual(110);
  });

  test('finds no problem with a relay that works', async () => {
    const [examined, table] = await Promise.all([
      runForJson(relay.here('doctor')),
      runCli(relay.here('doctor')),
    ]);

    const { healthy, checks } = examined as Examined;
    expect(healthy).toBe(true);
    expect(checks.map(({ name }) => name)).toEqual([
      'relay',
      'queue',
      'dead letters',
      'exchange',
      'market orders of main',
      'market orders of rehearsal',
      'clock',
      'maintenance',
      'dialect',
      'markets',
      'key of main',
      'key of rehearsal',
      'outcomes',
      'pauses',
      'notices',
    ]);
    expect(table.stdout).toMatch(/^ok +dialect +the exchange speaks "live", as exchange\.dialect says$/m);
    expect(checks.find(({ name }) => name === 'exchange')?.found).toContain('this is the paper exchange');
    expect(checks.find(({ name }) => name === 'markets')?.found).toBe(
      'the exchange lists all 5, for 6 tickers',
    );
  });

  test('says of a pause what it stops', async () => {
    const { ledger } = relay.world;
    await ledger.writePause('main', { sinceMs: 0, reason: 'news', kind: 'entries' });
    await ledger.writePause('rehearsal', { sinceMs: 0, reason: 'news', kind: 'everything' });

    const { checks } = (await runForJson(relay.here('doctor'))) as Examined;

    expect(checks.find(({ name }) => name === 'pauses')?.found).toBe(
      'main is paused: nothing opens or enlarges a position, but closes go out; rehearsal is paused: no order goes out, but cancellations do',
    );
  });

  test('says plainly that the relay is stopped, and what to run', async () => {
    relay.pointTo({ relayUrl: 'http://127.0.0.1:1', exchangeUrl: 'http://127.0.0.1:1' });

    const { exitCode, stdout, stderr } = await runCli(relay.here('doctor', '--json'));

    const { checks } = JSON.parse(stdout) as Examined;
    expect(exitCode).toBe(1);
    expect(checks[0]).toEqual({
      name: 'relay',
      verdict: 'fail',
      found: 'stopped: nothing listens at http://127.0.0.1:1; no alert is received and no order is sent',
      advice: `Run \`npm start -- --data ${dataPath()}\` and leave it running.`,
    });
    expect(JSON.parse(stderr).error.message).toBe('the relay is stopped, and 1 more of 9 checks failed');
  });

  test('reports that the exchange speaks another dialect than configured', async () => {
    const { world, relayUrl } = relay;
    const runPath = locateDataFolder(dataPath()).runPath;
    const run = { relayUrl, exchangeUrl: world.paper.url, dialect: 'documented' };
    writeFileSync(runPath, JSON.stringify(run));
    const { exitCode, stdout } = await runCli(relay.here('doctor'), '', { width: 160 });

    expect(exitCode).toBe(1);
    expect(stdout).toMatch(
      /^fail +dialect +the exchange speaks "live", but exchange\.dialect says "documented" +Set exchange\.dialect/m,
    );
  });

  test('says that the configuration has changed since the relay was started, as `webhook` does', async () => {
    const { world, relayUrl } = relay;
    const folder = locateDataFolder(dataPath());
    const run = { relayUrl, exchangeUrl: world.paper.url, dialect: 'live' } as const;
    const changed = 'is not the one that the relay was started with';
    const found = async () => ({
      doctor: ((await runForJson(relay.here('doctor'))) as Examined).checks.find(
        ({ name }) => name === 'configuration',
      ),
      webhook: (await runCli(relay.here('webhook'))).stdout.includes(changed),
    });

    writeFileSync(folder.runPath, JSON.stringify({ ...run, configDigest: '0'.repeat(64) }));
    expect(await found()).toMatchObject({
      doctor: {
        verdict: 'warn',
        found: expect.stringContaining(changed),
        advice: expect.stringContaining('start it again'),
      },
      webhook: true,
    });
    writeFileSync(
      folder.runPath,
      JSON.stringify({ ...run, configDigest: digestConfig(parseConfig(config)) }),
    );
    expect(await found()).toEqual({ doctor: undefined, webhook: false });
  });

  test('reports a key that the exchange does not accept, and never shows it', async () => {
    const keys = { apiKey: 'a-key-of-this-test', apiSecret: 'a-secret-of-this-test' };
    storeFileKeys(relay.world.secretsPath, 'rehearsal', keys);
    const { exitCode, stdout, stderr } = await runCli(relay.here('doctor'));

    expect(exitCode).toBe(1);
    expect(stdout).toMatch(/^fail +key of rehearsal +main-balance: refused with HTTP 401/m);
    expect(stderr).toMatch(/^error: 1 of 15 checks failed: key of rehearsal$/m);
    expect(stdout + stderr).not.toContain('of-this-test');
  });

  test('reports a stopped relay, a stopped exchange, dead letters, an unknown outcome and a pause', async () => {
    relay.pointTo({ relayUrl: 'http://127.0.0.1:1', exchangeUrl: 'http://127.0.0.1:1' });
    bury('lost');
    await relay.world.ledger.writePause('rehearsal', { sinceMs: 1, reason: 'a test', kind: 'everything' });
    const key = { account: 'main', signalId: 'unsure' };
    bury('unsure');
    await relay.world.ledger.start(key, { status: 'sending', atMs: Date.now(), note: '' }, null);
    await relay.world.ledger.move(key, {
      from: 'sending',
      step: { status: 'unknown', atMs: Date.now(), note: '' },
    });

    expect(await examine()).toEqual({
      exitCode: 1,
      amiss: ['relay: fail', 'dead letters: fail', 'exchange: fail', 'outcomes: fail', 'pauses: warn'],
    });
  });
});

describe('keys set', () => {
  const keysOf = (account: string) => createFileSecrets(relay.world.secretsPath).exchangeKeys(account);

  test('says which exchange the key is for, before it is asked for', async () => {
    const { stderr } = await runCli(relay.here('keys', 'set', 'main'), '');

    expect(stderr.split('\n')[0]).toBe(
      `Key of main: this is the paper exchange (${relay.world.paper.url}): no real money. It accepts only its own keys. The one of this account is stored already: paper-key, with the secret paper-secret.`,
    );
  });

  test('takes two lines, or JSON', async () => {
    await runForJson(relay.here('keys', 'set', 'main'), 'paper-key-2\r\npaper-secret-2\r\n');
    expect(await keysOf('main')).toEqual({ apiKey: 'paper-key-2', apiSecret: 'paper-secret-2' });

    const { stdout } = await runCli(
      relay.here('keys', 'set', 'main'),
      '{ "apiKey": "paper-key", "apiSecret": "paper-secret" }',
    );
    expect(await keysOf('main')).toEqual({ apiKey: 'paper-key', apiSecret: 'paper-secret' });
    expect(stdout).toContain('The exchange key of main is stored');
    expect(stdout).not.toContain('paper-secret');
  });

  test.each([
    ['it does not know', 'a-real-key\na-real-secret\n', 'it does not know the key'],
    ['has another secret', 'paper-key\na-real-secret\n', 'the secret does not belong to the key'],
    ['is disabled', 'paper-key-3\npaper-secret-3\n', 'the key is disabled'],
    ['may only read', 'paper-key-4\npaper-secret-4\n', 'the key may read, but may not place orders'],
  ])('refuses at once a key that the paper exchange would refuse: one that %s', async (_, input, reason) => {
    const before = await keysOf('main');
    const failure = await runForFailure(relay.here('keys', 'set', 'main'), input);

    expect(failure).toMatchObject({
      exitCode: 1,
      code: 'paper_refused',
      message: `the paper exchange would refuse this key: ${reason}; nothing was stored`,
    });
    expect(`${failure.message} ${failure.action}`).not.toContain('a-real');
    expect(await keysOf('main')).toEqual(before);
  });

  test.each([
    '',
    'only-one-line',
    'a\nb\nc',
    'with space\nsecret',
    '{"apiKey":"a"}',
    '{"apiKey":"a","apiSecret":"b","more":"c"}',
    '{"apiKey":',
  ])('refuses %j and keeps what was stored', async (input) => {
    const before = await keysOf('main');
    const failure = await runForFailure(relay.here('keys', 'set', 'main'), input);

    expect(failure).toMatchObject({ exitCode: 2, code: 'usage' });
    expect(`${failure.message} ${failure.action}`).not.toMatch(/only-one-line|with space/);
    expect(await keysOf('main')).toEqual(before);
  });

  test('takes no key as an argument', async () => {
    const failure = await runForFailure(relay.here('keys', 'set', 'main', 'a-key', 'a-secret'));

    expect(failure).toMatchObject({ exitCode: 2, code: 'usage' });
  });
});

describe('token rotate', () => {
  const urlNow = async () => ((await runForJson(relay.here('webhook'))) as { url: string }).url;
  const statusOf = async (url: string) => (await fetch(url, { method: 'POST', body: '{}' })).status;

  test('makes a new URL, and says until when the old one works', async () => {
    const oldUrl = await urlNow();
    const startedAtMs = Date.now();
    const rotated = await runForJson(relay.here('token', 'rotate', 'main', '--grace', '3'));
    const newUrl = await urlNow();

    const { account, oldValidUntilMs } = rotated as { account: string; oldValidUntilMs: number };
    expect(account).toBe('main');
    expect(Math.round((oldValidUntilMs - startedAtMs) / 60_000)).toBe(180);
    expect(newUrl).not.toBe(oldUrl);
    expect([await statusOf(newUrl), await statusOf(oldUrl)]).toEqual([400, 400]);
  });

  test('without grace withdraws the old URL at once', async () => {
    const oldUrl = await urlNow();
    const { stdout } = await runCli(relay.here('token', 'rotate', 'main', '--grace', '0'));

    expect(stdout).toMatch(/^old URL +no longer works$/m);
    expect([await statusOf(await urlNow()), await statusOf(oldUrl)]).toEqual([400, 401]);
  });
});

describe('redrive', () => {
  test('has the running relay handle a dead letter after all', async () => {
    relay.world.setPrice('BTC_USDT', '60000');
    bury('revived');

    const redriven = await runForJson(relay.here('redrive'));

    expect(redriven).toEqual({
      target: relay.target,
      redriven: [
        { group: 'main.BTC_USDT', body: '{"account":"main","signalId":"revived","market":"BTC_USDT"}' },
      ],
    });
    expect((await relay.world.settled('revived')).status).toBe('placed');
    expect((await runCli(relay.here('redrive'))).stdout).toBe(
      `${relay.targetLine}The dead-letter queue is empty.\n`,
    );
  });
});

describe('which relay is meant', () => {
  test('is said by a data folder or by a stack, not by both', async () => {
    expect(await runForFailure(['signals', '--stack', 'any', '--data', 'any'])).toMatchObject({
      exitCode: 2,
      code: 'usage',
    });
  });

  test('goes with the configuration that is given', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'relay-config-'));
    const configPath = join(folder, 'other.config.ts');
    writeFileSync(
      configPath,
      `export default {
        exchange: { address: 'global', dialect: 'live' }, tickers: {}, maxLagSeconds: 60,
        accounts: { main: { mode: 'live', markets: {} } },
      };`,
    );
    const known = await runForFailure(relay.here('webhook', 'rehearsal', '--config', configPath));
    const missing = await runForFailure(relay.here('webhook', '--config', join(folder, 'none.ts')));
    const wrongPath = join(folder, 'wrong.ts');
    writeFileSync(wrongPath, 'export default {};');
    const wrong = await runForFailure(relay.here('webhook', '--config', wrongPath));
    const brokenPath = join(folder, 'broken.config.ts');
    writeFileSync(brokenPath, 'export default {\n  accounts: {}\n  tickers: {},\n};\n');
    const broken = await runForFailure(relay.here('webhook', '--config', brokenPath));
    const newPath = join(folder, 'new.config.ts');
    writeFileSync(newPath, readFileSync(configPath, 'utf8').replace('main:', 'small:'));
    const fresh = await runForFailure(relay.here('webhook', 'small', '--config', newPath));
    rmSync(folder, { recursive: true });

    expect(known).toMatchObject({ exitCode: 2, message: 'the configuration has no account "rehearsal"' });
    expect(missing).toMatchObject({ exitCode: 1, code: 'config_unreadable' });
    expect(missing.message).toMatch(/none\.ts" cannot be loaded: there is no such file$/);
    expect(wrong).toMatchObject({ exitCode: 1, code: 'config_invalid' });
    expect(broken).toMatchObject({ exitCode: 1, code: 'config_unreadable' });
    expect(broken.message).toMatch(/, at broken\.config\.ts:3$/);
    expect(fresh).toMatchObject({
      exitCode: 1,
      code: 'secrets_missing',
      message: 'account small has no webhook token yet',
      action: expect.stringMatching(/^Start the relay again: /),
    });
    expect(wrong.message).toContain(`${wrongPath} has `);
  });
});
