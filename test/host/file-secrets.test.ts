import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import {
  completeFileSecrets,
  createFileSecrets,
  rotateFileToken,
  storeFileKeys,
  storeFileWay,
} from '../../lib/host/file-secrets.ts';
import { createManualClock } from '../support/manual-clock.ts';

describe('the secrets file of a local run', () => {
  let folder: string;
  let path: string;
  const keysOf = (account: string) => ({ apiKey: `key-of-${account}`, apiSecret: `secret-of-${account}` });

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'relay-secrets-'));
    path = join(folder, 'secrets.json');
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  test('has a token and keys for each account, readable by the owner only', async () => {
    completeFileSecrets(path, ['main', 'other'], keysOf);
    const secrets = createFileSecrets(path);

    const [main] = await secrets.webhookTokens('main');
    const [other] = await secrets.webhookTokens('other');

    expect(main).toMatch(/^[\w-]{32}$/);
    expect(other).not.toBe(main);
    expect(await secrets.exchangeKeys('other')).toEqual({
      apiKey: 'key-of-other',
      apiSecret: 'secret-of-other',
    });
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  test('keeps the other accounts when one is added', async () => {
    completeFileSecrets(path, ['main'], keysOf);
    const before = await createFileSecrets(path).webhookTokens('main');

    completeFileSecrets(path, ['main', 'new'], keysOf);

    const secrets = createFileSecrets(path);
    expect(await secrets.webhookTokens('main')).toEqual(before);
    expect(await secrets.webhookTokens('new')).toHaveLength(1);
  });

  test('keeps the change of every process that writes at the same time', async () => {
    const writers = ['a', 'b', 'c'];
    const source = new URL('../../lib/host/file-secrets.ts', import.meta.url).href;
    const startAtMs = Date.now() + 1000;
    const ends = writers.map((name) => {
      const program = `
        import { completeFileSecrets } from '${source}';
        while (Date.now() < ${startAtMs});
        for (let count = 0; count < 5; count += 1)
          completeFileSecrets('${path}', ['${name}' + count], () => ({ apiKey: 'key', apiSecret: 'secret' }));`;
      return once(
        spawn(process.execPath, ['--input-type=module', '-e', program], { stdio: 'inherit' }),
        'exit',
      );
    });

    await Promise.all(ends);

    const names = writers.flatMap((name) => [0, 1, 2, 3, 4].map((count) => `${name}${count}`));
    expect(Object.keys(JSON.parse(readFileSync(path, 'utf8'))).toSorted()).toEqual(names);
  });

  test('is not written when nothing is missing', () => {
    completeFileSecrets(path, ['main'], keysOf);
    const before = readFileSync(path, 'utf8');
    completeFileSecrets(path, ['main'], keysOf);
    expect(readFileSync(path, 'utf8')).toBe(before);
  });

  test('is read again when another of the same size and time takes its place', async () => {
    const put = (token: string) => {
      writeFileSync(path, JSON.stringify({ main: { webhookTokens: [token], exchangeKeys: null } }));
      utimesSync(path, 1_594_297_865, 1_594_297_865);
    };
    put('withdrawn-token-1');
    const secrets = createFileSecrets(path);
    await secrets.webhookTokens('main');
    // The system's clock may count in ticks of some milliseconds.
    await new Promise((resolve) => setTimeout(resolve, 20));

    put('the-only-token-02');

    expect(await secrets.webhookTokens('main', 'newest')).toEqual(['the-only-token-02']);
  });

  test('has no secrets for an unknown account', async () => {
    completeFileSecrets(path, ['main'], keysOf);
    const secrets = createFileSecrets(path);
    expect(await secrets.webhookTokens('nobody')).toEqual([]);
    expect(await secrets.webhookTokens('__proto__')).toEqual([]);
    expect(await secrets.exchangeKeys('nobody')).toBeNull();
  });

  describe('that was changed', () => {
    const clock = createManualClock(1_000_000);
    const changed = ['one-long-enough-token', 'two-long-enough-token'];

    async function openAndChange() {
      completeFileSecrets(path, ['main'], keysOf);
      const secrets = createFileSecrets(path, clock);
      const before = await secrets.webhookTokens('main');
      const content = { main: { webhookTokens: changed, exchangeKeys: null } };
      writeFileSync(path, JSON.stringify(content));
      return { secrets, before };
    }

    test('is read at once when the newest is requested', async () => {
      const { secrets } = await openAndChange();
      expect(await secrets.webhookTokens('main', 'newest')).toEqual(changed);
      expect(await secrets.exchangeKeys('main')).toBeNull();
    });

    test('is remembered as it was for less than 100 ms', async () => {
      const { secrets, before } = await openAndChange();
      clock.advance(99);
      expect(await secrets.webhookTokens('main')).toEqual(before);
      clock.advance(1);
      expect(await secrets.webhookTokens('main')).toEqual(changed);
      expect(await secrets.exchangeKeys('main')).toBeNull();
    });

    test('is read at once when the clock was set back', async () => {
      const { secrets } = await openAndChange();
      clock.advance(-100);
      expect(await secrets.webhookTokens('main')).toEqual(changed);
    });
  });

  test('keeps a replaced token valid until its time, and no longer', async () => {
    completeFileSecrets(path, ['main', 'other'], keysOf);
    const clock = createManualClock(1_000_000);
    const secrets = createFileSecrets(path, clock);
    const before = await secrets.webhookTokens('main');
    const other = await secrets.webhookTokens('other');

    rotateFileToken(path, 'main', 1_060_000);
    const during = await secrets.webhookTokens('main', 'newest');
    clock.advance(60_000);
    const after = await secrets.webhookTokens('main');

    expect(during).toEqual([expect.stringMatching(/^[\w-]{32}$/), ...before]);
    expect(during[0]).not.toBe(before[0]);
    expect(after).toEqual(during.slice(0, 1));
    expect(await secrets.webhookTokens('other')).toEqual(other);
    expect(await secrets.exchangeKeys('main')).toEqual(keysOf('main'));
  });

  test('drops the oldest token when the newer one is replaced before its time', async () => {
    completeFileSecrets(path, ['main'], keysOf);
    const secrets = createFileSecrets(path, createManualClock(0));
    rotateFileToken(path, 'main', 60_000);
    const [second] = await secrets.webhookTokens('main');

    rotateFileToken(path, 'main', 60_000);

    expect(await secrets.webhookTokens('main', 'newest')).toEqual([expect.any(String), second]);
  });

  test('replaces the exchange keys of an account and keeps its tokens', async () => {
    completeFileSecrets(path, ['main'], keysOf);
    const secrets = createFileSecrets(path);
    const tokens = await secrets.webhookTokens('main');

    storeFileKeys(path, 'main', { apiKey: 'another', apiSecret: 'pair' });

    expect(await secrets.exchangeKeys('main', 'newest')).toEqual({ apiKey: 'another', apiSecret: 'pair' });
    expect(await secrets.webhookTokens('main')).toEqual(tokens);
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  test('refuses a change for an unknown account', () => {
    completeFileSecrets(path, ['main'], keysOf);

    for (const change of [
      () => rotateFileToken(path, '__proto__', 1),
      () => storeFileKeys(path, 'nobody', keysOf('nobody')),
    ])
      expect(change).toThrow(expect.objectContaining({ code: 'secrets_missing' }));
  });

  test.each(['secrets.json.new', 'secrets.json.0a1b2c3d4e5f.new'])(
    'is readable by its owner only, whatever the mode of a leftover %s',
    (leftOver) => {
      completeFileSecrets(path, ['main'], keysOf);
      writeFileSync(join(folder, leftOver), '{}');
      chmodSync(join(folder, leftOver), 0o644);

      rotateFileToken(path, 'main', 60_000);

      expect(statSync(path).mode & 0o777).toBe(0o600);
    },
  );

  test('that cannot be created is an error with its path', () => {
    expect(() => completeFileSecrets('/proc/self/secrets.json', ['main'], keysOf)).toThrow(
      expect.objectContaining({
        code: 'store_unavailable',
        message: expect.stringContaining('/proc/self/secrets.json could not be written'),
      }),
    );
  });

  const asRoot = process.getuid?.() === 0 ? test : test.skip;

  asRoot('keeps its owner and group when root changes it', () => {
    completeFileSecrets(path, ['main'], keysOf);
    chownSync(path, 4711, 4712);

    rotateFileToken(path, 'main', 1);
    storeFileKeys(path, 'main', keysOf('another'));

    const { uid, gid, mode } = statSync(path);
    expect([uid, gid, mode & 0o777]).toEqual([4711, 4712, 0o600]);
  });

  asRoot('has the owner of its folder when root creates it, and so has its lock', () => {
    chownSync(folder, 4711, 4712);

    completeFileSecrets(path, ['main'], keysOf);

    for (const made of [path, `${path}.lock`]) {
      const { uid, gid } = statSync(made);
      expect([made, uid, gid]).toEqual([made, 4711, 4712]);
    }
  });

  asRoot('of another user is not replaced by one who cannot give it back', () => {
    completeFileSecrets(path, ['main'], keysOf);
    const before = readFileSync(path, 'utf8');
    chownSync(folder, 4711, 4712);
    const source = new URL('../../lib/host/replace-file.ts', import.meta.url).href;
    const program = `
      const { replaceFile } = await import('${source}');
      // From here on, no folder above must be entered.
      process.chdir('${folder}');
      process.setgid(4712);
      process.setuid(4711);
      try { replaceFile('secrets.json', 'other'); } catch (error) { console.log(error.message); }`;

    const { stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', program]);

    expect(String(stdout)).toContain('it belongs to another user (number 0)');
    expect(readFileSync(path, 'utf8')).toBe(before);
  });

  test('that cannot be read is an error that names the cause', async () => {
    completeFileSecrets(path, ['main'], keysOf);
    const secrets = createFileSecrets(path);
    rmSync(path);
    const gone = await secrets.webhookTokens('main', 'newest').catch(String);
    mkdirSync(path);
    const unreadable = await secrets.webhookTokens('main', 'newest').catch(String);
    rmSync(path, { recursive: true });

    expect(gone).toContain('ENOENT');
    expect(unreadable).toContain('EISDIR');
    expect(unreadable).not.toContain('as JSON');
  });

  test('that can no longer be read leaves the ways of the notices as they were known', async () => {
    completeFileSecrets(path, ['main'], keysOf);
    const way = { url: 'https://127.0.0.1/hook', key: `whsec_${Buffer.alloc(32).toString('base64')}` };
    storeFileWay(path, 'webhook', way);
    const clock = createManualClock(1_000_000);
    const secrets = createFileSecrets(path, clock);
    await secrets.heldSecrets();
    writeFileSync(path, '{"main"');
    clock.advance(1_000);

    expect(await secrets.noticeWays()).toEqual({ webhook: way });
    await expect(secrets.webhookTokens('main')).rejects.toMatchObject({ code: 'secrets_missing' });
  });

  test.each([
    '{"main": {"webhookTokens": ["sesame-open-secret"',
    '{"main": {"webhookTokens": ["sesame"], "exchangeKeys": null}}',
  ])('that is invalid is an error with its path and without its contents', async (contents) => {
    writeFileSync(path, contents);
    const failure = await createFileSecrets(path)
      .webhookTokens('main')
      .catch((error: Error) => error);
    expect(failure).toMatchObject({ code: 'secrets_missing' });
    expect(String(failure)).toContain('secrets.json');
    expect(String(failure)).not.toContain('sesame');
  });
});
