import { hash } from 'node:crypto';
import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import { type Item, numberOf, textOf } from '../base/dynamodb.ts';
import { parseOwnJson } from '../base/json.ts';
import { isFinal, type Status } from '../model/outcome.ts';
import { boundStep } from './bound-step.ts';
import { createDamage, createDamagedEntry, readStatus } from './damaged-entry.ts';
import type { Entry, EntryKey, Step } from './entry.ts';
import { readLookup, readSignal } from './stored-entry.ts';

/**
 * The ledger's table. Everything of an account has the account's name as partition key `account`; the sort key
 * `item` tells its things apart: `signal#<id>`, `order#<id at the exchange>`, `signals-of-a-minute`,
 * `orders-of-a-minute`, `pause`.
 *
 * `openOrders` is a local index, because only local ones can be read consistently: an order placed a moment ago must
 * not escape a "cancel all", nor a signal stored a moment ago the one that follows it. The price: an account's items
 * may come to 10 GB, some three million signals.
 * The other indexes hold keys only; a page of them is then read from the table, as it is by now.
 *
 * @see https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/LSI.html
 */
export const indexes = {
  /** `account`, then `openOrder`: sparse, there while the signal waits or is sent, and while the exchange may hold its order. */
  openOrders: 'open-orders',
  /** `kind`, then `place`. One key for all: writes to it come to far less than what one key takes, 1000 a second. */
  byTime: 'by-time',
  /** `account`, then `place`. */
  byAccount: 'by-account',
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
          orderPlace: { S: `${sentPrefix(entry, entry.signal.market)}${place}` },
          openOrder: { S: `${waitingPrefix(entry.signal.market)}${place}` },
        }),
  };
}

export function stepList(...steps: readonly Step[]): AttributeValue {
  return { L: steps.map((step) => ({ S: JSON.stringify(boundStep(step)) })) };
}

/** What the open orders of a market begin with in their index. */
export function openOrderPrefix(market: string): string {
  return `${market}#`;
}

/** What all waiting signals begin with in the same index; no market's name has a space. */
export const anyWaitingPrefix = 'waiting ';

/** What the waiting signals of a market begin with in the same index. */
export function waitingPrefix(market: string): string {
  return `${anyWaitingPrefix}${openOrderPrefix(market)}`;
}

/** What an entry begins with there while it is sent: a cancellation is among no market's open orders. */
function sentPrefix({ clientOrderId }: Entry, market: string): string {
  return clientOrderId === null ? `cancelling ${openOrderPrefix(market)}` : openOrderPrefix(market);
}

/** The item that tells which signal placed an order, by the exchange's id of it. */
export function orderKeyItem(account: string, orderId: number): Item {
  return { account: { S: account }, item: { S: `order#${orderId}` } };
}

/** @throws RelayError `entry_damaged` when one of its texts is no JSON, or its status is none */
export function entryOf(item: Item): Entry {
  try {
    return readItem(item);
  } catch (error) {
    throw createDamage(keyOf(item), error);
  }
}

/** Every entry of a page; one that cannot be read is stood in for. */
export function entriesOf(items: readonly Item[]): readonly Entry[] {
  return items.map(entryOrStandIn);
}

/** The entry; where it cannot be read, what is left of it. */
export function entryOrStandIn(item: Item): Entry {
  try {
    return readItem(item);
  } catch {
    return createDamagedEntry({ ...readAttributes(item), status: textOf(item, 'status') });
  }
}

function keyOf(item: Item): EntryKey {
  return { account: textOf(item, 'account'), signalId: textOf(item, 'item').slice('signal#'.length) };
}

function readItem(item: Item): Entry {
  return {
    ...readAttributes(item),
    status: readStatus(textOf(item, 'status')),
    signal: item['signal'] === undefined ? null : readSignal(textOf(item, 'signal')),
    steps: (item['steps']?.L ?? []).map(({ S = '' }) => parseOwnJson<Step>(S)),
    lookup: item['look'] === undefined ? null : readLookup(textOf(item, 'look')),
  };
}

function readAttributes(item: Item) {
  return {
    ...keyOf(item),
    clientOrderId: item['clientOrderId']?.S ?? null,
    fingerprint: textOf(item, 'fingerprint'),
    createdAtMs: numberOf(item, 'createdAtMs'),
    updatedAtMs: numberOf(item, 'updatedAtMs'),
    orderId: item['orderId'] === undefined ? null : numberOf(item, 'orderId'),
    orderOpen: isOpenOrder(item),
  };
}

function isOpenOrder(item: Item): boolean {
  const place = item['openOrder']?.S;
  // Those of open orders begin with a market.
  return place !== undefined && !place.includes(' ');
}

/** An order that nobody ever saw end is kept at least this long; an exchange forgets sooner. */
const keepOpenDays = 400;

/**
 * When an entry may be deleted, in seconds since the Unix epoch; null while something can still become of it.
 *
 * @param mayBeOpen whether the exchange may hold its order
 */
export function expiryOf(
  status: Status,
  updatedAtMs: number,
  keepDays: number,
  mayBeOpen: boolean,
): number | null {
  if (!isFinal(status)) return null;
  const days = mayBeOpen ? Math.max(keepDays, keepOpenDays) : keepDays;
  return Math.ceil(updatedAtMs / 1000) + days * 86_400;
}

/** Where an entry stands among all: by time, then by arrival in the process that stored it; unique by its key. */
function formatPlace({ createdAtMs, account, signalId }: Entry, arrival: number): string {
  return `${formatTime(createdAtMs)}.${String(arrival).padStart(9, '0')}#${account}#${signalId}`;
}

/** What the places of that moment begin with: it stands before them, and behind all earlier ones. */
export function formatTime(timeMs: number): string {
  return String(timeMs).padStart(15, '0');
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
