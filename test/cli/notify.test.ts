import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { checkNotices } from '../../cli/checks/notice-checks.ts';
import type { Session } from '../../cli/session/session.ts';
import { parseConfig } from '../../lib/host/config.ts';
import { locateDataFolder, writeRun } from '../../lib/host/data-folder.ts';
import { firstState } from '../../lib/notices/channel-state.ts';
import { type StandIn, startStandIn, tokens } from '../notices/stand-in.ts';
import { openWorld, testConfig, type World } from '../support/world.ts';
import { runCli, runForFailure, runForJson } from './run-cli.ts';

const config = { ...testConfig, notices: { channels: ['telegram', 'slack'], tell: { heartbeat: 'off' } } };

let standIn: StandIn;
let world: World;
let folder: string;
beforeEach(async () => {
  standIn = await startStandIn();
  folder = mkdtempSync(join(tmpdir(), 'relay-notify-'));
  writeFileSync(join(folder, 'config.cjs'), `module.exports = { default: ${JSON.stringify(config)} };`);
  world = await openWorld({ dialect: 'live', notices: parseConfig(config).notices });
  const urls = { relayUrl: new URL(world.webhookUrl).origin, exchangeUrl: world.paper.url };
  writeRun(locateDataFolder(dirname(world.secretsPath)), { ...urls, dialect: 'live' });
});
afterEach(async () => {
  await world.close();
  await standIn.close();
  rmSync(folder, { recursive: true });
});

const here = (...args: string[]) => [
  ...args,
  '--data',
  dirname(world.secretsPath),
  '--config',
  join(folder, 'config.cjs'),
];

async function setBoth(): Promise<void> {
  const telegram = `${tokens.bot}\n-100200300\n${standIn.url}\n`;
  expect(await runForJson(here('notify', 'set', 'telegram'), telegram)).toMatchObject({
    stored: true,
    isOn: true,
  });
  await runForJson(here('notify', 'set', 'slack'), JSON.stringify(standIn.ways.slack));
}

describe('notify', () => {
  test('sets channels from standard input, and tries each by one request', async () => {
    await setBoth();
    const tested = await runForJson(here('notify', 'test', '--account', 'slow'));

    expect(tested).toEqual({
      sent: true,
      tests: [
        { channel: 'telegram', kind: 'sent' },
        { channel: 'slack', kind: 'sent' },
      ],
    });
    expect(standIn.requestCount()).toBe(2);
    expect(standIn.shown.telegram[0]?.text).toMatch(/^slow · a test of the notices\nnothing has happened; /);
  });

  test('keeps what opens a channel in the secrets file, and shows it nowhere', async () => {
    const run = await runCli(here('notify', 'set', 'telegram'), `${tokens.bot}\n-100200300`);

    expect(JSON.parse(readFileSync(world.secretsPath, 'utf8'))['#notices']).toEqual({
      telegram: { botToken: tokens.bot, chatId: '-100200300' },
    });
    expect(run.exitCode).toBe(0);
    expect(`${run.stdout}${run.stderr}`).not.toContain(tokens.bot);
  });

  test('forgets a channel', async () => {
    await setBoth();
    await runForJson(here('notify', 'set', 'telegram', '--forget'));
    expect(JSON.parse(readFileSync(world.secretsPath, 'utf8'))['#notices']).toEqual({
      slack: standIn.ways.slack,
    });
  });

  test('refuses what cannot be a token, without quoting it', async () => {
    const failure = await runForFailure(here('notify', 'set', 'telegram'), 'no-token-at-all\n5');
    expect(failure).toMatchObject({
      exitCode: 2,
      message: 'botToken of telegram cannot be used; nothing was stored',
    });
  });

  test('makes the key of a signed webhook, if none is given', async () => {
    const set = await runForJson(here('notify', 'set', 'webhook'), 'https://hooks.example.com/relay');
    expect(set).toMatchObject({ stored: true, isOn: false, key: expect.stringMatching(/^whsec_.{44}$/) });
  });

  test('says what a service answered, and fails', async () => {
    await setBoth();
    standIn.replies.push(
      ...Array.from({ length: 2 }, () => ({ status: 401, body: { description: 'Unauthorized' } })),
    );
    const run = await runCli(here('notify', 'test'));

    expect(run.exitCode).toBe(1);
    expect(run.stdout).toContain('it answered HTTP 401: Unauthorized');
    expect(run.stderr).toContain('telegram, slack did not take the notice');
    for (const channel of ['telegram', 'slack']) expect(run.stderr).toContain(`notify set ${channel}`);
  });

  test('says how to set what nobody has set', async () => {
    const run = await runCli(here('notify', 'test'));
    expect(run.exitCode).toBe(1);
    expect(run.stdout.replaceAll(/\s+/g, ' ')).toContain('nobody has said how telegram is reached');
  });

  test('without a channel it says how to name one', async () => {
    writeFileSync(join(folder, 'config.cjs'), `module.exports = { default: ${JSON.stringify(testConfig)} };`);
    expect(await runForFailure(here('notify', 'test'))).toMatchObject({ code: 'no_channels', exitCode: 1 });
  });
});

