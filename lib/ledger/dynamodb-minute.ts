import { type Item, numberOf } from '../base/dynamodb.ts';
import { RelayError } from '../base/errors.ts';
import { shortNameOf } from './dynamodb-items.ts';
import type { DynamodbTable } from './dynamodb-table.ts';
import type { EntryKey } from './entry.ts';
import { limitWindowMs, type MinuteLimit } from './ledger.ts';

/** Whether there was a place left, and how many are taken. */
export type Place = { readonly free: true } | { readonly free: false; readonly count: number };

/** No limit is above it (the configuration's maximum), so what is beyond need not be counted. */
const mostCounted = 10_000;
/** Without a limit the times are kept all the same, for a limit may follow; beyond so many the old ones are dropped. */
const roomWithoutLimit = 100;
/** Whoever is refused was overtaken by somebody who succeeded; this many in a row is something else. */
const maximumTries = 100;

/**
 * Counts what an account did in the last minute, in one item: a map from signal to time.
 *
 * Taking a place and writing the entry are two writes, in this order. A crash between them costs the account one
 * place for a minute and never gives it one too many; and since a signal's place is its own, a repeat takes no
 * second. One transaction over both would make alerts that come together, as they do when a bar closes, refuse each
 * other: DynamoDB turns overlapping transactions away, but lines up single writes.
 *
 * @see https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/transaction-apis.html#transaction-conflict-handling
 */
export class MinuteCount {
  readonly #table: DynamodbTable;
  readonly #itemName: string;

  constructor(table: DynamodbTable, itemName: 'signals-of-a-minute' | 'orders-of-a-minute') {
    this.#table = table;
    this.#itemName = itemName;
  }

  /** @throws RelayError `store_unavailable` */
  async take(key: EntryKey, atMs: number, limit: MinuteLimit | null): Promise<Place> {
    const taking: Taking = {
      key: { account: { S: key.account }, item: { S: this.#itemName } },
      name: shortNameOf(key),
      atMs,
      sinceMs: atMs - limitWindowMs,
      limit,
    };
    for (let tries = 0; tries < maximumTries; tries += 1) {
      const place = (await this.#takeFree(taking)) ?? (await this.#makeRoom(taking));
      if (place !== null) return place;
    }
    throw new RelayError('store_unavailable', 'the ledger could not count this minute: too many at once');
  }

  /** While the map has room there is no need to look at the times in it. @returns null when it is full */
  async #takeFree(taking: Taking): Promise<Place | null> {
    const { key, name, atMs, sinceMs, limit } = taking;
    const written = await this.#table.update({
      Key: key,
      set: 'SET #times.#name = :at ADD #version :one',
      condition: 'size(#times) < :most OR #times.#name > :since',
      names: { '#name': name },
      values: {
        ':at': { N: String(atMs) },
        ':one': { N: '1' },
        ':most': { N: String(limit?.maxPerMinute ?? roomWithoutLimit) },
        ':since': { N: String(sinceMs) },
      },
    });
    if (written.done) return { free: true };
    taking.found = written.found;
    return null;
  }

  /** Drops the times that are over, if that makes room. @returns null when somebody else wrote meanwhile */
  async #makeRoom({ key, name, atMs, sinceMs, limit, found = null }: Taking): Promise<Place | null> {
    const live = Object.entries(found?.['times']?.M ?? {}).filter(([, time]) => Number(time.N) > sinceMs);
    if (limit !== null && live.length >= limit.maxPerMinute) return { free: false, count: live.length };
    if (live.length >= mostCounted) return { free: true };
    const times: Item = { ...Object.fromEntries(live), [name]: { N: String(atMs) } };
    const version = found === null ? 0 : numberOf(found, 'version');
    const written = await this.#table.update({
      Key: key,
      set: 'SET #times = :times, #version = :next',
      condition: found === null ? 'attribute_not_exists(#version)' : '#version = :seen',
      values: {
        ':times': { M: times },
        ':next': { N: String(version + 1) },
        ...(found === null ? {} : { ':seen': { N: String(version) } }),
      },
    });
    return written.done ? { free: true } : null;
  }
}

interface Taking {
  readonly key: Item;
  readonly name: string;
  readonly atMs: number;
  /** Times after this one count. */
  readonly sinceMs: number;
  readonly limit: MinuteLimit | null;
  /** What stood in the way; null: nothing was counted yet. */
  found?: Item | null;
}
