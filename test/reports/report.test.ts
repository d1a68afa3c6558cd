import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { parseDecimal } from '../../lib/base/decimal.ts';
import { toJson } from '../../lib/base/json.ts';
import { openSqlite } from '../../lib/base/sqlite.ts';
import { dayMs as oneDayMs } from '../../lib/base/time-zone.ts';
import { createDynamodbExecutions } from '../../lib/ledger/dynamodb-executions.ts';
import { createDynamodbLedger } from '../../lib/ledger/dynamodb-ledger.ts';
import { type Executions, listFills } from '../../lib/ledger/executions.ts';
import type { Ledger } from '../../lib/ledger/ledger.ts';
import { createSqliteExecutions } from '../../lib/ledger/sqlite-executions.ts';
import { createSqliteLedger } from '../../lib/ledger/sqlite-ledger.ts';
import type { Fill } from '../../lib/model/execution.ts';
import type { BookedDeal } from '../../lib/reports/book-deals.ts';
import { type ReportQuery, readReport } from '../../lib/reports/read-report.ts';
import { startDynamodb } from '../support/dynamodb/start-dynamodb.ts';
import { createStackTable } from '../support/stack-tables.ts';
import { dayMs, recordSession } from './recorded-session.ts';

interface Stores {
  readonly ledger: Ledger;
  readonly executions: Executions;
  close(): Promise<void>;
}

async function openFile(): Promise<Stores> {
  const file = openSqlite(':memory:');
  return {
    ledger: createSqliteLedger(file),
    executions: createSqliteExecutions(file),
    close: async () => file.close(),
  };
}

async function openTable(): Promise<Stores> {
  const dynamodb = await startDynamodb();
  await createStackTable(dynamodb.client, 'ledger', 'ledger');
  const options = { client: dynamodb.relayClient, tableName: 'ledger', keepDays: 400 };
  return {
    ledger: createDynamodbLedger(options),
    executions: createDynamodbExecutions(options),
    close: () => dynamodb.close(),
  };
}

let stores: Stores;
let ledger: Ledger;
let executions: Executions;

async function open(openStores: () => Promise<Stores>): Promise<void> {
  stores = await openStores();
  ({ ledger, executions } = stores);
  await recordSession(ledger, executions);
}
const query: ReportQuery = {
  accounts: ['main'],
  fromMs: dayMs,
  untilMs: dayMs + 7_200_000,
  by: 'market',
  dayOf: (timeMs) => new Date(timeMs).toISOString().slice(0, 10),
};

const firstOf = async () => null;

async function read(changes: Partial<ReportQuery> = {}) {
  const deals: BookedDeal[] = [];
  const isSpot = (_: string, market: string) => market === 'ETH_USDT';
  const report = await readReport(
    { ledger, executions, firstOf, isSpot },
    { ...query, ...changes },
    (deal) => {
      deals.push(deal);
    },
  );
  return { ...report, deals };
}

/*
 * The session by hand, in USDT. Profit before fees at average cost:
 *
 * BTC_PERP
 *   11  buy  0.1  @ 60010   holds 0.1,  cost  6001
 *   12  buy  0.2  @ 60025   holds 0.3,  cost 18006
 *   13  sell 0.04 @ 60500   cost of the part 18006 * 0.04 / 0.3 = 2400.8;  2420 - 2400.8   =   19.2
 *   14  sell 0.26 @ 59000   cost of the rest 15605.2;                     15340 - 15605.2  = -265.2
 *   15  sell 0.2  @ 58990   holds -0.2, cost 11798
 *   16  buy  0.5  @ 58500   closes 0.2: 11798 - 11700 = 98; holds 0.3, cost 17550
 *   fees 3.30055 + 6.60275 + 0.242 + 8.437 + 6.4889 + 16.0875 = 41.1587
 *   gross 19.2 - 265.2 + 98 = -148;  net -148 - 41.1587 = -189.1587
 *   slippage against 60000 (two deals), 60500 and 59000: 10 * 0.1 + 25 * 0.2 + 0 + 10 * 0.2 = 8
 *   at the reference prices 18000 + 2420 + 11800 = 32220;  80000 / 32220 = 2.48 bp
 * ETH_USDT, whose buys pay in ETH, at the price of the deal
 *   17  buy  1.5  @ 3000    fee 0.0015 ETH = 4.5;     holds 1.4985, cost 4495.5
 *   18  buy  0.5  @ 3001    fee 0.0005 ETH = 1.5005;  holds 1.998,  cost 4495.5 + 1500.5 - 1.5005 = 5994.4995
 *   19  sell 1.998 @ 3100   6193.8 - 5994.4995 = 199.3005;  fee 6.1938
 *   fees 4.5 + 1.5005 + 6.1938 = 12.1943;  net 199.3005 - 12.1943 = 187.1062
 *   slippage against 3000: 0 + 1 * 0.5 = 0.5;  at the reference price 6000;  5000 / 6000 = 0.83 bp
 * SOL_PERP
 *   1   buy  10 @ 150       the day before: holds 10, cost 1500
 *   20  sell 10 @ 151.5     1515 - 1500 = 15;  fee 0.83325;  net 14.16675
 *
 * Together: gross -148 + 199.3005 + 15 = 66.3005; fees 41.1587 + 12.1943 + 0.83325 = 54.18625; net 12.11425.
 * Slippage 8.5 of 38220: 85000 / 38220 = 2.22 bp.
 *
 * Durations in ms, sorted. Alert to order: 80 90 95 100 110 120 200. Order to fill: 25 30 35 40 45 50 4920.
 * Of seven values, p50 is the value of rank ceil(3.5) = 4, p95 that of rank ceil(6.65) = 7.
 */
