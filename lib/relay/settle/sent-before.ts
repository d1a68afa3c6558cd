import { longestLagMs } from '../../exchange/lag.ts';
import type { SignalEntry, Step } from '../../ledger/entry.ts';
import type { Status } from '../../model/outcome.ts';
import { isPositionSignal, isProtecting } from '../../model/signal.ts';
import type { Outcome, PreparedAction } from '../execute/action.ts';
import { settleSent } from '../execute/settle-sent.ts';
import type { ClearedEntries } from '../position/cleared-entries.ts';
import type { ExecuteServices } from '../services.ts';
import { lookUpSafely } from './look-up.ts';
import type { LookupResult } from './lookup-result.ts';

/** No alert may be older than a day when it is executed, whatever its `maxLag`. */
const longestAgeMs = 24 * 3_600_000;
/** The clock of the machine on which the folder was restored and that of the sender of alerts normally differ by less. */
const clockToleranceMs = 60_000;

/**
 * A folder that was restored does not know what the lost relay sent after the backup. An alert that comes again has the
 * same client order id, and the exchange takes that a second time once the first order has ended. So each order of an alert
 * that may be older than the restore is looked up before it is sent.
 *
 * What keeps a position protected is not looked up: it is planned on what stands at the exchange, with what the lost relay
 * had placed (lib/relay/protect/lost-protection.ts).
 *
 * @param restoredAtMs of each account that was restored
 * @returns undefined where nothing was restored
 */
export function createSentBefore(
  services: ExecuteServices,
  restoredAtMs: ReadonlyMap<string, number>,
): ExecuteServices['settleSentBefore'] {
  if (restoredAtMs.size === 0) return undefined;
  return async (entry, action, cleared) => {
    const sinceMs = restoredAtMs.get(entry.account);
    if (sinceMs === undefined || !action.isOrder || isProtecting(entry.signal)) return null;
    if (!mayBeOlder(entry, sinceMs, services.clock.nowMs())) return null;
    return await settleIfSent(services, entry, action, cleared);
  };
}

/** Of an alert without a time nothing tells how old it is. */
function mayBeOlder({ signal }: SignalEntry, restoredAtMs: number, nowMs: number): boolean {
  if (signal.timeMs !== null) return signal.timeMs <= restoredAtMs + clockToleranceMs;
  return nowMs - restoredAtMs <= longestAgeMs + longestLagMs;
}

async function settleIfSent(
  services: ExecuteServices,
  entry: SignalEntry,
  { evidence, facts }: PreparedAction,
  cleared: ClearedEntries,
): Promise<Status | null> {
  // The position that is held now is not the one that the lost relay closed: what protects it must stay.
  const { position: _, ...asked } = facts ?? {};
  const said = {
    note: 'not sent from this folder, which was restored from a backup: the lost relay may have sent it',
    ...(evidence === undefined ? {} : { evidence }),
    facts: asked,
  };
  const step: Step = { status: 'sending', atMs: services.clock.nowMs(), ...cleared.tell(said) };
  const sending = { ...entry, status: 'sending', steps: [...entry.steps, step] } as const;
  const found = await lookUpSafely(services, sending, { timeoutMs: services.exchangeTimeoutMs });
  // A close that had found nothing to do has left no order either. To carry it out now could undo what a later alert did.
  const mayBeDone = isPositionSignal(entry.signal) && entry.signal.timeMs !== null;
  if (found.kind === 'not_found' && !mayBeDone) return null;
  const started = await services.ledger.start(entry, step, null);
  if (started.result === 'conflict') return started.entry.status;
  return await settleSent(
    services,
    sending,
    found.kind === 'found' ? found.outcome : unknownOutcome(entry, findingOf(found)),
  );
}

function findingOf(found: Exclude<LookupResult, { readonly kind: 'found' }>): string {
  return found.kind === 'inconclusive'
    ? found.finding
    : 'no list shows it; there may have been nothing to do for it, and later alerts may have changed the position';
}

function unknownOutcome({ clientOrderId }: SignalEntry, finding: string): Outcome {
  return {
    status: 'unknown',
    note: `whether the lost relay had sent the order is not known (${finding}), so it was not sent`,
    evidence: { clientOrderId },
    orderOpen: true,
  };
}
