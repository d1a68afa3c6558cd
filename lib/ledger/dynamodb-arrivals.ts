import { type Item, numberOf, textAttribute } from '../base/dynamodb.ts';
import { type ConditionalPut, type DynamodbTable, isNew } from '../base/dynamodb-table.ts';
import { expiryAttribute } from './dynamodb-items.ts';
import type { NewEntry } from './ledger.ts';
import { type BytesArrival, mayBeResend } from './ledger-rules.ts';

/** Far beyond the time in which a resend can come, also after a clock was set back. */
const keepSeconds = 86_400;

/** What is stored of the last arrival of some bytes. */
export interface StoredArrival extends BytesArrival {
  /** Names the write that stored it; null for none: these bytes never came before. */
  readonly writer: string | null;
}

/**
 * The alerts that only their arrival tells from the next one with the same bytes: one item for each, which is written in
 * one transaction with the entries of the alert. Of two deliveries at one moment, only one meets the item that it has read.
 */
export class DynamodbArrivals {
  readonly #table: DynamodbTable;

  constructor(table: DynamodbTable) {
    this.#table = table;
  }

  async read(entry: NewEntry): Promise<StoredArrival> {
    const item = await this.#table.get(keyItemOf(entry));
    if (item === null) return { atMs: Number.NEGATIVE_INFINITY, signalIds: [], writer: null };
    const signalIds = (item['signalIds']?.L ?? []).map(({ S = '' }) => S);
    return { atMs: numberOf(item, 'atMs'), signalIds, writer: textAttribute(item, 'writer') };
  }

  /**
   * The ids of the signals that a delivery may be a resend of; none when it is another alert.
   *
   * An arrival in the future is not dated anew, as on one machine: a function that was frozen goes on with the time of its
   * own delivery, and would make the resend of a later alert look like another one. Until its time has come, its bytes
   * place nothing, and each is told.
   */
  listEarlier(seen: StoredArrival, entry: NewEntry): readonly string[] {
    return mayBeResend(seen, entry.atMs) ? seen.signalIds : [];
  }

  /** The write that belongs into the transaction of the alert: it fails if these bytes came since they were read. */
  putOf(seen: StoredArrival, entry: NewEntry, signalIds: readonly string[], writer: string): ConditionalPut {
    const item: Item = {
      ...keyItemOf(entry),
      atMs: { N: String(entry.atMs) },
      signalIds: { L: signalIds.map((signalId) => ({ S: signalId })) },
      writer: { S: writer },
      [expiryAttribute]: { N: String(Math.ceil(entry.atMs / 1000) + keepSeconds) },
    };
    if (seen.writer === null) return { item, condition: isNew };
    return { item, condition: '#writer = :seen', values: { ':seen': { S: seen.writer } } };
  }
}

function keyItemOf({ account, fingerprint }: NewEntry): Item {
  return { account: { S: account }, item: { S: `arrival#${fingerprint}` } };
}
