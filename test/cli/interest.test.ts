import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { parse } from 'csv-parse/sync';
import { runCli, runForFailure, runForJson } from './run-cli.ts';
import {
  dayMs,
  openSnapshotFolder,
  type StoredSnapshots,
  startMs,
  storePayments,
  storeRefusal,
} from './stored-snapshots.ts';

describe('interest that was imported', () => {
  let stored: StoredSnapshots;

  beforeAll(async () => {
    stored = openSnapshotFolder();
    await storePayments(stored.store);
    await storeRefusal(stored.store);
  });

  afterAll(() => stored.remove());

  const spring = ['interest', '--from', '2024-03-01', '--to', '2024-04-30'];

  test('is added up by month, exactly, and never across tickers', async () => {
    const { stdout } = await runCli(stored.here(...spring));

    expect(stdout.split('\n')).toEqual([
      'interest of account main, 2024-03-01 00:00 to 2024-04-30 23:59 UTC',
      '',
      'month    ticker  payments      amount',
      '─────────────────────────────────────',
      '2024-03  BTC            3         0.4',
      '2024-03  USDT           1   12.345678',
      '2024-04  BTC            1  0.00000001',
      'total    BTC            4  0.40000001',
      'total    USDT           1   12.345678',
      '',
      'The newest payment is from 2024-04-01 00:00 UTC.',
      '',
    ]);
  });

  test('is added up by plan or by ticker as well', async () => {
    const [byPlan, byTicker, table] = await Promise.all([
      runForJson(stored.here(...spring, '--by', 'plan')),
      runCli(stored.here(...spring, '--by', 'ticker', '--format', 'csv')),
      runCli(stored.here(...spring, '--by', 'ticker')),
    ]);

    const [planA, planB] = [1, 2].map((plan) => `1b7c3a5e-0d52-4c3f-9a41-6f0d2f6f1a0${plan}`);
    const endOfMarchMs = startMs + 31 * dayMs;
    expect(byPlan).toEqual({
      account: 'main',
      fromMs: startMs,
      untilMs: startMs + 61 * dayMs,
      by: 'plan',
      groups: [
        { group: planA, ticker: 'BTC', payments: 3, amount: '0.20000001' },
        { group: planB, ticker: 'BTC', payments: 1, amount: '0.2' },
        { group: planB, ticker: 'USDT', payments: 1, amount: '12.345678' },
      ],
      totals: [
        { ticker: 'BTC', payments: 4, amount: '0.40000001' },
        { ticker: 'USDT', payments: 1, amount: '12.345678' },
      ],
      newestMs: endOfMarchMs,
      import: {
        importedAtMs: startMs + 61 * dayMs,
        completeUntilMs: endOfMarchMs,
        gaps: [{ fromMs: startMs - 7 * dayMs, untilMs: startMs }],
        refusal: null,
      },
    });
    expect(parse(byTicker.stdout)).toEqual([
      ['ticker', 'payments', 'amount'],
      ['BTC', '4', '0.40000001'],
      ['USDT', '1', '12.345678'],
    ]);
    expect(table.stdout).toMatch(/^BTC +4 +0\.40000001\nUSDT +1 +12\.345678\n\n/m);
  });

  test('has only the groups of the range, its last moment included', async () => {
    const upToSecond = ['interest', '--from', '2024-03-01T00:00:01', '--to', '2024-03-02T00:00'];
    const { stdout } = await runCli(stored.here(...upToSecond, '--format', 'csv'));

    expect(parse(stdout)).toEqual([
      ['month', 'ticker', 'payments', 'amount'],
      ['2024-03', 'BTC', '1', '0.2'],
    ]);
  });

  test('names the periods in which payments may be missing', async () => {
    const range = ['interest', '--from', '2024-02-29', '--to', '2024-03-01'];
    const [table, csv] = await Promise.all([
      runCli(stored.here(...range)),
      runCli(stored.here(...range, '--format', 'csv')),
    ]);

    const note =
      'Payments from 2024-02-23 00:00 to 2024-02-29 23:59 UTC may be missing: the exchange no longer listed all of them when the relay imported them. Compare with its own history.';
    expect(table.stdout).toContain(note);
    expect(csv.stderr).toBe(`${note}\n`);
    expect(csv.stdout).toBe('month,ticker,payments,amount\r\n2024-03,BTC,2,0.2\r\n');
  });

  test('says until when it is imported if the range ends later', async () => {
    const later = ['--from', '2024-03-01', '--to', '2024-05-01'];
    const [table, exported] = await Promise.all([
      runCli(stored.here('interest', ...later)),
      runCli(stored.here('export', 'interest', ...later)),
    ]);

    const note =
      'Interest of account main was last imported at 2024-05-01 00:00 UTC: later payments may be missing.';
    expect(table.stdout).toContain(note);
    expect(exported.stderr).toBe(`${note}\n`);
  });

  test('is not imported for an account that the exchange refused, until the operator retries', async () => {
    const rehearsal = (...args: string[]) => stored.here('interest', ...args, '--account', 'rehearsal');

    const refused = await runCli(rehearsal());
    const retried = await runCli(rehearsal('retry'));
    const progress = await stored.store.interest.readProgress('rehearsal');
    const again = await runForJson(rehearsal('retry'));
    const unfinished = await runCli(rehearsal());

    expect(refused.stdout).toContain('No payments in this period.');
    expect(refused.stdout).toContain(
      'the exchange responded: HTTP 403 \\u001b[2J not a partner. Once the account is a partner, run `interest retry --account rehearsal`',
    );
    expect(retried.stdout).toContain('The import of account rehearsal runs again');
    expect(progress).toMatchObject({ refusal: null, completeUntilMs: null });
    expect(again).toEqual({
      target: { kind: 'local', data: expect.any(String) },
      account: 'rehearsal',
      forgotten: null,
    });
    expect(unfinished.stdout).toContain('No import of interest for account rehearsal is complete yet');
  });

  test('whose oldest payments were never listed says so', async () => {
    await stored.store.interest.writeProgress('rehearsal', {
      ...(await stored.store.interest.readProgress('rehearsal')),
      importedAtMs: startMs + 61 * dayMs,
      completeUntilMs: startMs,
      gaps: [{ fromMs: 0, untilMs: startMs }],
      refusal: null,
    });

    const early = await runCli(stored.here('export', 'interest', '--account', 'rehearsal'));
    const later = await runCli(
      stored.here(
        'export',
        'interest',
        '--account',
        'rehearsal',
        '--from',
        '2024-03-01',
        '--to',
        '2024-04-30',
      ),
    );

    expect(early.stderr).toContain('Payments before 2024-03-01 00:00 UTC may be missing');
    expect(later.stderr).toBe('');
  });

  test.each([
    [['--by', 'year'], 'Allowed choices are month, plan, ticker'],
    [['--to', '1 March'], 'date or a time in UTC'],
    [['fetch', '--from', '2024-03-01'], '`interest fetch` has no option --from'],
    [['retry', '--by', 'plan'], '`interest retry` has no option --by'],
  ])('cannot be asked for with %j', async (args, message) => {
    const failure = await runForFailure(stored.here('interest', ...args));

    expect(failure).toMatchObject({ exitCode: 2, code: 'usage' });
    expect(failure.message).toContain(message);
  });
});
