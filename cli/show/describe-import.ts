import type { ImportProgress, Period } from '../../lib/snapshots/snapshot-store.ts';
import { describeRange } from '../read/time-range.ts';
import { formatMinute } from './print.ts';

/** Sentences on what the import of interest could not read or has not read yet, and what to do about it. */
export function describeImport(progress: ImportProgress, account: string, period: Period): readonly string[] {
  const { gaps, refusal } = progress;
  return [
    ...(refusal === null ? [] : [describeRefusal(account, refusal)]),
    ...describeReach(progress, account, period),
    ...gaps.filter((gap) => overlap(gap, period)).map(describeGap),
  ];
}

/** Says until when payments are imported if the period ends later, or that no import is complete. */
function describeReach(
  { importedAtMs, completeUntilMs, refusal }: ImportProgress,
  account: string,
  { untilMs }: Period,
): readonly string[] {
  const reachMs = importedAtMs ?? completeUntilMs;
  if (reachMs === null) return refusal === null ? [describeUnfinished(account)] : [];
  if (untilMs <= reachMs) return [];
  const done = importedAtMs === undefined ? 'is known to be imported up to' : 'was last imported at';
  return [
    `Interest of account ${account} ${done} ${formatMinute(reachMs)} UTC: later payments may be missing.`,
  ];
}

function describeUnfinished(account: string): string {
  return `No import of interest for account ${account} is complete yet, so payments are missing. The relay imports while it runs, at the times of snapshots.interest in relay.config.ts.`;
}

function describeRefusal(account: string, { atMs, reason }: NonNullable<ImportProgress['refusal']>): string {
  return `The import for account ${account} has been stopped since ${formatMinute(atMs)} UTC: only business partners receive interest payments, and the exchange responded: ${reason.replace(/\.$/, '')}. Once the account is a partner, run \`interest retry --account ${account}\`. A new key (\`keys set ${account}\`) restarts the import too.`;
}

function describeGap(gap: Period): string {
  const range = gap.fromMs <= 0 ? `before ${formatMinute(gap.untilMs)} UTC` : `from ${describeRange(gap)}`;
  return `Payments ${range} may be missing: the exchange no longer listed all of them when the relay imported them. Compare with its own history.`;
}

function overlap(one: Period, other: Period): boolean {
  return one.fromMs < other.untilMs && other.fromMs < one.untilMs;
}
