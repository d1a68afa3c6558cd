import { type Item, numberOf } from '../base/dynamodb.ts';
import type { DynamodbTable } from '../base/dynamodb-table.ts';
import { RelayError } from '../base/errors.ts';
import { shortNameOf } from './dynamodb-items.ts';
import type { EntryKey } from './entry.ts';
import { limitWindowMs, type MinuteLimit } from './ledger.ts';
import { countsAt } from './ledger-rules.ts';

/**
 * Whether there was room within the limit; if not, how many are counted.
 *
 * @see DECISIONS 15
 */
export type Place = { readonly free: true } | { readonly free: false; readonly count: number };

type CountName = 'signals-of-a-minute' | 'reductions-of-a-minute' | 'orders-of-a-minute';

/** A refused write means that another one succeeded; this many refusals in a row are a failure. */
const maximumTries = 100;

/**
 * Counts the signals or orders of an account in the last minute, in one item: a map from signal to time.
 *
 * The count is written first, then the entry. A crash between the two writes costs the account one place for
 * a minute, and never gives it one too many. Each signal has its own place, so a retry does not take a second
 * one. A single transaction over both would make alerts fail that arrive together, as they do when a bar
 * closes: DynamoDB cancels overlapping transactions, but serialises single writes.
 *
 * @see
 * https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/transaction-apis.html#transaction-conflict-handling
 */
export class MinuteCount {
  readonly #table: DynamodbTable;
  readonly #itemName: string;

  constructor(table: DynamodbTable, itemName: CountName) {
    this.#table = table;
    this.#itemName = itemName;
  }

  /**
   * Takes a place for each of the keys, or none. Without a limit
   * nothing is counted; a limit that is set later counts from then on.
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
    throw new RelayError(
      'store_unavailable',
      'the ledger could not count this minute: too many concurrent writes',
    );
  }

  /**
   * Takes places for signals that have none yet, in one request.
   *
   * @returns the version of the item with these places, for {@link giveBack}; null when one of them has a place, even one
   * that no longer counts, or when the map has no room: then nothing was taken, and {@link take} decides
   */
  async takeNew(keys: readonly EntryKey[], atMs: number, limit: MinuteLimit | null): Promise<number | null> {
    if (limit === null || keys.length === 0) return 0;
    const { key, places, names } = placesOf(this.#itemName, keys);
    const written = await this.#table.update({
      Key: key,
      set: `SET ${places.map((place) => `${place} = :at`).join(', ')} ADD #version :one`,
      condition: `size(#times) <= :room AND ${places.map((place) => `attribute_not_exists(${place})`).join(' AND ')}`,
      names,
      values: {
        ':at': { N: String(atMs) },
        ':one': { N: '1' },
        ':room': { N: String(limit.maxPerMinute - keys.length) },
      },
    });
    return written.done ? numberOf(written.item, 'version') : null;
  }

  /**
   * Gives back what {@link takeNew} took.
   *
   * @param version as that returned it. If anything was counted since, the places stay taken for a minute: another writer
   * may have found them, and stored a signal that they count
   */
  async giveBack(keys: readonly EntryKey[], version: number, limit: MinuteLimit | null): Promise<void> {
    if (limit === null) return;
    const { key, places, names } = placesOf(this.#itemName, keys);
    await this.#table.update({
      Key: key,
      set: `REMOVE ${places.join(', ')} ADD #version :one`,
      condition: '#version = :version',
      names,
      values: { ':version': { N: String(version) }, ':one': { N: '1' } },
    });
  }

  /**
   * Takes places while the map has room, without reading the times in it. @returns null when the map is full
   */
  async #takeFree(taking: Taking): Promise<Place | null> {
    const { key, names, atMs, limit } = taking;
    const places = names.map((_, index) => `#times.#name${index}`);
    const written = await this.#table.update({
      Key: key,
      set: `SET ${places.map((place) => `${place} = :at`).join(', ')} ADD #version :one`,
      // A retry finds its own places and takes no others.
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

  /** Removes the times that no longer count, if that makes room. @returns null after a concurrent write */
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

/** Where the places of the signals are in the item of their account. */
function placesOf(itemName: string, keys: readonly EntryKey[]) {
  return {
    key: { account: { S: keys[0]?.account ?? '' }, item: { S: itemName } },
    places: keys.map((_, index) => `#times.#name${index}`),
    names: Object.fromEntries(keys.map((key, index) => [`#name${index}`, shortNameOf(key)])),
  };
}

interface Taking {
  readonly key: Item;
  readonly names: readonly string[];
  readonly atMs: number;
  readonly limit: MinuteLimit;
  /** The item that refused the write; null: nothing was counted yet. */
  found?: Item | null;
}