describe('doctor', () => {
  const checksOf = async () => {
    const { stdout } = await runCli(here('doctor', '--json'));
    const { checks } = JSON.parse(stdout) as { checks: { name: string; verdict: string; found: string }[] };
    return checks
      .filter(({ name }) => name.startsWith('notices'))
      .map(({ name, verdict, found }) => [name, verdict, found]);
  };

  test('names a channel that nobody has set, and one whose requests fail', async () => {
    await runForJson(here('notify', 'set', 'slack'), JSON.stringify(standIn.ways.slack));
    standIn.replies.push({ status: 500 });
    await world.ledger.writePause('main', { sinceMs: Date.now(), reason: 'a test', kind: 'entries' });
    await world.tell();

    expect(await checksOf()).toEqual([
      ['notices: telegram', 'fail', 'nobody has said how it is reached'],
      ['notices: slack', 'fail', 'the last request failed: it answered HTTP 500'],
    ]);
  });

  test('says when a channel told something last, and warns while it has not', async () => {
    await setBoth();
    const untold = 'nothing told yet: it is not known whether anybody is reached';
    expect(await checksOf()).toEqual([
      ['notices: telegram', 'warn', untold],
      ['notices: slack', 'warn', untold],
    ]);

    await world.ledger.writePause('main', { sinceMs: Date.now(), reason: 'a test', kind: 'entries' });
    await world.tell();

    expect(await checksOf()).toEqual([
      ['notices: telegram', 'ok', expect.stringMatching(/^last told 20/)],
      ['notices: slack', 'ok', expect.stringMatching(/^last told 20/)],
    ]);
  });
});

describe('while nobody is told', () => {
  const live = parseConfig({ ...testConfig, notices: { channels: [] } });
  const sessionOf = (kind: 'real' | 'paper', toldBesides: string | null) =>
    ({
      settings: live.settings,
      notices: { settings: live.notices, toldBesides, readState: async () => firstState },
      locateExchange: () => ({ url: 'https://exchange.test', dialect: 'live', kind }),
      target: { kind: 'local', data: '.relay' },
    }) as unknown as Session;

  test.each([
    ['live trading is a warning', 'real', null, 'warn', /^NOBODY is told .*, and main, slow trades live$/],
    ['mails of alarms are enough', 'real', 'alarms are mailed to a@b.test', 'ok', /^off; alarms are mailed/],
    ['play money is none', 'paper', null, 'ok', /^off$/],
  ] as const)('%s', async (_, kind, besides, verdict, found) => {
    expect(await checkNotices(sessionOf(kind, besides))).toMatchObject([
      { verdict, found: expect.stringMatching(found) },
    ]);
  });
});
