import { describeSafely } from '../../base/describe-error.ts';
import { RelayError } from '../../base/errors.ts';
import type { SignalEntry } from '../../ledger/entry.ts';
import { type Account, tradingGroundOf } from '../../model/account.ts';
import type { Status } from '../../model/outcome.ts';
import { isReduction } from '../../model/signal.ts';
import { closeRest } from '../position/close-rest.ts';
import { askAfterOpening, askAfterSpotOrder } from '../protect/after-order.ts';
import { askAfterReduction } from '../protect/after-reduction.ts';
import type { ExecuteServices } from '../services.ts';

/**
 * What the order of a signal leads to: of one that has reduced a position the protection of what is left, and for a close
 * another try at what it left; of one that has opened a position, the take-profits that the relay places itself. On spot,
 * where a sale may have cancelled a stop-loss and not been placed: the protection of what was bought. What fails here has
 * been told, or is asked for by following.
 */
export async function followUp(
  services: ExecuteServices,
  account: Account,
  { signal, signalId }: SignalEntry,
  status: Status,
): Promise<void> {
  const isSpot = (tradingGroundOf(account, signal.market) ?? 'spot') === 'spot';
  const asksParts = 'takeProfits' in signal && signal.action !== 'protect_position';
  const isDue = status === 'placed' && (asksParts || isReduction(signal));
  if (isSpot ? signal.action !== 'order' : !isDue) return;
  try {
    const entry = await services.ledger.read({ account: account.name, signalId });
    if (entry === null) return;
    if (isSpot) return await askAfterSpotOrder(services, account, entry);
    if (asksParts) return await askAfterOpening(services, account, entry);
    await askAfterReduction(services, account, entry);
    await closeRest(services, entry);
  } catch (error) {
    if (!(error instanceof RelayError) || !error.row.retryMayHelp) throw error;
    services.log.warn('the protection of a position is looked at later', {
      account: account.name,
      signalId,
      reason: describeSafely(error),
    });
  }
}
