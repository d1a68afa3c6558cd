import type { Clock } from '../base/clock.ts';
import { migrateTables, type SqliteFile } from '../base/sqlite.ts';
import {
  type Delivery,
  deduplicationIdOf,
  groupOf,
  type SignalMessage,
  type SignalQueue,
  type SignalSource,
} from './queue.ts';
import { type Waiting, WaitingLine } from './waiting-line.ts';

export interface SqliteQueueOptions {
  readonly clock: Clock;
  /** After this many deliveries without an acknowledgement a message becomes a dead letter. */
  readonly maxReceives: number;
  /** How long a group pauses after one of its messages was released; 2 seconds by default. */
  readonly retryDelayMs?: number;
  /** Called for every message that becomes a dead letter: its signal now waits for the operator. */
  readonly onDeadLetter?: (message: { readonly group: string }) => void;
}

/** A message that was delivered too often, kept for the operator to inspect. */
export interface DeadLetter {
  readonly group: string;
  readonly body: string;
  readonly receiveCount: number;
  readonly sentAtMs: number;
  readonly diedAtMs: number;
}

export interface SqliteQueue extends SignalQueue, SignalSource {
  /**
   * Puts messages at the ends of their groups, inside a transaction of the caller on the same file, which may
   * run more than once before it is committed.
   *
   * @returns a function that makes them available for delivery, to be called after the commit
   */
  stage(messages: readonly SignalMessage[]): () => void;
  /** At most this many, newest first. */
  deadLetters(limit: number): Promise<readonly DeadLetter[]>;
  /**
   * Loads messages that another process put into the file, as a redrive does; cheap when there are none.
   *
   * @throws RelayError `store_unavailable`
   */
  takeInOutsiders(): void;
}

/** One script per version. */
export const migrations: readonly string[] = [
  `CREATE TABLE messages (
     position INTEGER PRIMARY KEY,
     deduplication_id TEXT NOT NULL UNIQUE,
     group_name TEXT NOT NULL,
     body TEXT NOT NULL,
     sent_at_ms INTEGER NOT NULL,
     failed_count INTEGER NOT NULL DEFAULT 0
   ) STRICT;
   CREATE TABLE dead_letters (
     seq INTEGER PRIMARY KEY,
     group_name TEXT NOT NULL,
     body TEXT NOT NULL,
     receive_count INTEGER NOT NULL,
     sent_at_ms INTEGER NOT NULL,
     died_at_ms INTEGER NOT NULL
   ) STRICT;`,
];

/** @throws RelayError `store_unavailable` when the file was written by a newer release */
export function migrateQueueTables(file: SqliteFile): void {
  migrateTables(file, 'queue', migrations);
}

/**
 * Creates the queue in an embedded database that one process owns.
 *
 * Messages are on the disk; the deliveries in progress are only in memory. So after a crash every message
 * that was not acknowledged is delivered again at once, and the delivery that crashed is not counted.
 *
 * @throws RelayError `store_unavailable` when the file was written by a newer release
 */
export function createSqliteQueue(file: SqliteFile, options: SqliteQueueOptions): SqliteQueue {
  migrateQueueTables(file);
  return new EmbeddedQueue(file, options);
}

class EmbeddedQueue implements SqliteQueue {
  readonly #file: SqliteFile;
  readonly #options: Required<SqliteQueueOptions>;
  readonly #statements: ReturnType<typeof prepareStatements>;
  readonly #line = new WaitingLine();
  readonly #claims = new Map<string, Waiting>();
  #receiptCount = 0;
  #dataVersion = 0;

  constructor(file: SqliteFile, options: SqliteQueueOptions) {
    this.#file = file;
    this.#options = { retryDelayMs: 2000, onDeadLetter: () => undefined, ...options };
    this.#statements = prepareStatements(file);
    this.takeInOutsiders();
  }

