import { hash } from 'node:crypto';
import { type AttributeValue, formatTime, type Item, numberOf, textAttribute } from '../base/dynamodb.ts';
import { parseOwnJson } from '../base/json.ts';
import type { Execution, Fill } from '../model/execution.ts';
import { isFinal, type Status } from '../model/outcome.ts';
import type { FactName } from './account-facts.ts';
import { formatStep } from './bound-step.ts';
import { createDamage, createDamagedEntry, readStatus } from './damaged-entry.ts';
import type { Entry, EntryKey, ReceivedMessage, Step } from './entry.ts';
import { readLookup, readSignal, readSteps } from './stored-entry.ts';

/**
 * The ledger's table. The partition key `account` is the account's name. The sort key `item` is one of
 * `signal#<id>`, `arrival#<SHA-256 of bytes>`, `order#<id at the exchange>`, `fill#<time>#<market>#<deal id>#<order id>`, `fact#<name>`,
 * `signals-of-a-minute`, `reductions-of-a-minute`, `orders-of-a-minute`, `alarm#<time>#<random>`, `day#<day>`, `channel#<channel>` and `pause`.
 *
 * `openOrders` is a local index, because only local indexes have strongly consistent reads: a "cancel all"
 * must see an order placed a moment ago, and a signal must see one stored a moment before it. The cost is a
 * limit of 10 GB for the items of an account, some three million signals. The other indexes hold keys only.
 * The items of a page are then read from the table, in their current state.
 *
 * @see https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/LSI.html
 * @see DECISIONS 33
 */
export const indexes = {
  /**
   * `account`, then `openOrder`. Sparse: has waiting signals,
   * signals being sent, orders that may be open, and ended ones that are followed.
   */
  openOrders: 'open-orders',
  /**
   * `kind`, then `place`. All entries share one key: it takes 1000 writes a second, far more than there are.
   */
  byTime: 'by-time',
  /** `account`, then `place`. */
  byAccount: 'by-account',
  /** `status`, then `place`. */
  byStatus: 'by-status',
  /** `status`, then `lookDueAtMs`. Sparse: has the entries that are `unknown`. */
  byLook: 'by-look',
} as const;

/** The time-to-live attribute of the table, in seconds since the Unix epoch. */
export const expiryAttribute = 'expiresAt';

/** The only value of `kind`, the partition key of the index by time. */
export const signalKind = 'signal';

export function keyItem({ account, signalId }: EntryKey): Item {
  return { account: { S: account }, item: { S: `signal#${signalId}` } };
}

/**
 * The item of a new entry. Signal and steps are stored as JSON
 * text, because DynamoDB's types differ from JSON's.
 *
 * @param arrival orders the entries that one process stored in the same millisecond
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

/** What the message of an alert said stands beside its entry, in the same item. */
export function messageAttributes(message: ReceivedMessage | undefined): Item {
  return message === undefined ? {} : { message: { S: JSON.stringify(message) } };
}

/** @returns null in an item without one, or with one that cannot be read */
export function messageOf(item: Item): ReceivedMessage | null {
  if (item['message'] === undefined) return null;
  try {
    return parseOwnJson<ReceivedMessage>(textAttribute(item, 'message'));
  } catch {
    return null;
  }
}

export function stepList(...steps: readonly Step[]): AttributeValue {
  return { L: steps.map((step) => ({ S: formatStep(step) })) };
}

/** The prefix of a market's open orders in the index `openOrders`. */
export function openOrderPrefix(market: string): string {
  return `${market}#`;
}

/** The prefix of an ended order that is still followed. */
export const followedPrefix = 'followed ';

/** The place of such an order in that index. @param atMs when it was known to have ended */
export function followedPlace({ signalId }: EntryKey, atMs: number): string {
  return `${followedPrefix}${formatTime(atMs)}#${signalId}`;
}

/** The prefix of all waiting signals in that index; no market name contains a space. */
export const anyWaitingPrefix = 'waiting ';

/** The prefix of a market's waiting signals in that index. */
export function waitingPrefix(market: string): string {
  return `${anyWaitingPrefix}${openOrderPrefix(market)}`;
}

/**
 * The prefix of an entry that is being sent. A cancellation
 * has its own, so that it is not listed as an open order.
 */
function sentPrefix({ clientOrderId }: Entry, market: string): string {
  return clientOrderId === null ? `cancelling ${openOrderPrefix(market)}` : openOrderPrefix(market);
}

/** The key of the item that maps the exchange's order id to the signal that placed the order. */
export function orderKeyItem(account: string, orderId: number): Item {
  return { account: { S: account }, item: { S: `order#${orderId}` } };
}

