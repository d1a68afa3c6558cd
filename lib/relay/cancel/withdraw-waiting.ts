import { RelayError } from '../../base/errors.ts';
import type { Entry, SignalEntry } from '../../ledger/entry.ts';
import type { Account } from '../../model/account.ts';
import { findAccount } from '../../model/settings.ts';
import {
  type CancelSignal,
  isPositionSignal,
  placesOrder,
  type Signal,
  wantsNoPosition,
} from '../../model/signal.ts';
import { reduceLegIdOf } from '../../signals/identity.ts';
import { mayOpen } from '../../signals/may-open.ts';
import type { Outcome } from '../execute/action.ts';
import { listEarlier, mayHaveMore } from '../execute/earlier-signals.ts';
import type { ExecuteServices } from '../services.ts';
import { settleEntry, unlessMoved } from '../settle/settle-entry.ts';

/**
 * Cancels the waiting order signals that a cancellation names, because an order must not be sent after its
 * cancellation. A `cancel_all` withdraws the orders that were stored before it in its market, except those of its own
 * alert, and those that want no position or say that they only reduce one: they are carried out before it, and it then
 * cancels what rests of them.
 *
 * @returns the ids of the signals that this call withdrew
 * @throws RelayError `store_unavailable`
 * @see DECISIONS 69
 */
export async function withdrawWaiting(
  services: ExecuteServices,
  entry: SignalEntry,
  earlier: readonly Entry[],
): Promise<readonly string[]> {
  const { signal } = entry;
  switch (signal.action) {
    case 'order':
    case 'close':
    case 'reverse':
    case 'target':
    case 'protect':
    case 'protect_position':
      return [];
    case 'cancel':
      return await withdrawAll(services, await findTarget(services, entry, signal), entry);
    case 'cancel_all':
      return await withdrawEarlier(services, entry, earlier);
  }
}

async function withdrawEarlier(
  services: ExecuteServices,
  entry: SignalEntry,
  earlier: readonly Entry[],
): Promise<readonly string[]> {
  const withdrawn: string[] = [];
  const account = findAccount(services.settings, entry.account);
  let page = earlier;
  for (;;) {
    // An exit that was asked for must not be lost: its position would stay open.
    const orders = page.filter(
      (one) =>
        one.signal !== null &&
        account !== null &&
        !isOfOneAlert(one, entry) &&
        isWithdrawnWithAll(one.signal, account),
    );
    const ended = await withdrawAll(services, orders, entry);
    withdrawn.push(...ended);
    if (ended.length === 0 || !mayHaveMore(page)) return withdrawn;
    // What is withdrawn waits no more: others take its place on the page.
    page = await listEarlier(services, entry);
  }
}

/** An alert wants what comes before its cancellation of all orders: that is sent, and then cancelled if it is open. */
function isOfOneAlert(one: Entry, other: Entry): boolean {
  return one.fingerprint === other.fingerprint && one.createdAtMs === other.createdAtMs;
}

function isWithdrawnWithAll(signal: Signal, account: Account): boolean {
  // What keeps the protection of a position looks itself at what is left to protect.
  if (!placesOrder(signal) || signal.action === 'protect') return false;
  return isPositionSignal(signal) ? !wantsNoPosition(signal) : mayOpen(signal, account);
}

async function findTarget(
  { ledger }: ExecuteServices,
  { account, signal: { market } }: SignalEntry,
  { target }: CancelSignal,
): Promise<readonly Entry[]> {
  // A waiting order has no exchange id yet.
  if (target.by === 'orderId') return [];
  if (target.by === 'signalId') {
    const { signalId } = target;
    const [named, leg] = await Promise.all(
      [signalId, reduceLegIdOf(signalId)].map((id) =>
        ledger.read({ account, signalId: id }).catch(passOverDamaged),
      ),
    );
    // The leg that reduces the position before it is part of the same instruction; another alert may have chosen that id.
    const isOwnLeg = leg?.fingerprint === named?.fingerprint;
    const found = isOwnLeg ? [leg, named] : [named];
    return found.flatMap((entry) => (entry && mayWithdraw(entry, market) ? [entry] : []));
  }
  const waiting = await ledger.waiting(account, market, mostWaiting);
  return waiting.filter(({ clientOrderId }) => clientOrderId === target.clientOrderId);
}

function mayWithdraw({ status, signal }: Entry, market: string): boolean {
  return status === 'accepted' && signal !== null && placesOrder(signal) && signal.market === market;
}

const mostWaiting = 1000;

/** A damaged entry is passed over: it is never sent, and is denied when it is due. */
function passOverDamaged(error: unknown): null {
  if (error instanceof RelayError && error.code === 'entry_damaged') return null;
  throw error;
}

async function withdrawAll(
  services: ExecuteServices,
  orders: readonly Entry[],
  { signalId }: Entry,
): Promise<readonly string[]> {
  const withdrawn: string[] = [];
  for (const order of orders) {
    const outcome: Outcome = {
      status: 'cancelled',
      note: `withdrawn by signal "${signalId}" before it was sent`,
      evidence: { withdrawnBy: signalId },
    };
    // Another worker may be sending it at this moment; then the cancellation is sent to the exchange.
    if (await unlessMoved(() => settleEntry(services, order, outcome))) withdrawn.push(order.signalId);
  }
  return withdrawn;
}
