import type { SqliteFile } from '../../lib/base/sqlite.ts';
import type { EntryKey } from '../../lib/ledger/entry.ts';

/** Writes into a column of an entry what no release would have written there. */
export function damageRow(
  { database }: SqliteFile,
  { account, signalId }: EntryKey,
  column: 'signal' | 'steps' | 'look' | 'status',
): void {
  const { changes } = database
    .prepare(`UPDATE entries SET ${column} = ? WHERE account = ? AND signal_id = ?`)
    .run('{"torn', account, signalId);
  if (changes !== 1) throw new Error(`there is no signal "${signalId}"`);
}
