import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { parse } from 'csv-parse/sync';
import { exportBalances } from '../../cli/export/export-rows.ts';
import type { BalanceSnapshot, BalanceStore } from '../../lib/snapshots/snapshot-store.ts';
import { mainPath, runCli, runForFailure, runForJson } from './run-cli.ts';
import {
  amountsOf,
  dayMs,
  openSnapshotFolder,
  type StoredSnapshots,
  startMs,
  storeBalances,
  storePayments,
} from './stored-snapshots.ts';

describe('an export', () => {
  let stored: StoredSnapshots;

  beforeAll(async () => {
    stored = openSnapshotFolder();
    await storeBalances(stored.store);
    await storePayments(stored.store);
  });

  afterAll(() => stored.remove());

  test('of balances is CSV with every snapshot, and the collateral beside the main balance', async () => {
    const { stdout } = await runCli(stored.here('export', 'balances'));

    const records: string[][] = parse(stdout);
    expect(records).toHaveLength(109);
    expect(records[0]).toEqual(['time (UTC)', 'taken at (UTC)', 'BTC', 'ETH', 'USDT', 'USDT collateral']);
    expect(records[1]).toEqual(['2024-03-01 00:00:00', '2024-03-01 00:00:01', '1.25', '0', '25000.75', '']);
    // The hours of the gap are left out, the hour of the spike is there.
    expect(records[66]).toEqual([
      '2024-03-04 05:00:00',
      '2024-03-04 05:00:01',
      '1.5',
      '20',
      '99000.5',
      '-5.50000001',
    ]);
    expect(records[108]?.[0]).toBe('2024-03-05 23:00:00');
  });

  test('of a range is JSON Lines with all fields', async () => {
    const range = ['--from', '2024-03-04T05:00', '--to', '2024-03-04T05:00'];
    const { stdout } = await runCli(stored.here('export', 'balances', ...range, '--format', 'jsonl'));

    expect(stdout).toBe(
      '{"account":"main","slotMs":1709528400000,"takenAtMs":1709528401234,"main":{"BTC":"1.5","USDT":"99000.5","ETH":"20"},"collateral":{"USDT":"-5.50000001"}}\n',
    );
  });

  test('of interest has every payment, including identical ones, and says what may be missing', async () => {
    const { stdout, stderr } = await runCli(stored.here('export', 'interest'));
    const lines = await runCli(stored.here('export', 'interest', '--format', 'jsonl', '--to', '2024-03-01'));

    const planA = '1b7c3a5e-0d52-4c3f-9a41-6f0d2f6f1a01';
    const investment = '5e2f9d10-7a44-4b1e-8f3a-2c9b6d8e4103';
    expect(parse(stdout).slice(0, 3)).toEqual([
      ['time (UTC)', 'ticker', 'amount', 'plan', 'investment', 'nth alike'],
      ['2024-03-01 00:00:00', 'BTC', '0.1', planA, investment, '1'],
      ['2024-03-01 00:00:00', 'BTC', '0.1', planA, investment, '2'],
    ]);
    expect(parse(stdout)).toHaveLength(6);
    expect(stderr).toContain('Payments from 2024-02-23 00:00 to 2024-02-29 23:59 UTC may be missing');
    const first: unknown = JSON.parse(lines.stdout.split('\n')[0] ?? '');
    expect(first).toEqual({
      account: 'main',
      planId: planA,
      investmentId: investment,
      ticker: 'BTC',
      amount: '0.1',
      paidAtMs: startMs,
      nth: 1,
    });
  });

  test('into a file replaces it once it is complete, and prints the number of rows', async () => {
    const path = join(stored.path, 'balances.csv');
    writeFileSync(path, 'old');

    const document = await runForJson(
      stored.here('export', 'balances', '--from', '2024-03-05', '--to', '2024-03-05', '--out', path),
    );

    expect(document).toEqual({
      account: 'main',
      what: 'balances',
      format: 'csv',
      fromMs: startMs + 4 * dayMs,
      untilMs: startMs + 5 * dayMs,
      rows: 24,
      path,
      notes: [],
    });
    expect(parse(readFileSync(path, 'utf8'))).toHaveLength(25);
    expect(readdirSync(stored.path).filter((name) => name.includes('.part'))).toEqual([]);
  });

  test('prints a summary', async () => {
    const path = join(stored.path, 'interest.jsonl');

    const { stdout } = await runCli(stored.here('export', 'interest', '--format', 'jsonl', '--out', path));

    expect(stdout.split('\n')[0]).toBe(`${path}: 5 rows of interest`);
    expect(stdout.split('\n').slice(1)).toEqual([
      expect.stringMatching(/^Interest of account main was last imported at 2024-05-01 00:00 UTC/),
      expect.stringMatching(/^Payments from .* may be missing/),
      '',
    ]);
  });

  test('of nothing has titles only', async () => {
    const { stdout } = await runCli(stored.here('export', 'interest', '--account', 'rehearsal'));

    expect(stdout).toBe('time (UTC),ticker,amount,plan,investment,nth alike\r\n');
  });

  test('does not fail when its reader stops early', async () => {
    const child = spawn(process.execPath, [mainPath, ...stored.here('export', 'balances')], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    child.stdout.destroy();

    const [exitCode] = await once(child, 'close');

    expect(exitCode).toBe(0);
  });

  test.each([
    [['export', 'orders'], 'Allowed choices are balances, fees, interest, signals'],
    [['export', 'fees', '--status', 'placed', '--out', 'x'], '--status, --market and --text are for signals'],
    [['export', 'balances', '--format', 'xlsx'], 'Allowed choices are csv, jsonl'],
    // As --json.
    [['export', 'balances'], 'not a single JSON document'],
  ])('cannot be asked for with %j', async (args, message) => {
    const failure = await runForFailure(stored.here(...args));

    expect(failure).toMatchObject({ exitCode: 2, code: 'usage' });
    expect(failure.message).toContain(message);
  });

  test('fails without leaving a file when the file cannot be written', async () => {
    const failure = await runForFailure(stored.here('export', 'balances', '--out', stored.path));

    expect(failure).toMatchObject({ exitCode: 1, code: 'not_written' });
    expect(readdirSync(join(stored.path, '..')).filter((name) => name.endsWith('.part'))).toEqual([]);
  });
});

test('a ticker that appears during an export of balances is not omitted silently', async () => {
  const snapshot = (main: Record<string, string>): BalanceSnapshot => ({
    slotMs: startMs,
    takenAtMs: startMs,
    main: amountsOf(main),
    collateral: null,
  });
  const readings = [[snapshot({ BTC: '1' })], [snapshot({ BTC: '1' }), snapshot({ BTC: '1', ETH: '2' })]];
  const balances: BalanceStore = {
    write: () => Promise.reject(new Error('nobody writes')),
    readAt: () => Promise.reject(new Error('nobody asks')),
    async *list() {
      yield* readings.shift() ?? [];
    },
  };
  const { records } = exportBalances(balances, 'main', { fromMs: 0, untilMs: startMs + 1 });
  const seen: unknown[] = [];

  const reading = (async () => {
    for await (const record of records()) seen.push(record[0]);
  })();

  await expect(reading).rejects.toMatchObject({ code: 'changed_meanwhile' });
  expect(seen).toEqual(['time (UTC)', '2024-03-01 00:00:00']);
});
