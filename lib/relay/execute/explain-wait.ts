import { findUnsettled } from '../../account/read-position.ts';
import { longestPositionLagMs } from '../../exchange/lag.ts';
import { type Entry, isSignal, type SignalEntry } from '../../ledger/entry.ts';
import { placeOf } from '../../model/holdings.ts';
import type { Denial } from '../../model/outcome.ts';
import { isPositionSignal, passesUnknown, type Signal } from '../../model/signal.ts';
import { lastFreshMs } from '../../signals/staleness.ts';
import { arrivalOf, type ExecuteServices } from '../services.ts';
import { listEarlier } from './earlier-signals.ts';

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
  if (!dependsOnPosition(signal)) return stale;
  const awaited = await findUnsettled(services, queryOf({ account, signal, signalId }), {
    nowMs: services.clock.nowMs(),
    closesAll: passesUnknown(signal),
  });
  if (awaited === undefined) return stale;
  return {
    ...stale,
    message: `${stale.message}; it waited for the position, because the outcome of signal "${awaited.signalId}" is not known (${awaited.status}): settle that one with npx relay resolve`,
  };
}

function dependsOnPosition(signal: Signal): boolean {
  return isPositionSignal(signal) || (signal.action === 'order' && signal.requirePosition !== undefined);
}

function queryOf({ account, signal, signalId }: Pick<SignalEntry, 'account' | 'signal' | 'signalId'>) {
  return { account, market: signal.market, signalId, positionSide: placeOf(signal).side ?? undefined };
}

/** What a stored signal waits for. */
export interface Wait {
  readonly sinceMs: number;
  /** The last millisecond at which it may still be sent; after it the signal is denied as too old. */
  readonly untilMs: number;
  /** One sentence. */
  readonly reason: string;
}

/**
 * Says what a signal waits for that was stored and not sent yet.
 *
 * @returns null when it does not wait
 * @throws RelayError `store_unavailable`
 */
export async function findWait(
  { ledger, settings }: Pick<ExecuteServices, 'ledger' | 'settings'>,
  entry: Entry,
): Promise<Wait | null> {
  if (!isSignal(entry) || entry.status !== 'accepted') return null;
  const { account, signalId, signal, createdAtMs } = entry;
  const untilMs = lastFreshMs(signal, arrivalOf({ settings }, createdAtMs));
  const wait = (reason: string): Wait => ({ sinceMs: createdAtMs, untilMs, reason });
  const [earlier] = await listEarlier({ ledger }, entry);
  if (earlier !== undefined) return wait(`signal "${earlier.signalId}" of its market comes first`);
  if (signal.action === 'cancel_all') {
    const { afterOrders = [] } = signal;
    const orders = await Promise.all(afterOrders.map((before) => ledger.read({ account, signalId: before })));
    const sending = orders.find((order) => order?.status === 'sending');
    if (sending) return wait(`signal "${sending.signalId}" before it in its alert, which is being sent`);
  }
  if (!dependsOnPosition(signal)) return wait('its turn');
  const awaited = await findUnsettled(
    { ledger },
    queryOf({ account, signal, signalId }),
    // What is looked at now has waited for longer than any list lags.
    { nowMs: Number.POSITIVE_INFINITY },
  );
  if (awaited === undefined)
    return wait('a list of positions that can be read, and that shows what the last order of its market did');
  const reason = `the outcome of signal "${awaited.signalId}", which is not known (${awaited.status})`;
  return wait(
    awaited.status === 'unknown' && passesUnknown(signal)
      ? `${reason}; ${longestPositionLagMs / 1000} seconds after that was stored, it goes on without it`
      : `${reason}: settle that one with npx relay resolve`,
  );
}
