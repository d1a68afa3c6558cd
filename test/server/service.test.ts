import { execFile, spawn } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { type LivePlace, openLivePlace } from '../support/live-place.ts';
import { readProjectFile } from '../support/project-files.ts';

const run = promisify(execFile);
const unit = readProjectFile('infra/server/trading-relay.service');

describe('the unit of systemd', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'relay-unit-'));
    // The Node of this machine may stand elsewhere.
    writeFileSync(join(folder, 'trading-relay.service'), unit.replace('/usr/bin/node', process.execPath));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  test('is accepted without a warning', async () => {
    const { stdout, stderr } = await run('systemd-analyze', [
      'verify',
      '--man=no',
      join(folder, 'trading-relay.service'),
    ]);

    expect([stdout, stderr.replaceAll(/^(?!.*trading-relay).*\n/gm, '')]).toEqual(['', '']);
  });

  test('a unit with a mistake is not', async () => {
    const path = join(folder, 'trading-relay.service');
    writeFileSync(path, unit.replace('ProtectSystem=strict', 'ProtectSystem=sometimes'));
    const { stderr } = await run('systemd-analyze', ['verify', '--man=no', path]).catch((error) => error);

    expect(stderr).toContain('Failed to parse protect system value');
  });

  // test/infra/local/live.test.ts has the exit status of such a start.
  test('does not try a start again that was refused', () => {
    expect(unit).toMatch(/^Restart=on-failure$/m);
    expect(unit).toMatch(/^RestartPreventExitStatus=78$/m);
  });

  test('is exposed by 1.5 of 10 at most', async () => {
    const judge = (threshold: string) =>
      run('systemd-analyze', [
        'security',
        '--offline=yes',
        `--threshold=${threshold}`,
        join(folder, 'trading-relay.service'),
      ]);

    expect((await judge('15')).stdout).toContain('Overall exposure level for trading-relay.service');
    await expect(judge('5')).rejects.toThrow('Command failed');
  });
});

describe('the compose file', () => {
  const [relay = '', caddy = ''] = readProjectFile('infra/server/compose.yaml').split(/^ {2}caddy:$/m);
  /** As compose reads it when nobody has set a variable but the domain. */
  const settings = Object.fromEntries(
    Array.from(relay.matchAll(/^ {6}(RELAY_\w+): (.*)$/gm), ([, name = '', value = '']) => [
      name,
      value.replace(/\$\{RELAY_DOMAIN:\?[^}]*\}/, 'relay.example.com').replace(/\$\{\w+:-([^}]*)\}/, '$1'),
    ]),
  );

  test('believes the address of its Caddy, and no other', () => {
    const [, address] = /ipv4_address: (\S+)/.exec(caddy) ?? [];

    expect(settings['RELAY_REVERSE_PROXY']).toBe(address);
    expect(relay).toContain(`ipv4_address: ${/RELAY_UPSTREAM: ([\d.]+):8080/.exec(caddy)?.[1]}`);
  });

  test('has settings with which a live relay starts', async () => {
    const place = await openLivePlace();
    await (await place.start()).exitCode;
    place.storeKeys();

    const started = await place.start(['--live', '--no-page'], settings);

    expect(Object.keys(settings)).toHaveLength(4);
    expect(started.isReady).toBe(true);
    await place.close();
  });
});

describe('the watchdog', () => {
  let place: LivePlace;
  beforeEach(async () => {
    place = await openLivePlace();
    await (await place.start()).exitCode;
    place.storeKeys();
  });
  afterEach(() => place.close());

  test('tells systemd that the relay is ready, again and again that it is alive, and that it stops', async () => {
    const path = join(place.folder, 'notify');
    const listener = spawn('python3', ['test/server/notify-listener.py', path], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const words: string[] = [];
    const told = new EventEmitter();
    createInterface({ input: listener.stdout }).on('line', (word) => {
      words.push(word);
      told.emit('word');
    });
    const count = (word: string) => words.filter((one) => one === word).length;
    while (count('listening') < 1) await once(told, 'word');

    const relay = await place.start(['--live'], { NOTIFY_SOCKET: path, WATCHDOG_USEC: '600000' });
    while (count('WATCHDOG=1') < 3) await once(told, 'word');
    await relay.stop();
    while (count('STOPPING=1') < 1) await once(told, 'word');
    listener.kill();

    expect([count('READY=1'), count('STOPPING=1')]).toEqual([1, 1]);
    expect(words.slice(0, 2)).toEqual(['listening', 'READY=1']);
  });

  test('asks a URL while the relay is ready', async () => {
    const asked = Promise.withResolvers<string | undefined>();
    const server = createServer((request, response) => {
      asked.resolve(request.url);
      response.end();
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;

    const relay = await place.start(['--live'], { RELAY_PING_URL: `http://127.0.0.1:${port}/watch-1` });

    expect([relay.isReady, await asked.promise]).toEqual([true, '/watch-1']);
    server.close();
  });
});