describe.each([
  ['SQLite', openFile],
  ['DynamoDB', openTable],
])('the report of a recorded session in %s', (_, openStores) => {
  beforeAll(() => open(openStores));
  afterAll(() => stores.close());

  test('equals the computation by hand, market by market', async () => {
    const { rows } = await read();

    expect(toJson(rows)).toEqual([
      {
        group: 'BTC_PERP',
        quote: 'USDT',
        signals: { received: 5, placed: 4, filledWhole: 3, filledInPart: 1 },
        alertToOrder: { count: 4, p50Ms: 95, p95Ms: 120 },
        orderToFill: { count: 4, p50Ms: 35, p95Ms: 4920 },
        deals: 6,
        turnover: '76814',
        slippage: { compared: 3, orders: 4, money: '8', basisPoints: '2.48' },
        fees: { USDT: '41.1587' },
        profit: { gross: '-148', fees: '41.1587', net: '-189.1587' },
        trades: { closed: 3, won: 2 },
      },
      {
        group: 'ETH_USDT',
        quote: 'USDT',
        signals: { received: 2, placed: 2, filledWhole: 2, filledInPart: 0 },
        alertToOrder: { count: 2, p50Ms: 90, p95Ms: 110 },
        orderToFill: { count: 2, p50Ms: 25, p95Ms: 45 },
        deals: 3,
        turnover: '12194.3',
        slippage: { compared: 1, orders: 2, money: '0.5', basisPoints: '0.83' },
        fees: { ETH: '0.002', USDT: '6.1938' },
        profit: { gross: '199.3005', fees: '12.1943', net: '187.1062' },
        trades: { closed: 1, won: 1 },
      },
      {
        group: 'SOL_PERP',
        quote: 'USDT',
        signals: { received: 1, placed: 1, filledWhole: 1, filledInPart: 0 },
        alertToOrder: { count: 1, p50Ms: 200, p95Ms: 200 },
        orderToFill: { count: 1, p50Ms: 50, p95Ms: 50 },
        deals: 1,
        turnover: '1515',
        slippage: { compared: 0, orders: 1, money: '0', basisPoints: null },
        fees: { USDT: '0.83325' },
        profit: { gross: '15', fees: '0.83325', net: '14.16675' },
        trades: { closed: 1, won: 1 },
      },
    ]);
  });

  test('equals the computation by hand in total', async () => {
    const { totals, caveats } = await read();

    expect(toJson(totals)).toEqual([
      {
        group: '',
        quote: 'USDT',
        signals: { received: 8, placed: 7, filledWhole: 6, filledInPart: 1 },
        alertToOrder: { count: 7, p50Ms: 100, p95Ms: 200 },
        orderToFill: { count: 7, p50Ms: 40, p95Ms: 4920 },
        deals: 10,
        turnover: '90523.3',
        slippage: { compared: 4, orders: 7, money: '8.5', basisPoints: '2.22' },
        fees: { ETH: '0.002', USDT: '48.18575' },
        profit: { gross: '66.3005', fees: '54.18625', net: '12.11425' },
        trades: { closed: 5, won: 4 },
      },
    ]);
    expect(caveats).toEqual({
      firstFillAtMs: dayMs - 86_400_000 + 100,
      expiredBeforeMs: null,
      unmatched: {},
      unvaluedFees: [],
      otherDeals: 0,
      sharedDeals: 0,
      unread: 0,
    });
  });

  test('counts the stop-loss of an entry for the strategy of the entry', async () => {
    const { rows } = await read({ by: 'strategy' });

    expect(rows.map(({ group, deals, profit }) => [group, deals, toJson(profit)])).toEqual([
      ['', 3, { gross: '199.3005', fees: '12.1943', net: '187.1062' }],
      ['breakout', 4, { gross: '-246', fees: '18.5823', net: '-264.5823' }],
      ['reversal', 2, { gross: '98', fees: '22.5764', net: '75.4236' }],
      ['swing', 1, { gross: '15', fees: '0.83325', net: '14.16675' }],
    ]);
  });

  test('puts signals and deals on the days of their own times', async () => {
    const { rows } = await read({ by: 'day', fromMs: 0 });

    expect(rows.map(({ group, signals, deals }) => [group, signals.received, deals])).toEqual([
      ['2026-11-19', 1, 1],
      ['2026-11-20', 8, 10],
    ]);
  });

  test('lists every deal with its part of the profit, and the parts add up to the whole', async () => {
    const { deals } = await read();

    expect(
      deals.map(({ fill, profit, net, closed, slippage }) =>
        toJson([fill.dealId, closed, profit, net, slippage?.money ?? null]),
      ),
    ).toEqual([
      [11, '0', '0', '-3.30055', '1'],
      [12, '0', '0', '-6.60275', '5'],
      [13, '0.04', '19.2', '18.958', '0'],
      [14, '0.26', '-265.2', '-273.637', null],
      [15, '0', '0', '-6.4889', '2'],
      [16, '0.2', '98', '81.9125', null],
      [17, '0', '0', '-4.5', '0'],
      [18, '0', '0', '-1.5005', '0.5'],
      [19, '1.998', '199.3005', '193.1067', null],
      [20, '10', '15', '14.16675', null],
    ]);
  });

  test('reads pages of fills and entries, however many there are', async () => {
    const small = {
      ...executions,
      listFills: (asked: Parameters<Executions['listFills']>[0]) =>
        executions.listFills({ ...asked, limit: 3 }),
    };
    const pages = {
      list: (asked: Parameters<Ledger['list']>[0]) => ledger.list({ ...asked, limit: 2 }),
      read: ledger.read.bind(ledger),
    };

    const { totals } = await readReport(
      { ledger: pages, executions: small, firstOf, isSpot: () => false },
      query,
    );

    expect(totals[0]?.profit.net.toFixed()).toBe('12.11425');
  });
});

