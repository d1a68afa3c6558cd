import type { Entry } from '../lib/ledger/entry.ts';
import type { Status } from '../lib/model/outcome.ts';

/** What every refusal of an alert that was read begins with; the rest says why. */
const commonBeginning = 'the alert was refused: ';

/** Why an entry holds no signal, in a few words: its alert was refused, or it is damaged. */
export function describeRefusal({ steps }: Entry): string {
  const note = steps[0]?.note ?? '';
  return note.startsWith(commonBeginning) ? note.slice(commonBeginning.length) : note;
}

const unmeant: readonly Status[] = ['denied', 'rejected', 'not_sent', 'unknown', 'not_placed'];

/** Why a signal did not become what its alert asked for; null where it did, or still may. */
export function describeReason(entry: Entry): string | null {
  if (entry.signal === null) return describeRefusal(entry);
  if (!unmeant.includes(entry.status)) return null;
  return entry.lookup?.finding ?? entry.steps.at(-1)?.note ?? null;
}

/** The ticker that a refused alert named; null where it could not be read. */
export function refusedTickerOf({ steps }: Entry): string | null {
  const evidence = steps[0]?.evidence;
  const ticker: unknown = typeof evidence === 'object' ? Object(evidence).ticker : undefined;
  return typeof ticker === 'string' ? ticker : null;
}
