import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { parse } from 'csv-parse/sync';
import { runCli, runForFailure, runForJson } from './run-cli.ts';
import {
  amountsOf,
  dayMs,
  hourMs,
  openSnapshotFolder,
  type StoredSnapshots,
  startMs,
  storeBalances,
} from './stored-snapshots.ts';

describe('balances over time', () => {
  let stored: StoredSnapshots;

  beforeAll(async () => {
    stored = openSnapshotFolder();
    await storeBalances(stored.store);
  });

  afterAll(() => stored.remove());

  const fiveDays = ['balances', '--from', '2024-03-01', '--to', '2024-03-05'];

  test('are a table with a row for each step and one for the end, and a column for each ticker', async () => {
    const { stdout, exitCode } = await runCli(stored.here(...fiveDays, '--every', '1d'));

    expect(exitCode).toBe(0);
    expect(stdout.split('\n')).toEqual([
      'main balance of account main, 2024-03-01 00:00 to 2024-03-05 23:59 UTC',
      '',
      'time (UTC)         BTC  ETH      USDT',
      '─────────────────────────────────────',
      '2024-03-01 00:00  1.25    0  25000.75',
      '2024-03-02 00:00  1.25    0  25000.75',
      '2024-03-03 00:00   1.5    0  25000.75',
      '2024-03-04 00:00   1.5   20  25000.75',
      '2024-03-05 00:00   1.5   20  25000.75',
      '2024-03-05 23:00   1.5   20  25000.75',
      '',
    ]);
  });

  test('have no rows where nothing was recorded', async () => {
    const document = await runForJson(
      stored.here(
        'balances',
        '--from',
        '2024-03-03',
        '--to',
        '2024-03-03T18:00',
        '--every',
        '6h',
        '--tickers',
        'btc',
      ),
    );

    const gapDayMs = startMs + 2 * dayMs;
    const held = { BTC: '1.5', USDT: '25000.75' };
    const rowOf = (atHour: number, slotHour: number) => ({
      atMs: gapDayMs + atHour * hourMs,
      slotMs: gapDayMs + slotHour * hourMs,
      takenAtMs: gapDayMs + slotHour * hourMs + 1_234,
      held,
    });
    expect(document).toEqual({
      account: 'main',
      kind: 'main',
      fromMs: gapDayMs,
      untilMs: gapDayMs + 18 * hourMs + 1,
      everyMs: 6 * hourMs,
      tickers: ['BTC'],
      rows: [rowOf(0, 0), rowOf(6, 5), rowOf(18, 18)],
    });
  });

  test('do not begin with a snapshot from long before the range', async () => {
    const { rows } = (await runForJson(
      stored.here('balances', '--from', '2024-03-03T10:00', '--to', '2024-03-03T20:00', '--every', '2h'),
    )) as { rows: { slotMs: number }[] };

    expect(rows.map(({ slotMs }) => (slotMs - startMs) / hourMs)).toEqual([66, 68]);
  });

  test('have about thirty rows without --every', async () => {
    const { everyMs, rows } = (await runForJson(stored.here(...fiveDays))) as {
      everyMs: number;
      rows: object[];
    };

    expect(everyMs).toBe(3 * hourMs);
    // 40 steps and the end, less the three in the gap.
    expect(rows).toHaveLength(38);
  });

  test('are CSV that reads back exactly, with CRLF and without a byte order mark', async () => {
    const { stdout } = await runCli(stored.here(...fiveDays, '--every', '2d', '--format', 'csv'));

    expect(stdout).toBe(
      'time (UTC),BTC,ETH,USDT\r\n' +
        '2024-03-01 00:00:00,1.25,0,25000.75\r\n' +
        '2024-03-03 00:00:00,1.5,0,25000.75\r\n' +
        '2024-03-05 00:00:00,1.5,20,25000.75\r\n' +
        '2024-03-05 23:00:00,1.5,20,25000.75\r\n',
    );
  });

  test('of the collateral are known only if the exchange returned them, and may be negative', async () => {
    const collateral = ['balances', '--from', '2024-03-03T18:00', '--to', '2024-03-04', '--collateral'];
    const [table, csv] = await Promise.all([
      runCli(stored.here(...collateral, '--every', '12h')),
      runCli(stored.here(...collateral, '--every', '12h', '--format', 'csv')),
    ]);

    expect(table.stdout).toMatch(/^2024-03-03 18:00 +–$/m);
    expect(table.stdout).toMatch(/^2024-03-04 06:00 +-5\.50000001$/m);
    expect(parse(csv.stdout)).toEqual([
      ['time (UTC)', 'USDT'],
      ['2024-03-03 18:00:00', ''],
      ['2024-03-04 06:00:00', '-5.50000001'],
      ['2024-03-04 18:00:00', '-5.50000001'],
      ['2024-03-04 23:00:00', '-5.50000001'],
    ]);
  });

  test('contain no text that a spreadsheet takes as a formula', async () => {
    const { stdout } = await runCli(
      stored.here(
        'balances',
        '--account',
        'rehearsal',
        '--from',
        '2024-03-01',
        '--to',
        '2024-03-01',
        '--format',
        'csv',
      ),
    );

    expect(stdout.split('\r\n')[0]).toBe("time (UTC),'=1+1");
  });

  test('say so when a ticker was not held at all', async () => {
    const { stdout } = await runCli(stored.here(...fiveDays, '--tickers', 'btc,btx'));

    expect(stdout).toContain('No balance at any of these times: BTX.');
  });

  test('explain why there are none, and what to do', async () => {
    const [other, before, after, collateral] = await Promise.all([
      runCli(stored.here('balances', '--account', 'rehearsal', '--from', '2024-05-01', '--to', '2024-05-02')),
      runCli(stored.here('balances', '--from', '2020-01-01', '--to', '2020-02-01')),
      runCli(stored.here('balances', '--from', '2024-05-01', '--to', '2024-05-02', '--format', 'csv')),
      runCli(stored.here('balances', '--from', '2024-03-01', '--to', '2024-03-02', '--collateral')),
    ]);

    expect(other.stdout).toContain(
      'No balances of account rehearsal are recorded from 2024-05-01 00:00 to 2024-05-02 23:59 UTC; the newest are from 2024-03-01 00:00 UTC. Check that the relay runs',
    );
    expect(before.stdout).toContain('Choose another range.');
    // A program reads standard output.
    expect(after.stdout).toBe('time (UTC)\r\n');
    expect(after.stderr).toContain('the newest are from 2024-03-05 23:00 UTC');
    expect(collateral.stdout).toContain('The exchange returned no collateral balance');
    expect([other, before, after, collateral].map(({ exitCode }) => exitCode)).toEqual([0, 0, 0, 0]);
  });

  test.each([
    [['--from', '2024'], '--from <time>'],
    [['--from', '2024-02-30'], 'It must be a date or a time in UTC'],
    [['--to', '2024-03-01T25:00'], '--to <time>'],
    [['--from', '2024-03-05', '--to', '2024-03-01'], 'begins at 2024-03-05 00:00 UTC'],
    [['--from', '2999-01-01'], 'begins at 2999-01-01 00:00 UTC'],
    [['--every', '0h'], '--every <step>'],
    [['--every', '5 days'], 'a number of m, h, d or w'],
    [['--from', '2024-01-01', '--to', '2024-12-31', '--every', '1h'], '8784 rows'],
    [['--tickers', 'BTC,,ETH'], 'tickers with commas between'],
    [['--format', 'csv'], 'contradict'],
    [['--account', 'nobody'], 'no account "nobody"'],
  ])('cannot be asked for with %j', async (args, message) => {
    const failure = await runForFailure(stored.here('balances', ...args));

    expect(failure).toMatchObject({ exitCode: 2, code: 'usage' });
    expect(failure.message).toContain(message);
  });
});

