import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { runProgram } from '../../cli/program.ts';
import { formatDecimal } from '../../lib/base/decimal.ts';
import { parseConfig } from '../../lib/host/config.ts';
import { type PaperExchange, startPaperExchange } from '../../lib/paper/server/server.ts';
import { runCli, runForFailure, runForJson } from './run-cli.ts';

let paper: PaperExchange;
let folder: string;
let path: string;
beforeEach(async () => {
  paper = await startPaperExchange({ port: 0, dialect: 'live', walk: false });
  folder = mkdtempSync(join(tmpdir(), 'relay-init-'));
  path = join(folder, 'relay.config.ts');
});
afterEach(async () => {
  await paper.close();
  rmSync(folder, { recursive: true });
});

const init = (...args: string[]) => ['init', '--out', path, '--exchange', paper.url, ...args];
const bitcoin = ['--market', 'BTC_USDT:margin:0.01:1000'];
const perpetual = ['--market', 'BTC_PERP::0.02'];

async function readWritten() {
  const { default: config } = (await import(path)) as { readonly default: unknown };
  return parseConfig(config);
}

interface Written {
  readonly written: string;
  readonly checks: readonly { readonly name: string; readonly verdict: string; readonly found: string }[];
  readonly next: readonly string[];
}

describe('init', () => {
  test('writes a configuration that loads, checked against the exchange, and says what comes next', async () => {
    const options = ['--account', 'own', '--notices', 'telegram,ntfy', ...bitcoin, ...perpetual];
    const { written, checks, next } = (await runForJson(init(...options))) as Written;
    const { settings, exchange, notices } = await readWritten();

    expect(written).toBe(path);
    expect(checks.map(({ name, verdict }) => [name, verdict])).toEqual([
      ['clock', 'ok'],
      ['markets', 'ok'],
      ['largest order in BTC_USDT', 'ok'],
      ['largest order in BTC_PERP', 'ok'],
    ]);
    expect(next).toEqual([
      `npm start -- --config ${path}`,
      `npx relay notify set telegram --config ${path}`,
      `npx relay notify set ntfy --config ${path}`,
    ]);
    expect(exchange.address).toBe(paper.url);
    expect(settings.tickers).toEqual({ BTCUSDT: 'BTC_USDT', 'BTCUSDT.P': 'BTC_PERP' });
    expect(settings.accounts['own']).toMatchObject({ mode: 'paper' });
    const { BTC_USDT, BTC_PERP } = settings.accounts['own']?.markets ?? {};
    expect([BTC_USDT?.tradesOn, BTC_USDT?.maxAmount && formatDecimal(BTC_USDT.maxAmount)]).toEqual([
      'margin',
      '0.01',
    ]);
    expect([BTC_PERP?.tradesOn, BTC_PERP?.maxNotional]).toEqual(['futures', null]);
    expect(notices.channels).toEqual(['telegram', 'ntfy']);
  });

  test('leaves a file that is there as it is, unless it is told otherwise', async () => {
    writeFileSync(path, 'mine');
    expect(await runForFailure(init(...bitcoin))).toMatchObject({ code: 'config_exists', exitCode: 1 });
    expect(readFileSync(path, 'utf8')).toBe('mine');

    await runForJson(init('--overwrite', ...bitcoin));
    expect(readFileSync(path, 'utf8')).toContain('BTC_USDT');
    expect(readFileSync(path, 'utf8')).toContain(
      "ON AWS, AND WITH `npm start -- --live`, 'live' TRADES REAL MONEY",
    );
  });

  test.each([
    ['a market that is not listed', ['--market', 'NO_SUCH:spot:1:10'], 'market NO_SUCH is not listed'],
    ['a market on another ground', ['--market', 'DBTC_DUSDT:margin:1:10'], "trades it on 'spot' only"],
    [
      'a limit below the smallest order',
      ['--market', 'BTC_USDT:margin:0.00000001:1000'],
      'no order could be placed',
    ],
  ])('writes nothing for %s', async (_, options, reason) => {
    const failure = await runForFailure(init(...options));
    expect(failure.code).toBe('not_as_the_exchange');
    expect(failure.message.replace('ticker NOSUCH → NO_SUCH', 'market NO_SUCH')).toContain(reason);
    expect(existsSync(path)).toBe(false);
  });

  test('checks what a key may read, and stores it nowhere', async () => {
    const good = (await runForJson(init('--check-key', ...bitcoin), 'paper-key\npaper-secret\n')) as Written;
    expect(good.checks.slice(-2).map(({ name, verdict }) => [name, verdict])).toEqual([
      ['key of main: main balance', 'ok'],
      ['key of main: collateral account', 'ok'],
    ]);
    expect(readFileSync(path, 'utf8')).not.toContain('paper-secret');

    const bad = await runForFailure(
      init('--overwrite', '--check-key', ...bitcoin),
      'other-key\nother-secret\n',
    );
    expect(bad.message).toContain('key of main: main balance');
    expect(JSON.stringify(bad)).not.toContain('other-secret');
  });

  test('an exchange that does not answer is named; --unchecked writes the file without it', async () => {
    const nowhere = ['init', '--out', path, '--exchange', 'http://127.0.0.1:9', ...bitcoin];
    expect((await runForFailure(nowhere)).message).toMatch(/^nothing was written: exchange: /);
    expect(await runForJson([...nowhere, '--unchecked'])).toMatchObject({ written: path, checks: [] });
  });

  test('what is restricted in the EU is written so that it loads', async () => {
    const eu = [
      'init',
      '--out',
      path,
      '--exchange',
      'eu',
      '--mode',
      'live',
      '--unchecked',
      '--market',
      'BTC_USDT:spot:0.01',
    ];
    const { next } = (await runForJson(eu)) as Written;
    const { settings } = await readWritten();
    expect(settings.accounts['main']).toMatchObject({
      region: 'eu',
      allowUnguardedMarket: true,
      maxSlippageRate: null,
    });
    expect(next).toContain(`npx cdk deploy -c config=${path}`);
    expect(next).toContain(`npx relay keys set main --stack trading-relay-prod --config ${path}`);
  });

  test.each([
    [[], 'no market is named, and there is no terminal to ask in'],
    [['--market', 'BTC_USDT'], '"BTC_USDT" is no market with the account on which it trades'],
    [['--market', 'BTCUSDT:margin'], '"BTCUSDT" is no market'],
    [['--market', 'BTC_USDT:margin:much'], '"much" is no amount'],
    [['--mode', 'real', ...bitcoin], '"real" is no mode'],
    [['--notices', 'pager', ...bitcoin], '"pager" is no channel'],
  ])('refuses %j', async (options, message) => {
    expect(await runForFailure(init(...options))).toMatchObject({ exitCode: 2, message });
  });

  test('asks in a terminal, takes what it proposes for an empty answer, and asks again after a slip', async () => {
    const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
    const told = [text(stdout), text(stderr)];
    const terminal = {
      stdin: Object.assign(stdin, { isTTY: true }),
      stdout,
      stderr,
      width: null,
      timeZone: 'UTC',
    };
    const running = runProgram([process.execPath, 'relay', 'init', '--out', path], terminal);
    // Each answer after its question, as a person gives it.
    const answers = [
      ...['', 'papr', '', paper.url, 'ETHUSDT', 'ETH_USDT', 'marginal', 'margin', 'a lot', '0.1', ''],
      ...['pager', 'slack', '', ''],
    ];
    let seen = '';
    stderr.on('data', (bytes) => {
      seen += String(bytes).replaceAll('\u001b', '');
      // A terminal moves its cursor behind the question.
      if (/(?:\]|API key|API secret): (?:\[\d+G)?$/.test(seen)) {
        seen = '';
        stdin.write(`${answers.shift() ?? ''}\n`);
      }
    });
    const exitCode = await running;
    stdout.end();
    stderr.end();
    const [out = '', asked = ''] = await Promise.all(told);

    expect([exitCode, answers]).toEqual([0, []]);
    expect(out).toContain('npm start');
    expect(asked).toContain('"papr" is no mode. Name one of: live, paper, dry-run.');
    expect(asked).toContain('"ETHUSDT" is no market. Write it as the exchange does, for example BTC_USDT.');
    expect(asked).toContain('"marginal" is no account to trade on. Name one of: spot, margin, futures.');
    expect(asked).toContain('"a lot" is no amount. Write a number above zero, with a point before decimals.');
    expect(asked).toContain('"pager" is no channel. Name one of:');
    const { settings, notices } = await readWritten();
    expect(settings.accounts['main']?.markets['ETH_USDT']).toMatchObject({ tradesOn: 'margin' });
    expect(notices.channels).toEqual(['slack']);
  });

  test('names a market in which an order may be of any size', async () => {
    const unlimited = await runCli(init('--unchecked', '--market', 'BTC_USDT:margin'));
    expect(unlimited.stdout).toContain('No limit of size: an order in BTC_USDT may be as large');

    const limited = await runCli(init('--unchecked', '--overwrite', ...bitcoin));
    expect(limited.stdout).not.toContain('No limit of size');
  });

  test('prints a table of its checks for people', async () => {
    const { stdout, exitCode } = await runCli(init(...bitcoin));
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(/ok\s+clock/);
    expect(stdout).toContain(`Wrote ${path}.`);
  });
});
