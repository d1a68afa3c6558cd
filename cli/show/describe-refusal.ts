import type { Entry } from '../../lib/ledger/entry.ts';
import type { Status } from '../../lib/model/outcome.ts';

/** The beginning of every refusal of a parsed alert; the reason follows. */
const commonBeginning = 'the alert was refused: ';

/** Why an entry contains no signal: its alert was refused, or the entry is damaged. */
export function describeRefusal({ steps }: Entry): string {
  const note = steps[0]?.note ?? '';
  return note.startsWith(commonBeginning) ? note.slice(commonBeginning.length) : note;
}

const unsuccessful: readonly Status[] = ['denied', 'rejected', 'not_sent', 'unknown', 'not_placed'];

/** Why a signal did not succeed; null when it did, or still may. */
export function describeReason(entry: Entry): string | null {
  if (entry.signal === null) return describeRefusal(entry);
  if (!unsuccessful.includes(entry.status)) return null;
  return entry.lookup?.finding ?? entry.steps.at(-1)?.note ?? null;
}

/** The ticker of a refused alert; null when it could not be read. */
export function refusedTickerOf({ steps }: Entry): string | null {
  return steps[0]?.facts?.ticker ?? null;
}
