import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { parse } from 'csv-parse/sync';
import { openSqlite, type SqliteFile } from '../../lib/base/sqlite.ts';
import type { Executions } from '../../lib/ledger/executions.ts';
import { createSqliteExecutions } from '../../lib/ledger/sqlite-executions.ts';
import type { Execution } from '../../lib/model/execution.ts';
import { runCli, runForJson } from './run-cli.ts';
import { type StoredSignals, startMs, storeSignals } from './stored-signals.ts';

let stored: StoredSignals;
let file: SqliteFile;
let executions: Executions;

beforeAll(async () => {
  stored = await storeSignals();
  file = openSqlite(stored.folder.databasePath);
  executions = createSqliteExecutions(file);
});
afterAll(() => {
  file.close();
  stored.remove();
});

const own = {
  role: 'order',
  orderId: 10_000_000_001,
  status: 'partially_filled',
  endedAtMs: null,
  filled: '0.003',
  filledNotional: '181.6',
  fees: { USDT: '0.1816' },
} as const;

const stop = {
  role: 'stop_loss',
  orderId: 10_000_000_007,
  status: 'filled',
  endedAtMs: startMs + 120_000,
  filled: '0.01',
  filledNotional: '589.5',
  fees: { USDT: '0.5895' },
  price: '59000',
} as const;

let revision = 0;
async function record(changes: Partial<Execution>): Promise<void> {
  revision += 1;
  const execution = { revision, readAtMs: startMs + 60_000, orders: [own], isFollowed: true, ...changes };
  expect(await executions.record({ account: 'main', signalId: 'demo-1' }, execution, [])).toBe(true);
}

/** The printed fields of the signal, by label. */
async function shown(): Promise<Readonly<Record<string, string>>> {
  const { stdout } = await runCli([
    ...['signal', 'demo-1', '--account', 'main', '--data', stored.folder.path],
  ]);
  const fields = stdout.split('\n').flatMap((line) => {
    const [, label, value] = /^(\S[a-z -]*?) {2,}(.+)$/.exec(line) ?? [];
    return label === undefined || value === undefined ? [] : [[label, value] as const];
  });
  return Object.fromEntries(fields);
}

async function listed(): Promise<string> {
  const { stdout } = await runCli(['signals', '--status', 'placed', '--data', stored.folder.path]);
  return stdout;
}

test('a placed order of which nothing was read says so', async () => {
  expect(await shown()).toMatchObject({ filled: 'not known yet: nothing has been read of it' });
  expect(await listed()).not.toContain('filled');
});

test('an order that filled in part shows how much, at what average price and fee, and its exits to come', async () => {
  await record({});

  expect(await shown()).toMatchObject({
    filled: '0.003 of 0.01 at 60533.33333333 on average (181.6 USDT), fees 0.1816 USDT',
    'order state': 'open, filled in part',
    'stop-loss': 'not seen on the exchange yet',
  });
  expect(await listed()).toContain('0.003 at 60533.33333333 so far');
});

test('an entry without its stop-loss is marked', async () => {
  await record({ unprotectedSinceMs: startMs + 60_000 });
  expect(await shown()).toMatchObject({
    unprotected: expect.stringMatching(
      /^since 2026-11-20 .*: its own stop-loss is not on the exchange; if nothing else protects the position a minute later, an alarm says what to do$/,
    ),
  });
});

test('an entry whose missing stop-loss raised the alarm points to it', async () => {
  await record({ unprotectedSinceMs: startMs + 60_000, unprotectedAtMs: startMs + 120_000 });
  expect(await shown()).toMatchObject({
    unprotected: expect.stringMatching(/; the alarm in the log says what to do, unless/),
  });
});

test('an order that ended shows what became of it and of its stop-loss', async () => {
  const ended = {
    ...own,
    status: 'filled',
    filled: '0.01',
    filledNotional: '605.6',
    fees: { BTC: '0.000001', USDT: '0.6056' },
    endedAtMs: startMs + 90_000,
  } as const;
  await record({ orders: [ended, stop], isFollowed: false });

  expect(await shown()).toMatchObject({
    filled: '0.01 at 60560 on average (605.6 USDT), fees 0.000001 BTC and 0.6056 USDT',
    'order state': expect.stringMatching(/^filled at 2026-11-20 .*$/),
    'stop-loss': expect.stringMatching(
      /^order 10000000007 at 59000: filled at 2026-11-20 .*, 0.01 filled at 58950 on average, fees 0.5895 USDT$/,
    ),
  });
  expect(await listed()).toContain('0.01 at 60560 ');
});

test('the documents and the rows of an export have the same', async () => {
  const document = await runForJson([
    ...['signal', 'demo-1', '--account', 'main', '--data', stored.folder.path],
  ]);
  expect(document).toMatchObject({
    execution: { revision: 4, orders: [{ filled: '0.01' }, { filled: '0.01' }] },
  });

  const { stdout } = await runCli(['export', 'signals', '--status', 'placed', '--data', stored.folder.path]);
  expect(parse(stdout, { columns: true })).toMatchObject([
    {
      filled: '0.01',
      'filled quote': '605.6',
      'average price': '60560',
      fees: '0.000001 BTC and 0.6056 USDT',
      'order state': 'filled',
      'ended (UTC)': '2026-11-20 10:01:30.000',
      'stop loss state': 'filled',
      'stop loss filled': '0.01',
      'stop loss average price': '58950',
      'stop loss fees': '0.5895 USDT',
      'take profit state': '',
    },
  ]);
});
