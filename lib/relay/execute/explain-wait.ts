import { findUnsettled } from '../../account/read-position.ts';
import type { SignalEntry } from '../../ledger/entry.ts';
import type { Denial } from '../../model/outcome.ts';
import { isPositionSignal } from '../../model/signal.ts';
import type { ExecuteServices } from '../services.ts';

/**
 * Names the earlier signal that a signal which depends on the position has waited for until it was stale.
 *
 * @see DECISIONS 151
 */
export async function explainWait(
  services: ExecuteServices,
  { account, signal, signalId }: SignalEntry,
  stale: Denial,
): Promise<Denial> {
  const dependsOnPosition =
    isPositionSignal(signal) || (signal.action === 'order' && signal.requirePosition !== undefined);
  if (!dependsOnPosition) return stale;
  const awaited = await findUnsettled(services, { account, market: signal.market, signalId });
  if (awaited === undefined) return stale;
  return {
    ...stale,
    message: `${stale.message}; it waited for the position, because the outcome of signal "${awaited.signalId}" is not known (${awaited.status}): settle that one with npx relay resolve`,
  };
}