/** The key of a fill. It holds all that makes the fill unique, so a fill that is written twice is stored once. */
export function fillKeyItem({ account, atMs, market, dealId, orderId }: Fill): Item {
  // Filled up with zeros, so that the deals of one millisecond are in the order of their numbers.
  const deal = String(dealId).padStart(16, '0');
  return { account: { S: account }, item: { S: `${fillPrefix(atMs)}#${market}#${deal}#${orderId}` } };
}

/** It sorts before all fills of that time, and after all earlier ones. */
export function fillPrefix(atMs: number): string {
  return `fill#${formatTime(atMs)}`;
}

/** The sort key of the pause of an account. */
export const pauseName = 'pause';

/** The prefixes of what is noted for people: alarms, and the figures of a day. */
export const alarmPrefix = 'alarm#';
export const dayPrefix = 'day#';

export function factKeyItem(account: string, name: FactName): Item {
  return { account: { S: account }, item: { S: `fact#${name}` } };
}

/** @throws RelayError `entry_damaged` when one of its texts is not JSON or its status is invalid */
export function entryOf(item: Item): Entry {
  try {
    return readItem(item);
  } catch (error) {
    throw createDamage(keyOf(item), error);
  }
}

/** All entries of a page, with a substitute for each damaged one. */
export function entriesOf(items: readonly Item[]): readonly Entry[] {
  return items.map(entryOrDamaged);
}

/** The entry, or a substitute if it is damaged. */
export function entryOrDamaged(item: Item): Entry {
  try {
    return readItem(item);
  } catch {
    return createDamagedEntry({ ...readAttributes(item), status: textAttribute(item, 'status') });
  }
}

function keyOf(item: Item): EntryKey {
  return {
    account: textAttribute(item, 'account'),
    signalId: textAttribute(item, 'item').slice('signal#'.length),
  };
}

function readItem(item: Item): Entry {
  return {
    ...readAttributes(item),
    status: readStatus(textAttribute(item, 'status')),
    signal: item['signal'] === undefined ? null : readSignal(textAttribute(item, 'signal')),
    steps: readSteps((item['steps']?.L ?? []).map(({ S = '' }) => parseOwnJson<Step>(S))),
    lookup: item['look'] === undefined ? null : readLookup(textAttribute(item, 'look')),
    execution:
      item['execution'] === undefined ? null : parseOwnJson<Execution>(textAttribute(item, 'execution')),
  };
}

function readAttributes(item: Item) {
  return {
    ...keyOf(item),
    clientOrderId: item['clientOrderId']?.S ?? null,
    fingerprint: textAttribute(item, 'fingerprint'),
    createdAtMs: numberOf(item, 'createdAtMs'),
    updatedAtMs: numberOf(item, 'updatedAtMs'),
    orderId: item['orderId'] === undefined ? null : numberOf(item, 'orderId'),
    orderOpen: isOpenOrder(item),
  };
}

function isOpenOrder(item: Item): boolean {
  const place = item['openOrder']?.S;
  // Only the values of open orders begin with a market name, which has no space.
  return place !== undefined && !place.includes(' ');
}

/**
 * An order that still counts as open is kept at least this long; the exchange keeps it for a shorter time.
 */
const keepOpenDays = 400;

/**
 * When an entry may be deleted, in seconds since the Unix epoch; null until its status is final.
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
  const days = mayBeOpen ? longestKept(keepDays) : keepDays;
  return Math.ceil(updatedAtMs / 1000) + days * 86_400;
}

/** How many days a fill is kept, and an order that may be open. */
export function longestKept(keepDays: number): number {
  return Math.max(keepDays, keepOpenDays);
}

/**
 * The sort position of an entry: its time, then the order of arrival in its process; the key makes it unique.
 */
function formatPlace({ createdAtMs, account, signalId }: Entry, arrival: number): string {
  return `${formatTime(createdAtMs)}.${String(arrival).padStart(9, '0')}#${account}#${signalId}`;
}

export function formatCursor(place: string): string {
  return Buffer.from(place).toString('base64url');
}

/**
 * @returns the position after which the page begins
 * @throws RangeError when the text is not a cursor
 */
export function parseCursor(cursor: string): string {
  const place = Buffer.from(cursor, 'base64url').toString();
  if (/^\d{15}\.\d{9}#[^#]+#.+$/.test(place)) return place;
  throw new RangeError(`"${cursor.slice(0, 64)}" is not a cursor of this ledger: start from the first page`);
}

/**
 * A short name of a signal for items that hold thousands of signals; signals with equal names count as one.
 */
export function shortNameOf({ signalId }: EntryKey): string {
  return hash('sha256', signalId, 'base64url').slice(0, 12);
}
