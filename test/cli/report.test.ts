import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { parse } from 'csv-parse/sync';
import { openSqlite } from '../../lib/base/sqlite.ts';
import { createDataFolder, type DataFolder, writeRun } from '../../lib/host/data-folder.ts';
import { completeFileSecrets } from '../../lib/host/file-secrets.ts';
import { createSqliteExecutions } from '../../lib/ledger/sqlite-executions.ts';
import { createSqliteLedger } from '../../lib/ledger/sqlite-ledger.ts';
import { dayMs, recordSession } from '../reports/recorded-session.ts';
import { runCli, runForFailure, runForJson } from './run-cli.ts';

let folder: DataFolder;
beforeAll(async () => {
  folder = createDataFolder(mkdtempSync(join(tmpdir(), 'relay-report-')));
  completeFileSecrets(folder.secretsPath, ['main', 'rehearsal'], () => ({
    apiKey: 'key',
    apiSecret: 'secret',
  }));
  writeRun(folder, { relayUrl: 'http://127.0.0.1:1', exchangeUrl: 'http://127.0.0.1:1', dialect: 'live' });
  const file = openSqlite(folder.databasePath);
  await recordSession(createSqliteLedger(file), createSqliteExecutions(file));
  file.close();
});
afterAll(() => rmSync(folder.path, { recursive: true }));

const day = ['--from', '2026-11-20', '--to', '2026-11-20'];
const here = (...args: string[]) => [...args, '--data', folder.path];

async function print(args: readonly string[], screen = {}): Promise<string> {
  const { stdout, stderr, exitCode } = await runCli(here(...args), '', screen);
  expect([exitCode, stderr]).toEqual([0, '']);
  return stdout;
}

