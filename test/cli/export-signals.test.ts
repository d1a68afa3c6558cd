import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { parse } from 'csv-parse/sync';
import { exportSignals } from '../../cli/export/export-signals.ts';
import { openSqlite } from '../../lib/base/sqlite.ts';
import type { EntryQuery } from '../../lib/ledger/ledger.ts';
import { createSqliteLedger } from '../../lib/ledger/sqlite-ledger.ts';
import { acceptOne } from '../support/accept-one.ts';
import { override } from '../support/override.ts';
import { runCli, runForFailure, runForJson } from './run-cli.ts';
import { buySignal, type StoredSignals, startMs, storeSignals } from './stored-signals.ts';

let stored: StoredSignals;
beforeAll(async () => {
  stored = await storeSignals();
});
afterAll(() => stored.remove());

const here = (...args: string[]) => ['export', 'signals', ...args, '--data', stored.folder.path];

async function records(...args: string[]): Promise<readonly Readonly<Record<string, string>>[]> {
  const { stdout, stderr, exitCode } = await runCli(here(...args));
  expect([exitCode, stderr]).toEqual([0, '']);
  return parse(stdout, { columns: true });
}

describe('an export of signals', () => {
  test('has a row of each, oldest first, of every account', async () => {
    const rows = await records();

    expect(rows.map(({ account, signal, status }) => `${account} ${signal} ${status}`)).toEqual([
      'main demo-1 placed',
      'main demo-2 denied',
      'main refused-1 invalid',
      'main late-1@refused-0123456789ab invalid',
      'main demo-2@refused-ba9876543210 invalid',
      'rehearsal demo-1 dry_run',
      'main cancel-1 accepted',
      'main cancel-2 accepted',
      'main cancel-3 accepted',
      'main cancel-4 accepted',
    ]);
    expect(rows[0]).toEqual({
      'time (UTC)': '2026-11-20 10:00:00.000',
      account: 'main',
      signal: 'demo-1',
      market: 'BTC_USDT',
      ticker: 'BTCUSDT',
      action: 'order',
      side: 'buy',
      'order type': 'stop_limit',
      quantity: '0.01',
      'quote quantity': '',
      'quantity percent': '',
      'percent of': '',
      'stop price': '60500',
      'limit price': '60560',
      'max slippage': '',
      'stop loss': '59000',
      'take profit': '',
      'take profits': '',
      trailing: '',
      'position side': '',
      'reduce only': '',
      'reference price': '',
      'post only': '',
      ioc: '',
      stp: '',
      asked: 'buy 0.01 of BTC_USDT, stop 60500, limit 60560, stop loss 59000',
      strategy: 'breakout',
      interval: '',
      'require position': '',
      'expect trigger': '',
      info: '',
      comment: '',
      status: 'placed',
      'since (UTC)': '2026-11-20 10:00:00.057',
      order: '10000000001',
      'client order id': 'tr-1',
      'order open': 'yes',
      reason: '',
      filled: '',
      'filled quote': '',
      'average price': '',
      fees: '',
      'order state': '',
      'ended (UTC)': '',
      'stop loss state': '',
      'stop loss filled': '',
      'stop loss average price': '',
      'stop loss fees': '',
      'take profit state': '',
      'take profit filled': '',
      'take profit average price': '',
      'take profit fees': '',
    });
    expect(rows[3]).toMatchObject({ ticker: 'SOLUSDT', asked: '', reason: 'the alert was too late' });
  });

  test('contains only the signals that match the filters', async () => {
    const ids = async (...args: string[]) => (await records(...args)).map(({ signal }) => signal);

    expect(await ids('--status', 'denied')).toEqual(['demo-2']);
    expect(await ids('--account', 'rehearsal')).toEqual(['demo-1']);
    expect(await ids('--market', 'SOL_USDT')).toEqual(['late-1@refused-0123456789ab']);
    expect(await ids('--text', 'breakout', '--account', 'main')).toEqual(['demo-1', 'demo-2']);
    expect(await ids('--from', '2026-11-20T10:00:03', '--to', '2026-11-20T10:00:03')).toEqual(['demo-1']);
    expect(await ids('--to', '2026-11-19')).toEqual([]);
  });

  test('is JSON Lines with all that the ledger holds', async () => {
    const { stdout } = await runCli(here('--format', 'jsonl', '--status', 'placed'));
    const entry = await stored.ledger.read({ account: 'main', signalId: 'demo-1' });
    expect(stdout).toBe(`${JSON.stringify(entry)}\n`);
  });

  test('goes into a file', async () => {
    const path = join(stored.folder.path, 'signals.csv');
    const document = await runForJson(here('--out', path));
    expect(document).toMatchObject({ account: null, what: 'signals', rows: 10, path });
    expect(parse(readFileSync(path, 'utf8'))).toHaveLength(11);
  });

  test('is safe to print in a terminal, whatever an alert contained', async () => {
    await acceptOne(stored.ledger, {
      account: 'main',
      signalId: 'hostile',
      signal: { ...buySignal, comment: 'a\u001b[2Jb, "c"', strategy: '=1+1' },
      clientOrderId: 'tr-66',
      fingerprint: 'f66',
      atMs: startMs + 90_000,
    });

    const [row] = await records('--text', '=1+1');

    expect(row).toMatchObject({ comment: 'a\\u001b[2Jb, "c"', strategy: "'=1+1" });
  });

  test('of an unknown account is refused', async () => {
    expect(await runForFailure(here('--account', 'rehersal', '--out', 'x'))).toMatchObject({
      code: 'usage',
      message: 'the configuration has no account "rehersal"',
    });
  });
});

test('an export of signals reads a page only after the previous one is written', async () => {
  const file = openSqlite(':memory:');
  const ledger = createSqliteLedger(file);
  const rest = { account: 'main', signal: buySignal, clientOrderId: 'tr', fingerprint: 'f' };
  for (let index = 0; index < 250; index += 1)
    await acceptOne(ledger, { ...rest, signalId: `s-${index}`, atMs: startMs + index });
  const asked: EntryQuery[] = [];
  const watched = override(ledger, {
    list: (query) => {
      asked.push(query);
      return ledger.list(query);
    },
  });

  const pagesAt: number[] = [];
  for await (const _ of exportSignals(watched, {}).documents()) pagesAt.push(asked.length);

  expect([pagesAt[0], pagesAt[99], pagesAt[100], pagesAt[249]]).toEqual([1, 1, 2, 3]);
  file.close();
});
