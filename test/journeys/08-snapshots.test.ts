import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { parse } from 'csv-parse/sync';
import type { PaperState } from '../../lib/paper/server/state.ts';
import { runCli, runForJson } from '../cli/run-cli.ts';
import { at, runSnapshotDay, type SnapshotDay } from '../support/snapshot-day.ts';

let day: SnapshotDay;

beforeAll(async () => {
  day = await runSnapshotDay();
});

afterAll(() => day.close());

const today = ['--from', '2026-04-01', '--to', '2026-04-01'];
const here = (...args: string[]) => [...args, '--data', day.dataPath];
const snapshots = () => [...day.seen];

function readLines(text: string): readonly Record<string, unknown>[] {
  const lines = text.trimEnd().split('\n');
  return lines.map((line) => JSON.parse(line));
}

describe('the balances that a relay recorded', () => {
  const balances = (...args: string[]) => here('balances', ...today, '--every', '1h', ...args);
  const whenAndWhat = (document: unknown) =>
    (document as { rows: { slotMs: number; takenAtMs: number; held: unknown }[] }).rows.map(
      ({ slotMs, takenAtMs, held }) => [slotMs, takenAtMs, held],
    );

  test.each([
    ['main', 'main'],
    ['rehearsal', 'second'],
  ])(
    'of %s are those of the exchange at the time, with none for the time it was off',
    async (name, account) => {
      const document = await runForJson(balances('--account', name));

      expect([...day.seen.keys()]).toEqual(['10:00', '11:00', '12:00', '15:00']);
      expect(whenAndWhat(document)).toEqual(
        snapshots().map(([time, { accounts }]) => [at(time), at(time), accounts[account]?.main]),
      );
    },
  );

  test('include the collateral balance, as a trade changes it', async () => {
    const document = await runForJson(balances('--collateral'));

    const held = snapshots().map(([time, { accounts }]) => {
      const amounts = Object.entries(accounts['main']?.collateral ?? {});
      return [
        at(time),
        at(time),
        Object.fromEntries(amounts.map(([ticker, { available }]) => [ticker, available])),
      ];
    });
    expect(whenAndWhat(document)).toEqual(held);
    // A margin order costs its fee; the position itself is no balance.
    expect(held.map(([, , amounts]) => amounts)).toMatchObject([
      { USDT: '1000000' },
      { USDT: '1000000' },
      { USDT: '999999.4985' },
      { USDT: '999999.4985' },
    ]);
  });

  test('are a table with a row for each snapshot', async () => {
    const { stdout } = await runCli(balances());

    expect(stdout.split('\n').slice(2)).toEqual([
      'time (UTC)         BTC  ETH  SOL         UAH                USDT',
      '────────────────────────────────────────────────────────────────',
      '2026-04-01 10:00  1.25   20  0.5           0            25000.75',
      '2026-04-01 11:00   2.5    0  0.5  0.00000001            25000.75',
      '2026-04-01 12:00   2.5    0  0.5  0.00000001  123456789.12345678',
      '2026-04-01 15:00   0.1    0  0.5  0.00000001  123456789.12345678',
      '',
    ]);
  });

  test('are exported as CSV and as JSON Lines with the same content', async () => {
    const [csv, jsonl] = await Promise.all([
      runCli(here('export', 'balances')),
      runCli(here('export', 'balances', '--format', 'jsonl')),
    ]);

    const records: Record<string, string>[] = parse(csv.stdout, { columns: true });
    const documents = readLines(jsonl.stdout);
    const tickers = ['BTC', 'ETH', 'SOL', 'UAH', 'USDT'];
    // The first snapshot is from the first start, between the scheduled times.
    const kept: readonly (readonly [time: string, state: PaperState])[] = [
      ['09:30', day.atStart],
      ...snapshots(),
    ];
    expect(records.map((record) => [record['time (UTC)'], ...tickers.map((name) => record[name])])).toEqual(
      kept.map(([time, { accounts }]) => [
        `2026-04-01 ${time}:00`,
        ...tickers.map((name) => accounts['main']?.main[name] ?? '0'),
      ]),
    );
    expect(documents.map(({ slotMs, main }) => [slotMs, main])).toEqual(
      kept.map(([time, { accounts }]) => [at(time), accounts['main']?.main]),
    );
  });
});

describe('the transfer fees that a relay recorded', () => {
  test('are all versions of the exchange, with the times of each', async () => {
    const [table, history, csv] = await Promise.all([
      runCli(here('fees', 'history', 'BTC')),
      runForJson(here('fees', 'history', 'BTC')),
      runCli(here('export', 'fees')),
    ]);

    const { versions } = history as {
      versions: { fromMs: number; untilMs: number | null; fees: unknown }[];
    };
    const known = ['10:00', '11:00', '15:00'].map((time) => {
      const { ticker: _ticker, name: _name, ...terms } = day.seen.get(time)?.feeTable['BTC'] ?? {};
      return terms;
    });
    expect(versions.map(({ fees }) => fees)).toEqual(known);
    expect(versions.map(({ fromMs, untilMs }) => [fromMs, untilMs])).toEqual([
      // The first snapshot of transfer fees is at the start.
      [at('09:30'), at('11:00')],
      [at('11:00'), at('15:00')],
      [at('15:00'), null],
    ]);
    expect(table.stdout).toMatch(/^2026-04-01 09:30 +2026-04-01 11:00 +none +0\.0004 +first seen$/m);
    expect(table.stdout).toMatch(
      /^2026-04-01 11:00 +2026-04-01 15:00 +none +0\.0005 +withdraw fixed 0\.0004 → 0\.0005$/m,
    );
    expect(table.stdout).toMatch(/^2026-04-01 15:00 +now +none +closed +withdraw open → closed$/m);
    // One version of each other currency, over two runs of the relay.
    const exported: string[][] = parse(csv.stdout);
    expect(exported.slice(1).map(([ticker]) => ticker)).toEqual([
      ...['BTC', 'BTC', 'BTC'],
      ...['ETH', 'SOL', 'UAH', 'USDT'],
    ]);
  });

  test('were logged once for each account when they changed', () => {
    const notes = day.logged.flatMap(({ facts: { account, ticker, note } }) =>
      ticker === undefined || note === undefined ? [] : [`${account}: ${note}`],
    );

    expect(notes.sort()).toEqual([
      'main: BTC withdraw fixed 0.0004 → 0.0005',
      'main: BTC withdraw open → closed',
      'rehearsal: BTC withdraw fixed 0.0004 → 0.0005',
      'rehearsal: BTC withdraw open → closed',
    ]);
  });
});

