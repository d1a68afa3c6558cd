import type { ImportProgress, Period } from '../lib/snapshots/snapshot-store.ts';
import { formatMinute } from './print.ts';
import { describeRange } from './time-range.ts';

/** What the import of interest could not do, or has not done yet, and what to do about it, in sentences. */
export function describeImport(progress: ImportProgress, account: string, period: Period): readonly string[] {
  const { gaps, refusal } = progress;
  return [
    ...(refusal === null ? [] : [describeRefusal(account, refusal)]),
    ...describeReach(progress, account, period),
    ...gaps.filter((gap) => overlap(gap, period)).map(describeGap),
  ];
}

/** Up to when it was imported, where the period ends later; that no import has ended, where none has. */
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
    `Interest of account ${account} ${done} ${formatMinute(reachMs)} UTC: what was paid since may be missing.`,
  ];
}

function describeUnfinished(account: string): string {
  return `No import of interest for account ${account} has come to its end yet, so payments are missing: the relay does it while it runs, at the times of snapshots.interest in relay.config.ts.`;
}

function describeRefusal(account: string, { atMs, reason }: NonNullable<ImportProgress['refusal']>): string {
  return `Nothing is imported for account ${account} since ${formatMinute(atMs)} UTC: only business partners have interest payments, and the exchange said: ${reason.replace(/\.$/, '')}. Once that has changed, ask again with \`interest retry --account ${account}\`; another key (\`keys set ${account}\`) is tried by itself.`;
}

function describeGap(gap: Period): string {
  const range = gap.fromMs <= 0 ? `before ${formatMinute(gap.untilMs)} UTC` : `from ${describeRange(gap)}`;
  return `Payments ${range} may be missing: the exchange no longer showed all of them when they were to be imported. Compare with its own history.`;
}

function overlap(one: Period, other: Period): boolean {
  return one.fromMs < other.untilMs && other.fromMs < one.untilMs;
}
