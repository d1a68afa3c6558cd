import type { Entry } from '../../lib/ledger/entry.ts';
import type { Ledger } from '../../lib/ledger/ledger.ts';
import { protectPrefixesOf } from '../../lib/relay/protect/ask-protection.ts';

/** More than a position has in a day of trailing. */
const mostRead = 1000;

/** The signals that keep what a signal asked to protect a position with, oldest first. */
export async function findProtects(
  ledger: Pick<Ledger, 'findByPrefix'>,
  { account, signalId }: Pick<Entry, 'account' | 'signalId'>,
): Promise<readonly Entry[]> {
  const found = await Promise.all(
    protectPrefixesOf(signalId).map((prefix) => ledger.findByPrefix(account, prefix, mostRead)),
  );
  return found
    .flat()
    .filter(({ signal }) => signal?.action === 'protect' && signal.of === signalId)
    .toSorted((one, other) => one.createdAtMs - other.createdAtMs);
}
