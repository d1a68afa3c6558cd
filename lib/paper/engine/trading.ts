import type { Decimal } from '../../base/decimal.ts';
import { RelayError } from '../../base/errors.ts';
import type { CommandResult } from './command-result.ts';
import { applyCommand, type Command } from './engine.ts';
import { createExchangeState, type ExchangeState } from './exchange-state.ts';
import { type Journal, openJournal, unusable } from './journal.ts';
import { isEffective, replayEntry } from './replay.ts';

/** The exchange state, and the only way to change it. */
export interface Trading {
  /** Must only be read. */
  readonly state: ExchangeState;
  /** Whether the state of an older release was removed, because this one cannot read it. */
  readonly wasEmptied: boolean;
  /** The accounts whose history has no cancelled orders, as that of partners at the live service. Not stored. */
  readonly withoutCancelled: Set<string>;
  /**
   * Applies one command at once, and stores it if there is a journal.
   *
   * @throws RelayError `store_unavailable` after a write has failed, because the journal is then incomplete;
   *   RangeError when the journal cannot store the command
   */
  execute(command: Command): ExecutedCommand;
  close(): Promise<void>;
}

export interface ExecutedCommand {
  readonly result: CommandResult;
  /** Resolves once the command is stored. Responses wait for it. */
  readonly stored: Promise<void>;
}

/**
 * @param journalPath the file that keeps the state across restarts; null keeps the state in memory
 * @param nowMs the time of a journal that is begun now; its order ids depend on it
 * @throws RelayError `store_unavailable` when the journal cannot be replayed
 */
export function openTrading(journalPath: string | null, nowMs = 0): Trading {
  const journal = journalPath === null ? null : openJournal(journalPath, nowMs);
  const state = createExchangeState(journal?.firstOrderId);
  if (journal !== null && journalPath !== null) replayAll(state, journal, journalPath);
  let failure: unknown = null;
  let lastWrite: Promise<void> = Promise.resolve();
  let unstoredPrices: Record<string, Decimal> = {};

  function store(command: Command | null): Promise<void> {
    if (journal === null) return Promise.resolve();
    const stored = journal.append({ prices: unstoredPrices, command });
    unstoredPrices = {};
    lastWrite = stored.catch((error: unknown) => {
      failure = error;
    });
    return stored;
  }

  return {
    state,
    wasEmptied: journal?.wasEmptied ?? false,
    withoutCancelled: new Set(),
    execute(command) {
      if (failure !== null)
        throw new RelayError('store_unavailable', 'the paper exchange lost its journal', { cause: failure });
      journal?.check(command);
      const result = applyCommand(state, command);
      if (isEffective(result)) return { result, stored: store(command) };
      // A price that affected no order is stored with the next command that has an effect.
      if (command.kind === 'trade') unstoredPrices[command.market] = command.price;
      return { result, stored: lastWrite };
    },
    async close() {
      if (failure === null && Object.keys(unstoredPrices).length > 0) void store(null);
      await lastWrite;
      journal?.close();
    },
  };
}

function replayAll(state: ExchangeState, journal: Journal, path: string): void {
  for (const [index, entry] of journal.entries.entries())
    if (!replayEntry(state, entry)) {
      journal.close();
      throw unusable(path, `its entry ${index + 1} has no effect when replayed`);
    }
}
