import type { Entry } from '../lib/ledger/entry.ts';
import type { Ledger } from '../lib/ledger/ledger.ts';
import { CommandFailure } from './failure.ts';

/**
 * The entry of that id, of one of the accounts.
 *
 * @throws CommandFailure when there is none, or more than one
 */
export async function findEntry(
  ledger: Ledger,
  signalId: string,
  accounts: readonly string[],
): Promise<Entry> {
  const reads = await Promise.all(accounts.map((account) => ledger.read({ account, signalId })));
  const found = reads.filter((entry) => entry !== null);
  const [entry] = found;
  if (entry === undefined)
    throw new CommandFailure(
      'unknown_signal',
      `the ledger has no signal "${signalId}" of ${accounts.join(' or ')}`,
      '`npm run -s relay -- signals` lists the ids.',
    );
  if (found.length > 1)
    throw new CommandFailure(
      'ambiguous_signal',
      `the accounts ${found.map((one) => one.account).join(' and ')} each have a signal "${signalId}"`,
      `Say which is meant, for example: --account ${entry.account}`,
    );
  return entry;
}
