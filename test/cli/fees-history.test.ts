import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { parse } from 'csv-parse/sync';
import { runCli, runForFailure, runForJson } from './run-cli.ts';
import { dayMs, openSnapshotFolder, type StoredSnapshots, startMs, storeFees } from './stored-snapshots.ts';

describe('the history of fees', () => {
  let stored: StoredSnapshots;

  beforeAll(async () => {
    stored = openSnapshotFolder();
    await storeFees(stored.store);
  });

  afterAll(() => stored.remove());

  test('shows how long each version was valid and what changed', async () => {
    const { stdout } = await runCli(stored.here('fees', 'history', 'btc'));

    expect(stdout.split('\n')).toEqual([
      'transfer fees of BTC for account main',
      '',
      'from (UTC)        until (UTC)       deposit fee  withdrawal fee  what changed',
      '───────────────────────────────────────────────────────────────────────────────────────────────',
      '2024-03-01 00:00  2024-03-06 00:00  none         0.0004          first seen',
      '2024-03-06 00:00  2024-03-07 00:00  none         0.0005          withdraw fixed 0.0004 → 0.0005',
      '2024-03-07 00:00  2024-03-21 00:00  none         closed          withdraw open → closed',
      '2024-03-21 00:00  2024-03-31 00:00  –            –               is no longer listed',
      '2024-03-31 00:00  now               none         0.0003          is listed again',
      '',
    ]);
  });

  test('is CSV with a column for each term', async () => {
    const { stdout } = await runCli(stored.here('fees', 'history', 'BTC', '--format', 'csv'));

    const records: Record<string, string>[] = parse(stdout, { columns: true });
    expect(records).toHaveLength(5);
    expect(records[1]).toEqual({
      ticker: 'BTC',
      'from (UTC)': '2024-03-06 00:00:00',
      'until (UTC)': '2024-03-07 00:00:00',
      listed: 'yes',
      'deposit open': 'yes',
      'deposit min fee': '0',
      'deposit max fee': '0',
      'deposit per cent': '0',
      'deposit fixed': '0',
      'deposit min amount': '0.001',
      'deposit max amount': '50',
      'withdraw open': 'yes',
      'withdraw min fee': '0',
      'withdraw max fee': '0',
      'withdraw per cent': '0',
      'withdraw fixed': '0.0005',
      'withdraw min amount': '0.001',
      'withdraw max amount': '50',
    });
    expect(records[2]).toMatchObject({ 'withdraw open': 'no', 'withdraw fixed': '0.0005' });
    expect(records[3]).toMatchObject({ listed: 'no', 'deposit open': '', 'withdraw fixed': '' });
    expect(records[4]).toMatchObject({ 'until (UTC)': '', 'withdraw fixed': '0.0003' });
  });

  test('is a document for programs, wherever the account is named', async () => {
    const [document, other] = await Promise.all([
      runForJson(stored.here('fees', 'history', 'ETH')),
      runForJson(stored.here('fees', '--account', 'main', 'history', 'ETH', '--format', 'json')),
    ]);

    expect(document).toMatchObject({
      account: 'main',
      ticker: 'ETH',
      versions: [
        {
          fromMs: startMs,
          untilMs: null,
          change: 'first seen',
          fees: { canWithdraw: true, withdraw: { fixed: '0.002' } },
        },
      ],
    });
    expect(other).toEqual(document);
  });

  test('distinguishes a ticker without records from a relay without records', async () => {
    const [unknown, none] = await Promise.all([
      runForFailure(stored.here('fees', 'history', 'NOPE')),
      runForFailure(stored.here('fees', 'history', 'BTC', '--account', 'rehearsal')),
    ]);

    expect(unknown).toMatchObject({ exitCode: 1, code: 'unknown_ticker' });
    expect(none).toMatchObject({ exitCode: 1, code: 'nothing_kept' });
    expect(none.action).toContain('snapshots.fees in relay.config.ts');
  });

  test('is exported for spreadsheets, every ticker of it', async () => {
    const { stdout } = await runCli(stored.here('export', 'fees'));

    const records: string[][] = parse(stdout);
    expect(records.map(([ticker, from]) => [ticker, from])).toEqual([
      ['ticker', 'from (UTC)'],
      ['BTC', '2024-03-01 00:00:00'],
      ['BTC', '2024-03-06 00:00:00'],
      ['BTC', '2024-03-07 00:00:00'],
      ['BTC', '2024-03-21 00:00:00'],
      ['BTC', '2024-03-31 00:00:00'],
      ['ETH', '2024-03-01 00:00:00'],
    ]);
  });

  test('is exported for the versions that were valid in the range', async () => {
    const range = ['--from', '2024-03-06', '--to', '2024-03-06'];
    const { stdout } = await runCli(stored.here('export', 'fees', ...range, '--format', 'jsonl'));

    const lines = stdout.trimEnd().split('\n');
    const documents: unknown[] = lines.map((line) => JSON.parse(line));
    expect(documents).toMatchObject([
      { account: 'main', ticker: 'BTC', fromMs: startMs + 5 * dayMs, untilMs: startMs + 6 * dayMs },
      { account: 'main', ticker: 'ETH', fromMs: startMs, untilMs: null },
    ]);
  });
});
