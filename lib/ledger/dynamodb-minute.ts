import { type Item, numberOf } from '../base/dynamodb.ts';
import type { DynamodbTable } from '../base/dynamodb-table.ts';
import { RelayError } from '../base/errors.ts';
import { shortNameOf } from './dynamodb-items.ts';
import type { EntryKey } from './entry.ts';
import { countsAt, limitWindowMs, type MinuteLimit } from './ledger.ts';

/** Whether there was a place left, and how many are taken. */
export type Place = { readonly free: true } | { readonly free: false; readonly count: number };

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

  /**
   * Takes a place for each of the keys, or none. Without a limit there is nothing to count; one that is set later
   * begins to count then.
   *
   * @param keys of one account
   * @throws RelayError `store_unavailable`
   */
  async take(keys: readonly EntryKey[], atMs: number, limit: MinuteLimit | null): Promise<Place> {
    const [first] = keys;
    if (limit === null || first === undefined) return { free: true };
    const taking: Taking = {
      key: { account: { S: first.account }, item: { S: this.#itemName } },
      names: keys.map(shortNameOf),
      atMs,
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
    const { key, names, atMs, limit } = taking;
    const places = names.map((_, index) => `#times.#name${index}`);
    const written = await this.#table.update({
      Key: key,
      set: `SET ${places.map((place) => `${place} = :at`).join(', ')} ADD #version :one`,
      // A repeat finds its own places and takes no others.
      condition: `size(#times) <= :room OR (${places.map((place) => `${place} > :since`).join(' AND ')})`,
      names: Object.fromEntries(names.map((name, index) => [`#name${index}`, name])),
      values: {
        ':at': { N: String(atMs) },
        ':one': { N: '1' },
        ':room': { N: String(limit.maxPerMinute - names.length) },
        ':since': { N: String(atMs - limitWindowMs) },
      },
    });
    if (written.done) return { free: true };
    taking.found = written.found;
    return null;
  }

  /** Drops the times that do not count, if that makes room. @returns null when somebody else wrote meanwhile */
  async #makeRoom({ key, names, atMs, limit, found = null }: Taking): Promise<Place | null> {
    const live = Object.entries(found?.['times']?.M ?? {}).filter(([, time]) =>
      countsAt(Number(time.N), atMs),
    );
    if (live.length + names.length > limit.maxPerMinute) return { free: false, count: live.length };
    const taken = names.map((name) => [name, { N: String(atMs) }]);
    const times: Item = { ...Object.fromEntries(live), ...Object.fromEntries(taken) };
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
  readonly names: readonly string[];
  readonly atMs: number;
  readonly limit: MinuteLimit;
  /** What stood in the way; null: nothing was counted yet. */
  found?: Item | null;
}
