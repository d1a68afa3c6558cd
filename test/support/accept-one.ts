import type { Entry } from '../../lib/ledger/entry.ts';
import type { Ledger, MinuteLimit, NewEntry } from '../../lib/ledger/ledger.ts';

export type AcceptedOne =
  | { readonly result: 'created' | 'exists' | 'id_taken'; readonly entry: Entry }
  | { readonly result: 'over_limit'; readonly count: number };

/** Stores an alert of one signal. */
export async function acceptOne(
  ledger: Ledger,
  entry: NewEntry,
  limit: MinuteLimit | null = null,
): Promise<AcceptedOne> {
  const accepted = await ledger.accept([entry], limit);
  if (accepted.result === 'over_limit') return accepted;
  if (accepted.result === 'id_taken') return { result: 'id_taken', entry: accepted.by };
  const [stored] = accepted.signals;
  if (stored === undefined) throw new Error('nothing was stored');
  return { result: stored.isNew ? 'created' : 'exists', entry: stored.entry };
}