describe('what no stored fill had opened', () => {
  beforeAll(() => open(openFile));
  afterAll(() => stores.close());

  test('has no profit, and is named', async () => {
    // From the last sale on, as if the ledger had begun there.
    const late = {
      listFills: (asked: Parameters<Executions['listFills']>[0]) =>
        executions.listFills({ ...asked, fromMs: Math.max(asked.fromMs, dayMs + 3_600_000) }),
    };
    const isSpot = (_: string, market: string) => market === 'ETH_USDT';

    const { rows, caveats } = await readReport({ ledger, executions: late, firstOf, isSpot }, query);

    expect(toJson(rows.find(({ group }) => group === 'ETH_USDT')?.profit)).toEqual({
      gross: '0',
      fees: '6.1938',
      net: '-6.1938',
    });
    expect(toJson(caveats.unmatched)).toEqual({ ETH_USDT: '1.998' });
  });
});

test('what was held at first counts only as long as every fill since then is kept', async () => {
  await open(openFile);
  const deal = (dealId: number, day: number, side: 'buy' | 'sell', price: string): Fill => ({
    ...{ account: 'main', market: 'SOL_PERP', dealId, orderId: dealId, atMs: day * oneDayMs, side },
    ...{ signalId: '', role: 'other', liquidity: 'taker', amount: '1', price, notional: price },
    ...{ fee: '0', feeAsset: 'USDT' },
  });
  // The first position was closed on day 3, by a deal that has expired.
  await executions.recordOthers([deal(1001, 10, 'sell', '200'), deal(1002, 11, 'buy', '190')]);
  const first = {
    atMs: 0,
    books: new Map([['SOL_PERP', { amount: parseDecimal('1'), cost: parseDecimal('100') }]]),
    except: new Set<string>(),
  };
  const readKept = async (keptFromMs: number | null) => {
    const sources = { ledger, executions, firstOf: async () => first, isSpot: () => false, keptFromMs };
    const period = { fromMs: 0, untilMs: 18 * oneDayMs };
    const { totals, caveats } = await readReport(sources, { ...query, ...period });
    return [totals[0]?.profit.net.toFixed(), caveats.expiredBeforeMs];
  };

  expect(await readKept(10 * oneDayMs)).toEqual(['10', 10 * oneDayMs]);
  expect(await readKept(null)).toEqual(['100', null]);
  await stores.close();
});

test('deals that two accounts have, whose keys are of one account at the exchange, count once', async () => {
  await open(openFile);
  for await (const { account: _, ...fill } of listFills(executions, 'main', 0, query.untilMs))
    for (const account of ['twin', 'third'])
      await executions.recordOthers([{ ...fill, account, role: 'other', signalId: '' }]);
  const alone = await read();

  const together = await read({ accounts: ['twin', 'main', 'third'] });
  const twins = await read({ accounts: ['twin', 'third'] });

  expect(toJson(together.totals)).toEqual(toJson(alone.totals));
  expect(together.caveats).toMatchObject({ otherDeals: 0, sharedDeals: 20 });
  expect(twins.caveats).toMatchObject({ otherDeals: 10, sharedDeals: 10 });
  await stores.close();
});

test('a period without signals and fills has no rows', async () => {
  await open(openFile);
  const { rows, totals, deals } = await read({ fromMs: dayMs + 7_000_000 });

  expect([rows, totals, deals]).toEqual([[], [], []]);
  await stores.close();
});
