import { hash } from 'node:crypto';
import { formatDecimal, parseDecimal } from '../base/decimal.ts';
import { type DynamodbClient, formatTime, type Item, numberOf, textAttribute } from '../base/dynamodb.ts';
import { QueriedTable } from '../base/dynamodb-queries.ts';
import { isNew } from '../base/dynamodb-table.ts';
import { parseOwnJson } from '../base/json.ts';
import {
  type BalanceSnapshot,
  type BalanceStore,
  type FeeStore,
  type FeeVersion,
  type InterestPayment,
  type InterestStore,
  noProgress,
  type Period,
  type SnapshotStore,
  toEpochs,
} from './snapshot-store.ts';
import { formatStored, parseCurrencyFees, parseHoldings, parseProgress } from './stored-text.ts';

/**
 * The snapshot store on DynamoDB, in its own table: keys `account` and `item`, no indexes, nothing expires.
 *
 * Items: `balance#<slot>`, `fees#<ticker>#<from>`, `current-fees#<ticker>`, `payment#<time>#<name>`,
 * `interest-import`. Times are milliseconds with fifteen digits, so that the keys sort by time.
 */
export function createDynamodbSnapshots(options: {
  readonly client: DynamodbClient;
  readonly tableName: string;
}): SnapshotStore {
  const table = new QueriedTable({ ...options, contents: 'the snapshots' });
  return {
    balances: createBalanceStore(table),
    fees: createFeeStore(table),
    interest: createInterestStore(table),
  };
}

/** A query for the items of an account whose sort keys lie between two keys, both included. */
function between(account: string, first: string, last: string) {
  return {
    KeyConditionExpression: '#account = :account AND #item BETWEEN :first AND :last',
    ExpressionAttributeValues: { ':account': { S: account }, ':first': { S: first }, ':last': { S: last } },
    ConsistentRead: true,
  };
}

/** The keys that begin with the text: `~`, the last printable ASCII character, sorts after whatever follows. */
function startingWith(account: string, prefix: string) {
  return between(account, prefix, `${prefix}~`);
}

/** The keys of a period. No key has a time before the epoch. */
function within(account: string, kind: string, { fromMs, untilMs }: Period) {
  const first = `${kind}#${formatTime(Math.max(0, fromMs))}`;
  // `~` includes the keys that continue after the last millisecond of the period.
  return between(account, first, `${kind}#${formatTime(Math.max(0, untilMs - 1))}~`);
}

function isEmpty({ fromMs, untilMs }: Period): boolean {
  return untilMs <= Math.max(0, fromMs);
}

async function* mapItems<T>(items: AsyncIterable<Item>, toValue: (item: Item) => T): AsyncGenerator<T> {
  for await (const item of items) yield toValue(item);
}

async function* nothing(): AsyncGenerator<never> {}

function createBalanceStore(table: QueriedTable): BalanceStore {
  return {
    async write(account, snapshot) {
      const written = await table.create(snapshotItem(account, snapshot));
      return written.done ? 'stored' : 'known';
    },
    async readAt(account, atMs) {
      if (atMs < 0) return null;
      const range = between(account, 'balance#', `balance#${formatTime(atMs)}`);
      const [newest] = await table.queryUpTo(1, { ...range, ScanIndexForward: false });
      return newest === undefined ? null : snapshotOf(newest);
    },
    list: (account, period) =>
      isEmpty(period) ? nothing() : mapItems(table.queryAll(within(account, 'balance', period)), snapshotOf),
  };
}

function snapshotItem(account: string, { slotMs, takenAtMs, main, collateral }: BalanceSnapshot): Item {
  return {
    account: { S: account },
    item: { S: `balance#${formatTime(slotMs)}` },
    takenAtMs: { N: String(takenAtMs) },
    main: { S: formatStored(main) },
    ...(collateral === null ? {} : { collateral: { S: formatStored(collateral) } }),
  };
}

function snapshotOf(item: Item): BalanceSnapshot {
  return {
    slotMs: Number(textAttribute(item, 'item').slice('balance#'.length)),
    takenAtMs: numberOf(item, 'takenAtMs'),
    main: parseHoldings(textAttribute(item, 'main')),
    collateral: item['collateral'] === undefined ? null : parseHoldings(textAttribute(item, 'collateral')),
  };
}

