import type { Entry } from '../../lib/ledger/entry.ts';
import { logAlert, logEntry } from './describe.ts';
import { type Evidence, hadResponse, type Violation } from './evidence.ts';
import type { SentAlert } from './sender.ts';

/** Compares the responses to the senders with the ledger. */
export function checkAlerts(evidence: Evidence): readonly Violation[] {
  return [
    ...evidence.alerts.flatMap((alert) => checkAlert(evidence, alert)),
    ...evidence.entries
      .filter((entry) => evidence.alertOf(entry) === null && !isOfRelay(evidence, entry))
      .map((entry) => ({
        wrong: 'disagreement' as const,
        what: 'the ledger has a signal that no sender sent',
        details: logEntry(evidence, entry),
      })),
  ];
}

/** Whether the relay made it itself, for a signal that it has: to protect a position, or to close what a close left. */
function isOfRelay({ entries }: Evidence, { account, signalId, signal }: Entry): boolean {
  const of = signal?.action === 'protect' ? signal.of : signalId.replace(/:rest-\d$/, '');
  return of !== signalId && entries.some((entry) => entry.account === account && entry.signalId === of);
}

function checkAlert(evidence: Evidence, alert: SentAlert): readonly Violation[] {
  const [isTaken, isRefused] = [hadResponse(alert, 2), hadResponse(alert, 4)];
  const found = (wrong: Violation['wrong'], what: string): Violation => ({
    wrong,
    what,
    details: [...logAlert(alert), ...evidence.entriesOf(alert).flatMap((entry) => logEntry(evidence, entry))],
  });
  return [
    ...(isTaken && !isKept(evidence, alert)
      ? [found('lost', 'an acknowledged alert is not in the ledger')]
      : []),
    ...(isTaken && alert.flaw !== null ? [found('disagreement', 'a flawed alert was acknowledged')] : []),
    ...(isRefused && alert.flaw === null ? [found('disagreement', 'a good alert was refused')] : []),
    ...(isRefused && !evidence.entriesOf(alert).some(({ status }) => status === 'invalid')
      ? [found('lost', 'a refusal is not in the ledger')]
      : []),
  ];
}

/** Whether the ledger has all of its signals, and those that the responses named, under its fingerprint. */
function isKept(evidence: Evidence, alert: SentAlert): boolean {
  const { account, fingerprint, signals, deliveries } = alert;
  const named = deliveries.flatMap(({ signalIds }) => signalIds);
  const kept = evidence.entriesOf(alert).filter(({ status }) => status !== 'invalid');
  return (
    kept.length === signals.length &&
    named.every((signalId) => evidence.entryOf({ account, signalId })?.fingerprint === fingerprint)
  );
}
