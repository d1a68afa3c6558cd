import type { Entry } from '../../lib/ledger/entry.ts';
import { isFinal, statusTransitions } from '../../lib/model/outcome.ts';
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
  const lines = writings.filter(({ kind }) => kind === 'log').flatMap(({ text }) => text.split('\n'));
  return new Set(lines.flatMap((line) => alarmedBy(line) ?? []));
}

function alarmedBy(line: string): string | null {
  // Parsing every line of a long log would take many times as long.
  if (!line.includes('"alarm":true')) return null;
  try {
    const { account, signalId, alarm } = JSON.parse(line) as Record<string, unknown>;
    const isOne = alarm === true && typeof account === 'string' && typeof signalId === 'string';
    return isOne ? nameOf({ account, signalId }) : null;
  } catch {
    // A line that was cut short is not an alarm.
    return null;
  }
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
