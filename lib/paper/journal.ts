import * as z from 'zod';
import { type Decimal, parseDecimal } from '../base/decimal.ts';
import { RelayError } from '../base/errors.ts';
import { migrateTables, openSqlite, type SqliteFile } from '../base/sqlite.ts';
import { sides } from '../model/order.ts';
import type { Command } from './engine.ts';

/** One line of the journal: prices that moved since the line before without touching an order, then a command. */
export interface JournalEntry {
  /** Market → last price. */
  readonly prices: Readonly<Record<string, Decimal>>;
  /** Null when only prices moved. */
  readonly command: Command | null;
}

/** The exchange's memory on disk: replayed in order, it makes the same world again. */
export interface Journal {
  readonly entries: readonly JournalEntry[];
  /**
   * Resolves once the entry is on the disk; entries are kept in the order of the calls.
   *
   * @throws RelayError `store_unavailable`
   */
  append(entry: JournalEntry): Promise<void>;
  close(): void;
}

const DecimalText = z.string().transform(parseDecimal);

const FeeTermsText = z.object({
  minFlex: z.string().optional(),
  maxFlex: z.string().optional(),
  percentFlex: z.string().optional(),
  fixed: z.string().optional(),
  minAmount: z.string().optional(),
  maxAmount: z.string().optional(),
});

const CommandSchema = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('create'),
    atMs: z.number(),
    account: z.string(),
    order: z.object({
      market: z.string(),
      side: z.enum(sides),
      amount: DecimalText,
      price: DecimalText,
      activationPrice: DecimalText,
      stopLoss: DecimalText.nullable(),
      takeProfit: DecimalText.nullable(),
      clientOrderId: z.string(),
      stp: z.string(),
    }),
  }),
  z.object({
    kind: z.literal('cancel'),
    atMs: z.number(),
    account: z.string(),
    market: z.string(),
    orderId: z.int(),
  }),
  z.object({
    kind: z.literal('trade'),
    atMs: z.number(),
    market: z.string(),
    price: DecimalText,
    volume: DecimalText.nullable(),
  }),
  z.object({
    kind: z.literal('set_balance'),
    atMs: z.number(),
    account: z.string(),
    ticker: z.string(),
    amount: DecimalText,
  }),
  z.object({
    kind: z.literal('set_fee'),
    atMs: z.number(),
    ticker: z.string(),
    change: z.object({
      canDeposit: z.boolean().optional(),
      canWithdraw: z.boolean().optional(),
      deposit: FeeTermsText.optional(),
      withdraw: FeeTermsText.optional(),
    }),
  }),
  z.object({
    kind: z.literal('pay_interest'),
    atMs: z.number(),
    account: z.string(),
    payment: z.object({
      planId: z.string(),
      investmentId: z.string(),
      amount: z.string(),
      ticker: z.string(),
      timestamp: z.int(),
    }),
  }),
]);

const EntrySchema = z.object({
  prices: z.record(z.string(), DecimalText),
  command: CommandSchema.nullable(),
});

/** A release in which old entries would make another world appends a script that empties the table. */
const migrations = ['CREATE TABLE paper_journal (sequence INTEGER PRIMARY KEY, entry TEXT NOT NULL) STRICT'];

/**
 * Opens (or begins) a journal and reads what it holds.
 *
 * @throws RelayError `store_unavailable` when a newer release wrote the file, or it cannot be read
 */
export function openJournal(path: string): Journal {
  const file = openSqlite(path);
  try {
    return journalIn(file, path);
  } catch (error) {
    file.close();
    throw error;
  }
}

function journalIn(file: SqliteFile, path: string): Journal {
  migrateTables(file, 'paper journal', migrations);
  const entries = readEntries(file, path);
  const insert = file.database.prepare('INSERT INTO paper_journal (entry) VALUES (?)');
  return {
    entries,
    append(entry) {
      const text = JSON.stringify(entry);
      return file.write(() => {
        insert.run(text);
      });
    },
    close: () => file.close(),
  };
}

function readEntries({ database }: SqliteFile, path: string): JournalEntry[] {
  const rows = database.prepare('SELECT sequence, entry FROM paper_journal ORDER BY sequence').all();
  return rows.map(({ sequence, entry }) => {
    try {
      return EntrySchema.parse(JSON.parse(String(entry)));
    } catch (error) {
      throw unusable(path, `its entry ${sequence} cannot be read`, error);
    }
  });
}

/** An error that says how to begin anew. */
export function unusable(path: string, reason: string, cause?: unknown): RelayError {
  return new RelayError(
    'store_unavailable',
    `the paper exchange cannot use its journal ${path}: ${reason}; move the file away to start afresh`,
    { cause },
  );
}
