import * as z from 'zod';
import type { Decimal } from '../../base/decimal.ts';
import type { Command } from './engine.ts';
import { CommandSchema, StoredDecimal } from './stored-commands.ts';

/**
 * One journal entry: the prices that changed since the previous entry without affecting an order, then a
 * command.
 *
 * @see DECISIONS 24
 */
export interface JournalEntry {
  /** Market → last price. */
  readonly prices: Readonly<Record<string, Decimal>>;
  /** Null when only prices moved. */
  readonly command: Command | null;
}

export const EntrySchema: z.ZodType<JournalEntry> = z.object({
  prices: z.record(z.string(), StoredDecimal),
  command: CommandSchema.nullable(),
});

/**
 * Must be called before a command is applied: a command that cannot be stored must not take effect.
 *
 * @throws RangeError that names the field that cannot be stored
 */
export function checkStorable(command: Command): void {
  const { error } = z.safeEncode(CommandSchema, command);
  if (error !== undefined)
    throw new RangeError(`the journal cannot keep this command: ${z.prettifyError(error)}`);
}
