import type { Decimal } from '../base/decimal.ts';
import { RelayError } from '../base/errors.ts';
import { applyCommand, type Command, type CommandResult } from './engine.ts';
import { type Journal, openJournal, unusable } from './journal.ts';
import { createWorld, type World } from './world.ts';

/** The world, and the only way to change it. */
export interface Trading {
  /** To be read only. */
  readonly world: World;
  /**
   * Carries out one command at once, and puts it on the disk if there is one.
   *
   * @throws RelayError `store_unavailable` after a write has failed: the disk no longer tells the whole story;
   * RangeError when the disk could not tell the command again
   */
  execute(command: Command): Execution;
  close(): Promise<void>;
}

export interface Execution {
  readonly result: CommandResult;
  /** Resolves once nothing can take the command back; answers wait for it. */
  readonly stored: Promise<void>;
}

/**
 * @param journalPath where the world is kept across restarts; null keeps it in memory
 * @throws RelayError `store_unavailable` when the journal cannot be replayed
 */
export function openTrading(journalPath: string | null): Trading {
  const world = createWorld();
  const journal = journalPath === null ? null : openJournal(journalPath);
  if (journal !== null && journalPath !== null) replay(world, journal, journalPath);
  let failure: unknown = null;
  let lastWrite: Promise<void> = Promise.resolve();
  let silentPrices: Record<string, Decimal> = {};

  function store(command: Command | null): Promise<void> {
    if (journal === null) return Promise.resolve();
    const stored = journal.append({ prices: silentPrices, command });
    silentPrices = {};
    lastWrite = stored.catch((error: unknown) => {
      failure = error;
    });
    return stored;
  }

  return {
    world,
    execute(command) {
      if (failure !== null)
        throw new RelayError('store_unavailable', 'the paper exchange lost its journal', { cause: failure });
      journal?.check(command);
      const result = applyCommand(world, command);
      if (isEffective(result)) return { result, stored: store(command) };
      // A price that touched no order rides along with the next command that does.
      if (command.kind === 'trade') silentPrices[command.market] = command.price;
      return { result, stored: lastWrite };
    },
    async close() {
      if (failure === null && Object.keys(silentPrices).length > 0) void store(null);
      await lastWrite;
      journal?.close();
    },
  };
}

function isEffective(result: CommandResult): boolean {
  return ['order', 'set'].includes(result.result) || (result.result === 'traded' && result.touched);
}

function replay(world: World, journal: Journal, path: string): void {
  for (const [index, { prices, command }] of journal.entries.entries()) {
    for (const [market, price] of Object.entries(prices)) world.prices.set(market, price);
    if (command !== null && !replaysWell(world, command)) {
      journal.close();
      throw unusable(path, `its entry ${index + 1} has no effect when replayed`);
    }
  }
}

function replaysWell(world: World, command: Command): boolean {
  try {
    return isEffective(applyCommand(world, command));
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
}
