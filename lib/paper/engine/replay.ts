import type { CommandResult } from './command-result.ts';
import { applyCommand, type Command } from './engine.ts';
import type { ExchangeState } from './exchange-state.ts';
import type { JournalEntry } from './stored-entries.ts';

/** Whether a command changed more than a price, so that it must be stored. */
export function isEffective(result: CommandResult): boolean {
  return ['order', 'set'].includes(result.result) || (result.result === 'traded' && result.touched);
}

/** @returns false when the entry, which had an effect as it was stored, has none */
export function replayEntry(state: ExchangeState, { prices, command }: JournalEntry): boolean {
  for (const [market, price] of Object.entries(prices)) state.prices.set(market, price);
  return command === null || replaysWell(state, command);
}

function replaysWell(state: ExchangeState, command: Command): boolean {
  try {
    return isEffective(applyCommand(state, command));
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
}
