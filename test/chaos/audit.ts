import { checkAlerts } from './audit-alerts.ts';
import { checkOrders } from './audit-orders.ts';
import { checkOutcomes } from './audit-outcomes.ts';
import { checkTerminal } from './audit-terminal.ts';
import { checkWritings } from './audit-writings.ts';
import { type Evidence, gatherEvidence, type Violation } from './evidence.ts';
import type { Facts } from './facts.ts';

/** Holds everything that is known of a run against what the relay promises; empty when it kept its word. */
export function auditRun(facts: Facts): readonly Violation[] {
  const evidence = gatherEvidence(facts);
  return [checkAlerts, checkOutcomes, checkOrders, checkTerminal, checkWritings, checkEnds].flatMap((check) =>
    check(evidence),
  );
}

/** A full disk may keep it from coming up; nothing may bring it down, and nothing may keep it up. */
function checkEnds({ ownEnds }: Evidence): readonly Violation[] {
  return ownEnds
    .filter(({ wasReady, diskWasFull }) => wasReady || !diskWasFull)
    .map(({ wasReady, exitCode, lastWords }) => ({
      wrong: 'breakdown',
      what: wasReady ? 'the relay ended by itself, or not when told to' : 'the relay did not come up',
      story: [`exit code ${exitCode}`, ...lastWords.trim().split('\n')],
    }));
}
