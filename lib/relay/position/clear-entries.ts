import type { SeenPosition } from '../../account/seen-position.ts';
import type { ExchangeClient, SendOptions } from '../../exchange/client.ts';
import { ifRead } from '../../exchange/errors.ts';
import type { Entry, EntryKey } from '../../ledger/entry.ts';
import { mostBelieved } from '../../ledger/ledger.ts';
import { orderSignalOf } from '../../ledger/sent-order.ts';
import { saysItReduces } from '../../signals/may-open.ts';
import { cancelTarget, targetOf } from '../cancel/plan-cancel.ts';
import type { ExecuteServices } from '../services.ts';
import { lookUpOrder } from '../settle/look-up-order.ts';
import { settleEntry, unlessMoved } from '../settle/settle-entry.ts';
import type { ClearedEntries } from './cleared-entries.ts';
import { type EntryEnd, readEnd } from './read-end.ts';

/** A position that is about to be closed in full. */
export interface ClosingPosition {
  readonly account: string;
  readonly market: string;
  /** The signal that closes it. */
  readonly signalId: string;
  readonly position: SeenPosition;
}

/**
 * Cancels the orders of this relay that rest, or that may rest because their outcome is not known, and that could still open
 * or enlarge the position, so that none fills after its close. One of unknown outcome is looked up before. Each is tried once
 * in an execution. What may still rest, or come, is an alarm. Cancelling twice does no harm, so this may be done before
 * `sending` is written, and again by another delivery.
 *
 * @returns whether any was tried: the position may be another one now
 * @throws RelayError `store_unavailable`
 * @see DECISIONS 154
 */
export async function clearEntries(
  services: ExecuteServices,
  client: ExchangeClient,
  closing: ClosingPosition,
  cleared: ClearedEntries,
): Promise<boolean> {
  const resting = (await findResting(services, closing)).filter(({ signalId }) => !cleared.has(signalId));
  if (resting.length === 0) return false;
  if (await isCarriedOut(services, closing)) return false;
  const { exchangeTimeoutMs } = services;
  // A close that has waited for the position must still be able to cancel what would fill after it.
  const endByMs = Math.max(
    cleared.startedAtMs + exchangeTimeoutMs / 2,
    services.clock.nowMs() + exchangeTimeoutMs / 4,
  );
  const limits = { timeoutMs: exchangeTimeoutMs / 2, endByMs };
  const { account, signalId, market } = closing;
  const names = { account, signalId, market };
  const ends: EntryEnd[] = [];
  for (const entry of resting) {
    if (entry.status === 'unknown' && !cleared.lookedUp.has(entry.signalId)) {
      cleared.lookedUp.add(entry.signalId);
      // The position is planned anew with what the lookup has found.
      if (await settleFound(services, client, entry, limits)) continue;
    }
    const outcome = await cancelTarget(
      services,
      'cancelled',
      targetOf(client, entry, closing.market),
      limits,
    );
    // The response reported another order. It is told before anything else is asked for.
    if (outcome.alarm !== undefined) services.alarms.raise(outcome.alarm, names);
    ends.push(await readEnd(client, entry, outcome, limits));
  }
  if (ends.length === 0) return true;
  cleared.add(ends, closing.position, services.clock.nowMs());
  const { alarm, note } = cleared;
  services.log.info('resting entries are cancelled before a close', { ...names, note });
  if (alarm !== null) services.alarms.raise(alarm, names);
  return true;
}

/**
 * Whether another worker has carried the signal out meanwhile: what was stored after it may rest by now, or be protected. Nothing
 * may be cancelled for a signal that no store has, either.
 */
export async function isCarriedOut({ ledger }: ExecuteServices, key: EntryKey): Promise<boolean> {
  const entry = await ledger.read({ account: key.account, signalId: key.signalId });
  return entry?.status !== 'accepted';
}

/** Looks up an order of unknown outcome. @returns whether that has settled it */
export async function settleFound(
  services: ExecuteServices,
  client: ExchangeClient,
  entry: Entry,
  options: SendOptions,
): Promise<boolean> {
  const { clientOrderId, orderId } = entry;
  const asked = orderSignalOf(entry);
  if (clientOrderId === null || asked === null) return false;
  const result = await ifRead(lookUpOrder(client, { clientOrderId, orderId, asked }, options));
  if (result?.kind !== 'found') return false;
  await unlessMoved(() => settleEntry(services, entry, result.outcome));
  return true;
}

async function findResting(
  { ledger }: ExecuteServices,
  { account, market, signalId, position }: ClosingPosition,
): Promise<readonly Entry[]> {
  const open = await ledger.openOrders(account, market, mostBelieved);
  return open.filter(
    (entry) =>
      (entry.status === 'placed' || entry.status === 'unknown') &&
      entry.signalId !== signalId &&
      mayOpen(entry, position),
  );
}

/** Whether the order of an entry may open or enlarge the position, or turn it once it is closed. */
function mayOpen(entry: Entry, { side }: SeenPosition): boolean {
  const asked = orderSignalOf(entry);
  if (asked === null || saysItReduces(asked, 'margin')) return false;
  // An order of no side proves one-way mode, where the alert should have named none.
  const { positionSide = 'BOTH' } = asked;
  return side === null || positionSide === 'BOTH' || positionSide === side;
}