describe('the interest payments that a relay imported', () => {
  const paid = () => day.seen.get('15:00')?.payments['main'] ?? [];
  const todays = (...args: string[]) => runForJson(here('interest', ...today, ...args));

  /** A decimal as an integer count of 0.00000001; no amount here is finer. */
  const countUnits = (amount: string) => {
    const [whole = '', fraction = ''] = amount.split('.');
    return BigInt(`${whole}${fraction.padEnd(8, '0')}`);
  };

  test('are the new ones at each import, no payment twice', () => {
    const imported = day.logged.flatMap(({ facts: { account, payments } }) =>
      payments === undefined ? [] : [[account, payments]],
    );

    expect(imported).toEqual([
      ['main', 250],
      ['main', 3],
      ['main', 2],
      ['main', 1],
    ]);
    expect(paid()).toHaveLength(256);
  });

  test('are summed by month, plan and ticker', async () => {
    const [byMonth, byPlan, byTicker] = await Promise.all([
      todays('--by', 'month'),
      todays('--by', 'plan'),
      todays('--by', 'ticker'),
    ]);

    const totals = [
      { ticker: 'BTC', payments: 2, amount: '0.20000001' },
      { ticker: 'USDT', payments: 4, amount: '6' },
    ];
    expect(byMonth).toMatchObject({ totals, newestMs: at('14:45') });
    expect(byMonth).toMatchObject({ groups: totals.map((total) => ({ group: '2026-04', ...total })) });
    expect(byPlan).toMatchObject({
      totals,
      groups: [
        { group: 'plan-1', ticker: 'BTC', payments: 1, amount: '0.00000001' },
        { group: 'plan-1', ticker: 'USDT', payments: 4, amount: '6' },
        { group: 'plan-2', ticker: 'BTC', payments: 1, amount: '0.2' },
      ],
    });
    expect(byTicker).toMatchObject({
      totals,
      groups: totals.map((total) => ({ group: total.ticker, ...total })),
    });
  });

  test('add up to all that the exchange paid', async () => {
    const document = await runForJson(here('interest', '--from', '2026-01-01', '--by', 'ticker'));

    const { totals } = document as { totals: { ticker: string; payments: number; amount: string }[] };
    const sums = Object.entries(Object.groupBy(paid(), ({ ticker }) => ticker)).map(([ticker, own = []]) => ({
      ticker,
      payments: own.length,
      units: own.reduce((sum, { amount }) => sum + countUnits(amount), 0n),
    }));
    expect(totals.map(({ amount, ...total }) => ({ ...total, units: countUnits(amount) }))).toEqual(
      sums.sort((one, other) => (one.ticker < other.ticker ? -1 : 1)),
    );
  });

  test('are exported as CSV and as JSON Lines, each payment as the exchange has it', async () => {
    const [csv, jsonl] = await Promise.all([
      runCli(here('export', 'interest')),
      runCli(here('export', 'interest', '--format', 'jsonl')),
    ]);

    const known = paid().map(({ timestamp, ticker, amount, planId, investmentId }) =>
      [timestamp, ticker, amount, planId, investmentId].join(' '),
    );
    const records: string[][] = parse(csv.stdout, { from_line: 2 });
    const documents = readLines(jsonl.stdout);
    expect(csv.stderr).toBe(
      'Interest of account main was last imported at 2026-04-01 15:00 UTC: later payments may be missing.\n',
    );
    expect(
      records
        .map(([time, ...fields]) => [Date.parse(`${time}Z`) / 1000, ...fields.slice(0, 4)].join(' '))
        .sort(),
    ).toEqual(known.toSorted());
    expect(
      documents
        .map(({ paidAtMs, ticker, amount, planId, investmentId }) =>
          [Number(paidAtMs) / 1000, ticker, amount, planId, investmentId].join(' '),
        )
        .sort(),
    ).toEqual(known.toSorted());
    // Identical payments are numbered.
    const alike = documents.filter(({ paidAtMs, ticker }) => paidAtMs === at('10:15') && ticker === 'USDT');
    expect(alike.map(({ nth }) => nth).sort()).toEqual([1, 2, 3]);
  });

  test('are none for an account that is not a partner, which on paper the command alone tells', async () => {
    const { stdout } = await runCli(here('interest', '--account', 'rehearsal'));

    // The time of the day jumps: a request for something else that was on its way then is too late, and says so.
    const isOfImport = (line: unknown) => /interest|import/i.test(JSON.stringify(line));
    const warnings = day.logged.filter(({ level }) => level !== 'info');
    expect(warnings.filter(isOfImport)).toEqual([]);
    expect(stdout).toContain('No payments in this period.');
    expect(stdout).toContain('The import for account rehearsal has been stopped since 2026-04-01 09:30 UTC');
    expect(stdout).toContain('This action is unauthorized. Once the account is a partner, run');
  });
});