test('a relay without recorded balances says when it records them', async () => {
  const empty = openSnapshotFolder();

  const [table, chart] = await Promise.all([
    runCli(empty.here('balances')),
    runForFailure(empty.here('balances', 'chart')),
  ]);
  empty.remove();

  expect(table.stdout).toContain('The relay records them while it runs, at the times of snapshots.balances');
  expect(chart).toMatchObject({ exitCode: 1, code: 'nothing_kept' });
  expect(chart.action).toContain('snapshots.balances');
});

test('an account without balances is reported as such, and tickers that do not fit the screen are named', async () => {
  const stored = openSnapshotFolder();
  const letters = 'ABCDEFGHIJKLMNOPQRST'.split('');
  const many = Object.fromEntries(letters.map((letter) => [`COIN${letter}`, '1.00000001']));
  const base = { slotMs: startMs, takenAtMs: startMs, collateral: null };
  await stored.store.balances.write('main', { ...base, main: amountsOf(many) });
  await stored.store.balances.write('rehearsal', { ...base, main: {} });
  const day = ['balances', '--from', '2024-03-01', '--to', '2024-03-01'];

  const [wide, nothing, chart, noChart] = await Promise.all([
    runCli(stored.here(...day)),
    runCli(stored.here(...day, '--account', 'rehearsal')),
    runCli(stored.here('balances', 'chart', ...day.slice(1))),
    runForFailure(stored.here('balances', 'chart', ...day.slice(1), '--account', 'rehearsal')),
  ]);
  stored.remove();

  const lines = wide.stdout.split('\n');
  expect(lines[2]).toBe(
    'time (UTC)             COINA       COINB       COINC       COIND       COINE       COINF       COING       COINH',
  );
  expect(lines.at(-2)).toMatch(/^Also held: COINI, .*, COINT\. Choose some with --tickers/);
  expect(nothing.stdout).toContain('Account rehearsal held nothing in its main balance');
  expect(chart.stdout.match(/^COIN.$/gm)).toEqual(['COINA', 'COINB', 'COINC', 'COIND', 'COINE']);
  expect(chart.stdout).toMatch(/^Also held: COINF, .*, COINT\. Choose some with --tickers\.$/m);
  expect(noChart.action).toBe('Account rehearsal held nothing in its main balance at any of these times.');
});