function createFeeStore(table: QueriedTable): FeeStore {
  return {
    async readCurrent(account) {
      const versions: FeeVersion[] = [];
      for await (const item of table.queryAll(startingWith(account, 'current-fees#')))
        versions.push(versionOf(item));
      return versions;
    },
    async append(account, known, version) {
      const { ticker, fromMs } = version;
      const current = versionItem(account, `current-fees#${ticker}`, version);
      const kept = versionItem(account, `fees#${ticker}#${formatTime(fromMs)}`, version);
      // Both or none: a current version that is missing in the history would never be added to it.
      const written = await table.putAll([
        known === null
          ? { item: current, condition: isNew }
          : {
              item: current,
              condition: '#fromMs = :known',
              values: { ':known': { N: String(known.fromMs) } },
            },
        { item: kept, condition: isNew },
      ]);
      return written.done;
    },
    list(account, ticker) {
      const prefix = ticker === undefined ? 'fees#' : `fees#${ticker}#`;
      return toEpochs(mapItems(table.queryAll(startingWith(account, prefix)), versionOf));
    },
  };
}

function versionItem(account: string, item: string, { ticker, fromMs, fees }: FeeVersion): Item {
  return {
    account: { S: account },
    item: { S: item },
    ticker: { S: ticker },
    fromMs: { N: String(fromMs) },
    ...(fees === null ? {} : { fees: { S: formatStored(fees) } }),
  };
}

function versionOf(item: Item): FeeVersion {
  return {
    ticker: textAttribute(item, 'ticker'),
    fromMs: numberOf(item, 'fromMs'),
    fees: item['fees'] === undefined ? null : parseCurrencyFees(textAttribute(item, 'fees')),
  };
}

/** The number of concurrent writes. */
const writesAtOnce = 25;
const progressItem = 'interest-import';

function createInterestStore(table: QueriedTable): InterestStore {
  return {
    async write(account, payments) {
      // A payment always maps to the same item, so writing it again changes nothing.
      for (let from = 0; from < payments.length; from += writesAtOnce) {
        const some = payments.slice(from, from + writesAtOnce);
        await Promise.all(some.map((payment) => table.put(paymentItem(account, payment))));
      }
    },
    list: (account, period) =>
      isEmpty(period) ? nothing() : mapItems(table.queryAll(within(account, 'payment', period)), paymentOf),
    async readProgress(account) {
      const item = await table.get({ account: { S: account }, item: { S: progressItem } });
      return item === null
        ? noProgress
        : parseProgress(textAttribute(item, 'progress'), numberOf(item, 'version'));
    },
    async writeProgress(account, { version, ...progress }) {
      const item = {
        account: { S: account },
        item: { S: progressItem },
        version: { N: String(version + 1) },
        progress: { S: formatStored(progress) },
      };
      const written = await table.putIf(
        version === 0
          ? { item, condition: isNew }
          : { item, condition: '#version = :seen', values: { ':seen': { N: String(version) } } },
      );
      return written.done;
    },
  };
}

function paymentItem(account: string, payment: InterestPayment): Item {
  const { planId, investmentId, ticker, amount, paidAtMs, nth } = payment;
  const fields = [planId, investmentId, ticker, formatDecimal(amount), String(nth)];
  return {
    account: { S: account },
    item: { S: `payment#${formatTime(paidAtMs)}#${nameOf(fields)}` },
    payment: { S: JSON.stringify(fields) },
  };
}

/**
 * A sort key is limited to a kilobyte, and the exchange documents no maximum length of its ids: hence a hash.
 */
function nameOf(fields: readonly string[]): string {
  return hash('sha256', JSON.stringify(fields), 'base64url').slice(0, 22);
}

function paymentOf(item: Item): InterestPayment {
  const [planId = '', investmentId = '', ticker = '', amount = '', nth = ''] = parseOwnJson<
    readonly string[]
  >(textAttribute(item, 'payment'));
  return {
    planId,
    investmentId,
    ticker,
    amount: parseDecimal(amount),
    paidAtMs: Number(textAttribute(item, 'item').slice('payment#'.length, 'payment#'.length + 15)),
    nth: Number(nth),
  };
}