describe('report', () => {
  test('shows what was filled, how fast, at which cost and with which result, and explains each figure', async () => {
    expect(await print(['report', 'main', ...day], { width: 80 })).toBe(
      `report of account main, 2026-11-20 00:00 to 2026-11-20 23:59 UTC

market    in    signals  placed  filled  in part   alert to order  order to fill
                                                      (p50 / p95)    (p50 / p95)
────────────────────────────────────────────────────────────────────────────────
BTC_PERP  USDT        5       4       3        1   95 ms / 120 ms  35 ms / 4.9 s
ETH_USDT  USDT        2       2       2        0   90 ms / 110 ms  25 ms / 45 ms
SOL_PERP  USDT        1       1       1        0  200 ms / 200 ms  50 ms / 50 ms
total     USDT        8       7       6        1  100 ms / 200 ms  40 ms / 4.9 s

market    deals      turnover  slippage   in money    orders      fees paid
                                                    compared
───────────────────────────────────────────────────────────────────────────
BTC_PERP      6    76814 USDT  +2.48 bp    +8 USDT    3 of 4   41.1587 USDT
ETH_USDT      3  12194.3 USDT  +0.83 bp  +0.5 USDT    1 of 2    0.002 ETH +
                                                                6.1938 USDT
SOL_PERP      1     1515 USDT         –          –    0 of 1   0.83325 USDT
total        10  90523.3 USDT  +2.22 bp  +8.5 USDT    4 of 7    0.002 ETH +
                                                              48.18575 USDT

market    profit before fees     fees       net  in        trades won
─────────────────────────────────────────────────────────────────────
BTC_PERP                -148  41.1587   -189.16  USDT   2 of 3 (67 %)
ETH_USDT              +199.3  12.1943   +187.11  USDT  1 of 1 (100 %)
SOL_PERP                 +15  0.83325  +14.1668  USDT  1 of 1 (100 %)
total               +66.3005  54.1863  +12.1143  USDT   4 of 5 (80 %)

p50: half of the signals took at most this long; p95: 95 of 100. From the stored
alert to the order that was sent, and on to its first fill.
Slippage above zero: filled at a worse price than the referencePrice of the
alert. In basis points (1 bp = 0.01 %) of what the deals would have been worth
at that price.
Profit: realised, at average cost, counted from the first stored fill
(2026-11-19 10:00:00 UTC). Funding is not in it. A trade is an order that closed
a position or a part of it; it is won when its deals made more than their fees.
A fee in the base currency, as spot buys pay it, counts at the price of its
deal.
`,
    );
  });

  test('lists the deals that its figures come from', async () => {
    const text = await print(['report', 'main', ...day, '--deals'], {
      width: 140,
      timeZone: 'Europe/Berlin',
    });

    expect(text).toContain('2026-11-20 00:00 to 2026-11-20 23:59 +01:00');
    expect(text).toContain(
      '2026-11-20 11:20:00    14  long-1     stop-loss 102  BTC_PERP  sell    0.26  59000    8.437 USDT         –  -265.2',
    );
  });

  test('lists the newest deal first, on two lines a deal on a narrow terminal', async () => {
    const lines = (await print(['report', 'main', ...day, '--deals'], { width: 80 })).trimEnd().split('\n');

    const start = lines.indexOf('deals, newest first') + 5;
    const deals = lines.slice(start);
    expect(deals).toHaveLength(2 * 10);
    const index = deals.findIndex((line) => / stop-loss +14 /.test(line));
    expect(deals[index - 1]).toMatch(/^2026-11-20 10:20:00 +BTC_PERP +sell +0\.26 +59000 +-265\.2$/);
    expect(deals[index]).toMatch(/^ {4}long-1 +stop-loss +14 +8\.437 USDT +–$/);
    const times = deals.filter((_, line) => line % 2 === 0).map((line) => line.slice(0, 19));
    expect(times).toEqual(times.toSorted().reverse());
    expect(Math.max(...deals.map(({ length }) => length))).toBeLessThanOrEqual(80);
  });

  test('gives a program every figure to the last digit, with the deals on demand', async () => {
    const document = await runForJson(here('report', 'main', ...day, '--by', 'strategy', '--deals'));

    expect(document).toMatchObject({
      accounts: ['main'],
      fromMs: Date.UTC(2026, 10, 20),
      untilMs: Date.UTC(2026, 10, 21),
      by: 'strategy',
      rows: [
        { group: '', profit: { net: '187.1062' } },
        { group: 'breakout', profit: { net: '-264.5823' } },
        { group: 'reversal', profit: { net: '75.4236' } },
        { group: 'swing', profit: { net: '14.16675' } },
      ],
      totals: [{ profit: { gross: '66.3005', fees: '54.18625', net: '12.11425' } }],
    });
    const { deals } = document as { readonly deals: readonly object[] };
    expect(deals).toHaveLength(10);
    expect(deals[3]).toEqual({
      account: 'main',
      market: 'BTC_PERP',
      dealId: 14,
      atMs: dayMs + 1_200_000,
      signalId: 'long-1',
      orderId: 102,
      role: 'stop_loss',
      side: 'sell',
      liquidity: 'taker',
      amount: '0.26',
      price: '59000',
      notional: '15340',
      fee: '8.437',
      feeAsset: 'USDT',
      strategy: 'breakout',
      referencePrice: '60000',
      quote: 'USDT',
      closed: '0.26',
      unmatched: '0',
      profit: '-265.2',
      feeInQuote: '8.437',
      net: '-273.637',
      slippage: null,
    });
    expect(await runForJson(here('report', 'main', ...day))).not.toHaveProperty('deals');
  });

  test('is a table of numbers for a spreadsheet, too', async () => {
    const rows = parse(await print(['report', ...day, '--by', 'strategy', '--format', 'csv']), {
      columns: true,
    });

    expect(rows[1]).toEqual({
      strategy: 'breakout',
      'quote currency': 'USDT',
      signals: '3',
      placed: '2',
      filled: '1',
      'filled in part': '1',
      'alert to order p50 (ms)': '80',
      'alert to order p95 (ms)': '120',
      'order to fill p50 (ms)': '30',
      'order to fill p95 (ms)': '4920',
      deals: '4',
      turnover: '35766',
      'filled orders': '2',
      'with reference': '2',
      'slippage (bp)': '2.94',
      slippage: '6',
      fees: '18.5823 USDT',
      'profit before fees': '-246',
      'fees in quote currency': '18.5823',
      net: '-264.5823',
      'closed trades': '2',
      won: '1',
    });
    const deals = parse(await print(['report', ...day, '--deals', '--format', 'csv']), { columns: true });
    expect(deals).toHaveLength(10);
  });

  test('says what is missing where there is nothing', async () => {
    expect(await print(['report', 'rehearsal', ...day])).toContain(
      'No signal asked for an order in this period, and none was filled. `signals` lists what the relay received for rehearsal; --from and --to choose another period.',
    );
  });

  test('knows the accounts of the configuration and of the ledger', async () => {
    expect(await runForFailure(here('report', 'mian'))).toMatchObject({
      exitCode: 2,
      message: 'the configuration has no account "mian"',
    });
  });
});

describe('an export of fills', () => {
  test('has one row for each deal, with everything a tax tool asks for', async () => {
    const text = await print(['export', 'fills', ...day]);

    const rows = parse(text, { columns: true });
    expect(rows).toHaveLength(10);
    expect(rows[6]).toEqual({
      'time (UTC)': '2026-11-20T10:50:00.135Z',
      type: 'margin',
      market: 'ETH_USDT',
      'base currency': 'ETH',
      'quote currency': 'USDT',
      side: 'buy',
      amount: '1.5',
      price: '3000',
      notional: '4500',
      fee: '0.0015',
      'fee currency': 'ETH',
      liquidity: 'taker',
      'order id': '106',
      'deal id': '17',
      'signal id': 'spot-1',
      strategy: '',
      account: 'main',
    });
    expect(rows[3]).toMatchObject({ type: 'futures', 'order id': '102', strategy: 'breakout' });
  });

  test('is a JSON document a line, too', async () => {
    const lines = (await print(['export', 'fills', ...day, '--format', 'jsonl'])).trim().split('\n');

    expect(lines).toHaveLength(10);
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({ dealId: 11, strategy: 'breakout', amount: '0.1' });
  });

  test('cannot be filtered as signals can', async () => {
    expect(
      await runForFailure(here('export', 'fills', '--market', 'BTC_PERP', '--out', 'fills.csv')),
    ).toMatchObject({
      message: '--status, --market and --text are for signals',
    });
  });
});