  takeInOutsiders(): void {
    this.#file.read(() => {
      const version = Number(this.#statements.dataVersion.get()?.['data_version']);
      if (version === this.#dataVersion) return;
      for (const row of this.#statements.waiting.all() as unknown as readonly Waiting[])
        if (!this.#line.has(row.id)) this.#line.add(row);
      this.#dataVersion = version;
    });
  }

  async enqueue(message: SignalMessage): Promise<void> {
    if (this.#line.has(deduplicationIdOf(message))) return;
    const makeAvailable = await this.#file.write(() => this.stage([message]));
    makeAvailable();
  }

  stage(messages: readonly SignalMessage[]): () => void {
    const staged = messages.flatMap((message) => this.#insert(message));
    return () => {
      for (const waiting of staged) if (!this.#line.has(waiting.id)) this.#line.add(waiting);
    };
  }

  /** @returns an empty list when the message is already waiting */
  #insert(message: SignalMessage): readonly Waiting[] {
    const id = deduplicationIdOf(message);
    const group = groupOf(message);
    const body = JSON.stringify(message);
    const sentAtMs = this.#options.clock.nowMs();
    const { changes, lastInsertRowid } = this.#statements.insert.run(id, group, body, sentAtMs);
    if (changes === 0) return [];
    return [{ id, position: Number(lastInsertRowid), group, body, sentAtMs, failedCount: 0 }];
  }

  async receive(maxMessages: number): Promise<readonly Delivery[]> {
    return this.#line.take(maxMessages).map((message) => this.#claim(message));
  }

  async remove(receipts: readonly string[]): Promise<void> {
    const messages = this.#giveUpClaims(receipts);
    try {
      await this.#file.write(() => {
        for (const { position } of messages) this.#statements.delete.run(position);
      });
    } catch (error) {
      this.#putBack(messages);
      throw error;
    }
    for (const message of messages) this.#line.remove(message);
  }

  async release(receipts: readonly string[]): Promise<void> {
    const messages = this.#giveUpClaims(receipts);
    const isDead = ({ failedCount }: Waiting) => failedCount + 1 >= this.#options.maxReceives;
    try {
      await this.#file.write(() => {
        for (const message of messages) if (isDead(message)) this.#bury(message);
        for (const message of messages) if (!isDead(message)) this.#statements.count.run(message.position);
      });
    } catch (error) {
      this.#putBack(messages);
      throw error;
    }
    const { dead = [], alive = [] } = Object.groupBy(messages, (message) =>
      isDead(message) ? 'dead' : 'alive',
    );
    for (const message of dead) {
      this.#line.remove(message);
      this.#options.onDeadLetter(message);
    }
    for (const message of alive) message.failedCount += 1;
    this.#putBack(alive);
  }

  waitForWork(signal?: AbortSignal): Promise<void> {
    return this.#line.waitForFree(signal);
  }

  async deadLetters(limit: number): Promise<readonly DeadLetter[]> {
    const rows = this.#file.read(() => this.#statements.deadLetters.all(limit));
    return rows.map((row) => ({ ...row })) as unknown as readonly DeadLetter[];
  }

  #claim(message: Waiting): Delivery {
    this.#receiptCount += 1;
    const receipt = String(this.#receiptCount);
    this.#claims.set(receipt, message);
    const { group, body, sentAtMs, failedCount } = message;
    return { receipt, group, body, sentAtMs, receiveCount: failedCount + 1 };
  }

  /** Receipts that were already used are ignored. */
  #giveUpClaims(receipts: readonly string[]): readonly Waiting[] {
    const messages: Waiting[] = [];
    for (const receipt of receipts) {
      const message = this.#claims.get(receipt);
      if (message !== undefined && this.#claims.delete(receipt)) messages.push(message);
    }
    return messages;
  }

  #putBack(messages: readonly Waiting[]): void {
    if (messages.length === 0) return;
    const rested = this.#options.clock.sleep(this.#options.retryDelayMs);
    for (const message of messages) this.#line.putBack(message, rested);
  }

  #bury({ position, group, body, sentAtMs, failedCount }: Waiting): void {
    const { deadLetter, delete: remove } = this.#statements;
    deadLetter.run(group, body, failedCount + 1, sentAtMs, this.#options.clock.nowMs());
    remove.run(position);
  }
}

function prepareStatements({ database }: SqliteFile) {
  return {
    waiting: database.prepare(
      `SELECT deduplication_id AS id, position, group_name AS "group", body, sent_at_ms AS sentAtMs,
         failed_count AS failedCount
       FROM messages ORDER BY position`,
    ),
    // Changes only when another connection has written.
    dataVersion: database.prepare('PRAGMA data_version'),
    insert: database.prepare(
      `INSERT INTO messages (deduplication_id, group_name, body, sent_at_ms) VALUES (?, ?, ?, ?)
       ON CONFLICT (deduplication_id) DO NOTHING`,
    ),
    delete: database.prepare('DELETE FROM messages WHERE position = ?'),
    count: database.prepare('UPDATE messages SET failed_count = failed_count + 1 WHERE position = ?'),
    deadLetter: database.prepare(
      `INSERT INTO dead_letters (group_name, body, receive_count, sent_at_ms, died_at_ms) VALUES (?, ?, ?, ?, ?)`,
    ),
    deadLetters: database.prepare(
      `SELECT group_name AS "group", body, receive_count AS receiveCount, sent_at_ms AS sentAtMs,
         died_at_ms AS diedAtMs
       FROM dead_letters ORDER BY seq DESC LIMIT ?`,
    ),
  };
}
