import { hash } from 'node:crypto';
import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import { type Item, numberOf, textOf } from '../base/dynamodb.ts';
import { isFinal, type Status } from '../model/outcome.ts';
import type { Signal } from '../model/signal.ts';
import type { Entry, EntryKey, Look, Step } from './entry.ts';

/**
 * The ledger's table. Everything of an account has the account's name as partition key `account`; the sort key
 * `item` tells its things apart: `signal#<id>`, `signals-of-a-minute`, `orders-of-a-minute`, `pause`.
 *
 * `openOrders` is a local index, because only local ones can be read consistently, and an order placed a moment ago
 * must not escape a "cancel all". The price: an account's items may come to 10 GB, some three million signals.
 * The other indexes hold keys only; a page of them is then read from the table, as it is by now.
 *
 * @see https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/LSI.html
 */
export const indexes = {
  /** `account`, then `openOrder`: sparse, there while the exchange may hold the order. */
  openOrders: 'open-orders',
  /** `kind`, then `place`. One key for all: writes to it come to far less than what one key takes, 1000 a second. */
  byTime: 'by-time',
  /** `status`, then `place`. */
  byStatus: 'by-status',
  /** `status`, then `lookDueAtMs`: sparse, there while the entry is `unknown`. */
  byLook: 'by-look',
} as const;

/** The attribute by which DynamoDB deletes old entries, in seconds since the Unix epoch. */
export const expiryAttribute = 'expiresAt';

/** The one value of `kind`, the partition of the index by time. */
export const signalKind = 'signal';

export function keyItem({ account, signalId }: EntryKey): Item {
  return { account: { S: account }, item: { S: `signal#${signalId}` } };
}

/**
 * A new entry's item. Signal and steps are JSON text: DynamoDB's numbers and texts are not quite JSON's.
 *
 * @param arrival orders what one process stored in the same millisecond
 */
export function itemOf(entry: Entry, arrival: number): Item {
  const place = formatPlace(entry, arrival);
  return {
    ...keyItem(entry),
    kind: { S: signalKind },
    place: { S: place },
    status: { S: entry.status },
    fingerprint: { S: entry.fingerprint },
    createdAtMs: { N: String(entry.createdAtMs) },
    updatedAtMs: { N: String(entry.updatedAtMs) },
    steps: stepList(...entry.steps),
    ...(entry.clientOrderId === null ? {} : { clientOrderId: { S: entry.clientOrderId } }),
    ...(entry.signal === null
      ? {}
      : {
          signal: { S: JSON.stringify(entry.signal) },
          orderPlace: { S: `${openOrderPrefix(entry.signal.market)}${place}` },
        }),
  };
}

export function stepList(...steps: readonly Step[]): AttributeValue {
  return { L: steps.map((step) => ({ S: JSON.stringify(step) })) };
}

/** What the open orders of a market begin with in their index. */
export function openOrderPrefix(market: string): string {
  return `${market}#`;
}

export function entryOf(item: Item): Entry {
  return {
    account: textOf(item, 'account'),
    signalId: textOf(item, 'item').slice('signal#'.length),
    status: textOf(item, 'status') as Status,
    signal: item['signal'] === undefined ? null : (JSON.parse(textOf(item, 'signal')) as Signal),
    clientOrderId: item['clientOrderId']?.S ?? null,
    fingerprint: textOf(item, 'fingerprint'),
    createdAtMs: numberOf(item, 'createdAtMs'),
    updatedAtMs: numberOf(item, 'updatedAtMs'),
    steps: (item['steps']?.L ?? []).map(({ S = '' }) => JSON.parse(S) as Step),
    orderId: item['orderId'] === undefined ? null : numberOf(item, 'orderId'),
    orderOpen: item['openOrder'] !== undefined,
    look: item['look'] === undefined ? null : (JSON.parse(textOf(item, 'look')) as Look),
  };
}

/** When an entry may be deleted that has no open order; null while something can still become of it. */
export function expiryOf(status: Status, updatedAtMs: number, keepDays: number): number | null {
  return isFinal(status) ? Math.ceil(updatedAtMs / 1000) + keepDays * 86_400 : null;
}

/** Where an entry stands among all: by time, then by arrival in the process that stored it; unique by its key. */
function formatPlace({ createdAtMs, account, signalId }: Entry, arrival: number): string {
  const time = String(createdAtMs).padStart(15, '0');
  return `${time}.${String(arrival).padStart(9, '0')}#${account}#${signalId}`;
}

export function formatCursor(place: string): string {
  return Buffer.from(place).toString('base64url');
}

/**
 * @returns the place after which the page begins
 * @throws RangeError when the text is no cursor
 */
export function parseCursor(cursor: string): string {
  const place = Buffer.from(cursor, 'base64url').toString();
  if (/^\d{15}\.\d{9}#[^#]+#.+$/.test(place)) return place;
  throw new RangeError(`"${cursor.slice(0, 64)}" is not a cursor of this ledger: start from the first page`);
}

/** A short name for a signal where thousands share one item; two that collide are counted as one. */
export function shortNameOf({ signalId }: EntryKey): string {
  return hash('sha256', signalId, 'base64url').slice(0, 12);
}
