import { checkAlerts } from './audit-alerts.ts';
import { checkBalances } from './audit-balances.ts';
import { checkFills } from './audit-fills.ts';
import { checkNotices } from './audit-notices.ts';
import { checkOrders } from './audit-orders.ts';
import { checkOutcomes } from './audit-outcomes.ts';
import { checkProtection } from './audit-protection.ts';
import { checkTerminal } from './audit-terminal.ts';
import { checkWritings } from './audit-writings.ts';
import { type Evidence, gatherEvidence, type Violation } from './evidence.ts';
import type { Facts } from './facts.ts';

/** Checks the facts of a run against the promises of the relay; empty when it kept them all. */
export function auditRun(facts: Facts): readonly Violation[] {
  const evidence = gatherEvidence(facts);
  return [
    checkAlerts,
    checkOutcomes,
    checkOrders,
    checkProtection,
    checkBalances,
    checkFills,
    checkNotices,
    checkTerminal,
    checkWritings,
    checkExits,
  ].flatMap((check) => check(evidence));
}

/**
 * Only a full disk may prevent a start. The relay must never end by itself, and must end when it is told to.
 */
function checkExits({ ownEnds }: Evidence): readonly Violation[] {
  return ownEnds
    .filter(({ wasReady, diskWasFull }) => wasReady || !diskWasFull)
    .map(({ wasReady, exitCode, lastWords }) => ({
      wrong: 'breakdown',
      what: wasReady ? 'the relay ended by itself, or not when told to' : 'the relay did not start',
      details: [`exit code ${exitCode}`, ...lastWords.trim().split('\n')],
    }));
}
