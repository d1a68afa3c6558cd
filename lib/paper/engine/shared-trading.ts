import type { Decimal } from '../../base/decimal.ts';
import { RelayError } from '../../base/errors.ts';
import { applyCommand } from './engine.ts';
import { createExchangeState, type ExchangeState } from './exchange-state.ts';
import { isEffective, replayEntry } from './replay.ts';
import { checkStorable, type JournalEntry } from './stored-entries.ts';
import type { Trading } from './trading.ts';

/** A journal that several processes write. */
export interface SharedJournal {
  /**
   * The parts from the one with this number on, in their order. The first read begins the journal.
   *
   * @throws RelayError `store_unavailable`
   */
  read(from: number): Promise<SharedPart[]>;
  /**
   * Stores a part under this number; no other process can do the same.
   *
   * @returns false when another process was first
   * @throws RelayError `store_unavailable`
   */
  append(number: number, entries: readonly JournalEntry[]): Promise<boolean>;
  /** @throws RelayError `store_unavailable` */
  readFirstOrderId(): Promise<number>;
}

/** What one request changed. */
export type SharedPart = readonly JournalEntry[];

/** Another process changed the exchange meanwhile: what was applied here must be forgotten and asked again. */
export class JournalMoved extends Error {}

/** The exchange state of one of several processes. */
export interface SharedTrading extends Trading {
  /**
   * Takes in what other processes stored. Must come before each request, and requests one after another.
   *
   * @throws RelayError `store_unavailable`
   */
  catchUp(): Promise<void>;
  /**
   * Resolves once everything executed is stored. What is executed without a wait between is stored together or not at all.
   *
   * @throws JournalMoved; RelayError `store_unavailable`
   */
  settle(): Promise<void>;
}

/** Opens the exchange that a shared journal holds. Nothing is read before the first `catchUp`. */
export function openSharedTrading(journal: SharedJournal): SharedTrading {
  let state: ExchangeState | null = null;
  /** How many parts the state has taken in. */
  let taken = 0;
  let unstored: JournalEntry[] = [];
  let writing: Promise<void> = Promise.resolve();

  function current(): ExchangeState {
    if (state === null) throw new Error('the shared exchange was not caught up with its journal');
    return state;
  }

  async function store(): Promise<void> {
    // So that all commands of a request are in one part.
    await Promise.resolve();
    const entries = unstored;
    unstored = [];
    const isFirst = await journal.append(taken, entries).catch((error: unknown) => {
      // It may be stored all the same: the state is read again.
      state = null;
      throw error;
    });
    if (isFirst) taken += 1;
    else {
      state = null;
      throw new JournalMoved();
    }
  }

  return {
    get state() {
      return current();
    },
    wasEmptied: false,
    withoutCancelled: new Set(),
    async catchUp() {
      unstored = [];
      writing = Promise.resolve();
      const isFresh = state === null;
      if (isFresh) taken = 0;
      const known = state ?? createExchangeState(await journal.readFirstOrderId());
      for (const part of await journal.read(taken)) {
        for (const entry of part) if (!replayEntry(known, entry)) throw unreadable(taken);
        taken += 1;
      }
      state = known;
    },
    execute(command) {
      checkStorable(command);
      const prices: Record<string, Decimal> = Object.fromEntries(current().prices);
      const result = applyCommand(current(), command);
      if (!isEffective(result)) return { result, stored: writing };
      // Each process has prices of its own from the trades that met no order, so each entry names them all.
      if (unstored.push({ prices, command }) === 1) writing = store();
      // `settle` tells of it, too, so that nobody is surprised by what nobody waits for.
      writing.catch(() => undefined);
      return { result, stored: writing };
    },
    settle: () => writing,
    close: () => writing,
  };
}

function unreadable(number: number): RelayError {
  return new RelayError(
    'store_unavailable',
    `the paper exchange cannot replay part ${number} of its journal; empty its table to start afresh`,
  );
}
