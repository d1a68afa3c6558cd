import { type Evidence, type Violation, wasAnswered } from './evidence.ts';
import type { SentAlert } from './sender.ts';
import { logAlert, logEntry } from './story.ts';

/** What the senders were told, held against the ledger. */
export function checkAlerts(evidence: Evidence): readonly Violation[] {
  return [
    ...evidence.alerts.flatMap((alert) => checkAlert(evidence, alert)),
    ...evidence.entries
      .filter((entry) => evidence.alertOf(entry) === null)
      .map((entry) => ({
        wrong: 'disagreement' as const,
        what: 'the ledger has a signal that nobody sent',
        story: logEntry(evidence, entry),
      })),
  ];
}

function checkAlert(evidence: Evidence, alert: SentAlert): readonly Violation[] {
  const [isTaken, isRefused] = [wasAnswered(alert, 2), wasAnswered(alert, 4)];
  const found = (wrong: Violation['wrong'], what: string): Violation => ({
    wrong,
    what,
    story: [...logAlert(alert), ...evidence.entriesOf(alert).flatMap((entry) => logEntry(evidence, entry))],
  });
  return [
    ...(isTaken && !isKept(evidence, alert)
      ? [found('lost', 'an acknowledged alert is not in the ledger')]
      : []),
    ...(isTaken && alert.flaw !== null ? [found('disagreement', 'a flawed alert was acknowledged')] : []),
    ...(isRefused && alert.flaw === null ? [found('disagreement', 'a good alert was refused')] : []),
    ...(isRefused && !evidence.entriesOf(alert).some(({ status }) => status === 'invalid')
      ? [found('lost', 'a refusal left no trace in the ledger')]
      : []),
  ];
}

/** All of its signals, and those that the responses named, under its own bytes. */
function isKept(evidence: Evidence, alert: SentAlert): boolean {
  const { account, fingerprint, signals, deliveries } = alert;
  const named = deliveries.flatMap(({ signalIds }) => signalIds);
  const kept = evidence.entriesOf(alert).filter(({ status }) => status !== 'invalid');
  return (
    kept.length === signals.length &&
    named.every((signalId) => evidence.entryOf({ account, signalId })?.fingerprint === fingerprint)
  );
}
