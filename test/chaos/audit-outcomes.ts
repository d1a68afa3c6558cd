import type { Entry } from '../../lib/ledger/entry.ts';
import { isFinal, statusTransitions } from '../../lib/model/outcome.ts';
import { readAlarms } from './alarms.ts';
import { logEntry } from './describe.ts';
import { type Evidence, nameOf, type Violation } from './evidence.ts';
import type { Writing } from './facts.ts';

/** Checks that every signal is settled, or is unknown with an alarm. */
export function checkOutcomes(evidence: Evidence): readonly Violation[] {
  const alarmed = findAlarmed(evidence.writings);
  return [
    ...evidence.entries.flatMap((entry) => [
      ...checkOutcome(evidence, entry, alarmed),
      ...checkMoves(evidence, entry),
    ]),
    ...checkQueue(evidence),
  ];
}

function checkOutcome(evidence: Evidence, entry: Entry, alarmed: ReadonlySet<string>): readonly Violation[] {
  if (isFinal(entry.status)) return [];
  if (entry.status === 'unknown' && alarmed.has(nameOf(entry))) return [];
  const what =
    entry.status === 'unknown'
      ? 'an outcome is unknown, and no alarm was raised'
      : `a signal is still ${entry.status}`;
  return [{ wrong: 'silent', what, details: logEntry(evidence, entry) }];
}

/** The signals that an alarm names. */
export function findAlarmed(writings: readonly Writing[]): ReadonlySet<string> {
  return new Set(
    readAlarms(writings)
      .filter(({ account, signalId }) => account !== '' && signalId !== '')
      .map(nameOf),
  );
}

/** Checks that an entry made only legal status changes, and was `sending` at most once. */
function checkMoves(evidence: Evidence, entry: Entry): readonly Violation[] {
  const path = entry.steps.map(({ status }) => status);
  const isLegal =
    (path[0] === 'accepted' || path[0] === 'invalid') &&
    path.at(-1) === entry.status &&
    path.every((to, index) => index === 0 || statusTransitions[path[index - 1] ?? to].includes(to));
  if (isLegal) return [];
  const wasSentAgain = path.filter((status) => status === 'sending').length > 1;
  return [
    {
      wrong: wasSentAgain ? 'duplicated' : 'disagreement',
      what: `an entry made an illegal status change: ${path.join(', ')}`,
      details: logEntry(evidence, entry),
    },
  ];
}

function checkQueue({ queue }: Evidence): readonly Violation[] {
  if (queue.waiting === 0 && queue.deadLetters === 0) return [];
  const what = `the queue still holds ${queue.waiting} messages and ${queue.deadLetters} dead letters`;
  return [{ wrong: 'silent', what, details: [] }];
}
