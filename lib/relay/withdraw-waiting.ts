import { RelayError } from '../base/errors.ts';
import type { Entry, SignalEntry } from '../ledger/entry.ts';
import type { CancelSignal } from '../model/signal.ts';
import type { Outcome } from './action.ts';
import { listEarlier, mayHaveMore } from './earlier-signals.ts';
import type { ExecuteServices } from './services.ts';
import { settleEntry, unlessMoved } from './settle-entry.ts';

/**
 * Ends the orders that a cancellation is about and that are still waiting: an order must not go out after its own
 * cancellation. Of a `cancel_all` these are the orders stored before it in its market.
 *
 * @param earlier what `listEarlier` found waiting before it
 * @returns the signals that are withdrawn by it, now or at an earlier delivery of it
 * @throws RelayError `store_unavailable`
 */
export async function withdrawWaiting(
  services: ExecuteServices,
  entry: SignalEntry,
  earlier: readonly Entry[],
): Promise<readonly string[]> {
  const { signal } = entry;
  switch (signal.action) {
    case 'order':
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
  let page = earlier;
  for (;;) {
    const orders = page.filter(({ signal }) => signal?.action === 'order');
    const ended = await withdrawAll(services, orders, entry);
    withdrawn.push(...ended);
    if (ended.length === 0 || !mayHaveMore(page)) return withdrawn;
    // What is withdrawn waits no more: others take its place on the page.
    page = await listEarlier(services, entry);
  }
}

async function findTarget(
  { ledger }: ExecuteServices,
  { account, signal: { market } }: SignalEntry,
  { target }: CancelSignal,
): Promise<readonly Entry[]> {
  // The exchange's id is known of orders only that were sent.
  if (target.by === 'orderId') return [];
  if (target.by === 'signalId') {
    const found = await ledger.read({ account, signalId: target.signalId }).catch(passOverDamaged);
    return found?.status === 'accepted' && found.signal?.action === 'order' && found.signal.market === market
      ? [found]
      : [];
  }
  const waiting = await ledger.waiting(account, market, mostWaiting);
  return waiting.filter(({ clientOrderId }) => clientOrderId === target.clientOrderId);
}

const mostWaiting = 1000;

/** What cannot be read is never sent either: its turn ends it. */
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
    // Somebody else may just be sending it: then there is an order to cancel.
    if (await unlessMoved(() => settleEntry(services, order, outcome))) withdrawn.push(order.signalId);
  }
  return withdrawn;
}
