import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { openSqlite } from '../../lib/base/sqlite.ts';
import { damageRow } from '../support/damage-row.ts';
import { runCli, runForFailure, runForJson } from './run-cli.ts';
import { type StoredSignals, storeSignals } from './stored-signals.ts';

let stored: StoredSignals;

beforeAll(async () => {
  stored = await storeSignals();
  const file = openSqlite(stored.folder.databasePath);
  damageRow(file, { account: 'main', signalId: 'demo-1' }, 'steps');
  damageRow(file, { account: 'main', signalId: 'cancel-1' }, 'status');
  file.close();
});
afterAll(() => stored.remove());

const here = (...args: string[]) => [...args, '--data', stored.folder.path];

test('signals marks a damaged row as damaged, and shows the others as usual', async () => {
  const { stdout, exitCode } = await runCli(here('signals'));

  expect(exitCode).toBe(0);
  const rows = stdout.split('\n').map((line) => line.split(/ {2,}/));
  const rowOf = (signalId: string) =>
    rows.find((row) => row[1] === signalId && row[2] === 'main' && row[5] !== 'invalid')?.slice(3);
  expect(rowOf('demo-1')).toEqual(['–', '–', 'placed', '10000000001']);
  expect(rowOf('cancel-1')).toEqual(['–', '–', 'unknown', '–']);
  expect(stdout.match(/^ {4}damaged in the store/gm)).toHaveLength(2);
  expect(rowOf('demo-2')).toEqual(['BTC_USDT', 'buy for 500 USDT at 60500', 'denied', '–']);
});

test('signals --json prints what is readable of a damaged row', async () => {
  const { signals } = (await runForJson(here('signals', '--status', 'placed'))) as { signals: unknown[] };

  expect(signals).toMatchObject([
    {
      signalId: 'demo-1',
      status: 'placed',
      signal: null,
      clientOrderId: 'tr-1',
      orderId: 10_000_000_001,
      orderOpen: true,
      steps: [{ note: 'damaged in the store, cannot be read: compare with the exchange by hand' }],
    },
  ]);
});

test.each(['signal', 'resolve'])('%s says what to do about a damaged one', async (command) => {
  expect(await runForFailure(here(command, 'demo-1', '--account', 'main'))).toEqual({
    exitCode: 1,
    code: 'entry_damaged',
    message: 'the entry of signal "demo-1" of account main cannot be read',
    action: 'Restore the ledger from a backup, or compare this signal with the exchange by hand.',
    issues: [],
  });
});
