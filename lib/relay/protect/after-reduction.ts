import { wantedExitsOf } from '../../account/exits.ts';
import { parseDecimal, zero } from '../../base/decimal.ts';
import { describeSafely } from '../../base/describe-error.ts';
import { RelayError } from '../../base/errors.ts';
import type { Entry, SignalEntry } from '../../ledger/entry.ts';
import { mostBelieved } from '../../ledger/ledger.ts';
import { stepFacts } from '../../ledger/order-facts.ts';
import { type Account, findRehearsalReason, tradingGroundOf } from '../../model/account.ts';
import { isMarkedReducing } from '../../model/order.ts';
import type { Signal } from '../../model/signal.ts';
import { filledBy, leftOf, shareOut } from '../../protection/shares.ts';
import type { ExecuteServices } from '../services.ts';
import { askProtection } from './ask-protection.ts';

/**
 * Asks at once for what protects the rest of a position that a signal has reduced: a stop-loss that is larger than the rest
 * would turn it. What fails here, following asks for later.
 */
export async function askAfterReduction(
  services: ExecuteServices,
  account: Account,
  { signal, signalId }: SignalEntry,
): Promise<void> {
  if (account.protection !== 'keep' || !reduces(signal)) return;
  if ((tradingGroundOf(account, signal.market) ?? 'spot') === 'spot') return;
  if (findRehearsalReason(account.mode, services.isPaperExchange) !== null) return;
  try {
    const reduced = await services.ledger.read({ account: account.name, signalId });
    if (reduced === null) return;
    const followed = await services.executions.followed(account.name, mostBelieved);
    const entries = followed.filter((entry) => entry.signal?.market === signal.market);
    const needs = findReduced(reduced, entries).flatMap((entry) =>
      wantedExitsOf(entry).map(({ role }) => ({ entry, role })),
    );
    await askProtection(services, needs);
  } catch (error) {
    if (!(error instanceof RelayError) || !error.row.retryMayHelp) throw error;
    services.log.warn('the protection of a reduced position is looked at later', {
      account: account.name,
      signalId,
      reason: describeSafely(error),
    });
  }
}

function reduces(signal: Signal): boolean {
  switch (signal.action) {
    case 'order':
      return isMarkedReducing(signal);
    case 'close':
      return true;
    case 'reverse':
    case 'target':
      return signal.leg === 'reduce';
    default:
      return false;
  }
}

/** The entries of which less is left than their exits are for. A whole close has cancelled the exits itself. */
function findReduced(reduced: Entry, entries: readonly Entry[]): readonly Entry[] {
  const { position } = stepFacts(reduced, 'sending');
  const filled = filledBy(reduced);
  if (filled.eq(zero)) return [];
  if (position === undefined) return entries.filter(({ signal }) => signal?.action !== 'protect');
  const before = parseDecimal(position.amount);
  const amount = before.gt(zero) ? before.minus(filled) : before.plus(filled);
  if (amount.eq(zero)) return [];
  const market = reduced.signal?.market ?? '';
  return shareOut(entries, { market, side: position.side ?? null, amount, openedAtMs: null })
    .filter((share) => share.amount.lt(leftOf(share.entry, entries)))
    .map(({ entry }) => entry);
}
