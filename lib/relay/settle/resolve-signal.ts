import { zero } from '../../base/decimal.ts';
import { RelayError } from '../../base/errors.ts';
import { toJson } from '../../base/json.ts';
import type { SendOptions } from '../../exchange/client.ts';
import type { Entry, EntryKey } from '../../ledger/entry.ts';
import type { Order } from '../../model/order.ts';
import { placesOrder, type Signal } from '../../model/signal.ts';
import { reportOf } from '../../model/step-facts.ts';
import { askToCancel, ownToCancel } from '../cancel/ask-to-cancel.ts';
import type { Outcome } from '../execute/action.ts';
import { lookUp } from './look-up.ts';
import type { LookupServices } from './lookup-result.ts';
import { isConflict, type SettleServices, settleEntry, unlessMoved } from './settle-entry.ts';

/** @see DECISIONS 51 */
export type ResolveServices = SettleServices & LookupServices;

/** The outcomes that an operator can observe for a signal whose outcome is unknown. */
export const observations = ['placed', 'cancelled', 'rejected', 'not_placed'] as const;
export type Observation = (typeof observations)[number];

/** How the operator resolves the signal. */
export type Approach =
  /** Looks the order up in the exchange's lists and settles the entry if they prove an outcome. */
  | { readonly kind: 'look' }
  /** Cancels the order by its client order id; if the exchange reports it as cancelled, it existed. */
  | { readonly kind: 'cancel' }
  /** Stores what the operator saw on the exchange itself. */
  | {
      readonly kind: 'saw';
      readonly status: Observation;
      readonly note: string;
      readonly orderId: number | null;
    };

/** The outcomes that are possible for a signal: for a cancellation, only `cancelled` and `rejected`. */
export function observationsOf(signal: Signal | null): readonly Observation[] {
  return signal !== null && placesOrder(signal) ? observations : ['cancelled', 'rejected'];
}

/** The result: the entry as it is now, and the finding when the entry is not settled by it. */
export interface Resolution {
  readonly result: 'settled' | 'was_settled' | 'open_question';
  readonly entry: Entry;
  readonly finding: string | null;
}

/**
 * Settles a signal whose outcome is unknown, on behalf of an operator. It sends no order, and does not change
 * a signal that is already settled.
 *
 * @param by the operator's name, stored with the step
 * @throws RelayError `entry_conflict` when there is no such entry, `signal_under_way` when the relay is still
 * working on it; ExchangeError
 */
export async function resolveSignal(
  services: ResolveServices,
  key: EntryKey,
  approach: Approach,
  by: string,
  options: SendOptions,
): Promise<Resolution> {
  const entry = await readEntry(services, key);
  // Only the reconciler decides whether the worker of an entry is dead: the operator's clock may differ.
  if (entry.status === 'accepted' || entry.status === 'sending')
    throw new RelayError(
      'signal_under_way',
      `signal "${entry.signalId}" is ${entry.status}: the relay is still working on it`,
    );
  if (entry.status !== 'unknown') return { result: 'was_settled', entry, finding: null };
  try {
    return await approachEntry(services, entry, approach, by, options);
  } catch (error) {
    if (!isConflict(error)) throw error;
    // The reconciler settled it first.
    return { result: 'was_settled', entry: await readEntry(services, key), finding: null };
  }
}

async function approachEntry(
  services: ResolveServices,
  entry: Entry,
  approach: Approach,
  by: string,
  options: SendOptions,
): Promise<Resolution> {
  switch (approach.kind) {
    case 'look':
      return await settleByLookup(services, entry, by, options);
    case 'cancel':
      return await cancel(services, entry, by, options);
    case 'saw':
      return await record(services, entry, approach, by);
  }
}

async function readEntry({ ledger }: ResolveServices, key: EntryKey): Promise<Entry> {
  const entry = await ledger.read(key);
  if (entry !== null) return entry;
  throw new RelayError('entry_conflict', `the ledger holds no signal "${key.signalId}" of ${key.account}`);
}

async function settleByLookup(
  services: ResolveServices,
  entry: Entry,
  by: string,
  options: SendOptions,
): Promise<Resolution> {
  const result = await lookUp(services, entry, options);
  if (result.kind !== 'found') return { result: 'open_question', entry, finding: result.finding };
  await settleEntry(services, entry, result.outcome, by);
  return { result: 'settled', entry: await readEntry(services, entry), finding: null };
}

async function cancel(
  services: ResolveServices,
  entry: Entry,
  by: string,
  options: SendOptions,
): Promise<Resolution> {
  const { signal, clientOrderId } = entry;
  if (signal === null || clientOrderId === null)
    return { result: 'open_question', entry, finding: 'this signal placed no order that could be cancelled' };
  const client = await services.exchangeFor(entry.account);
  const named = ownToCancel(client, { market: signal.market, orderId: entry.orderId, clientOrderId });
  const answer = await askToCancel(named, options);
  switch (answer.kind) {
    case 'contradicted':
      services.alarms.raise(answer.alarm, { account: entry.account, signalId: entry.signalId });
      return { result: 'open_question', entry, finding: answer.alarm.message };
    case 'cancelled': {
      const { order } = answer;
      const isOurs = await settleCancelled(services, entry, order, by);
      const now = await readEntry(services, entry);
      return isOurs
        ? { result: 'settled', entry: now, finding: null }
        : {
            result: 'was_settled',
            entry: now,
            finding: `order ${order.orderId} existed and is cancelled now`,
          };
    }
    case 'failed': {
      if (!answer.isGone) throw answer.error;
      // The order was filled, was cancelled before, or never existed: the lists may show which.
      const resolution = await settleByLookup(services, entry, by, options);
      if (resolution.result === 'settled') return resolution;
      const nothing = answer.isLost
        ? 'a response was lost, and then its order was not open: this command may have cancelled it'
        : 'its order is not open, so nothing was cancelled';
      return { ...resolution, finding: `${nothing}; ${resolution.finding}` };
    }
  }
}

/** @returns false when the reconciler or another operator settled it meanwhile */
async function settleCancelled(
  services: ResolveServices,
  entry: Entry,
  order: Order,
  by: string,
): Promise<boolean> {
  const filled = `${order.filled.toFixed()} of ${order.amount.toFixed()} were filled before`;
  // What it opened must be followed, and protected as the alert asked.
  const hasFilled = order.filled.gt(zero);
  const outcome: Outcome = {
    status: hasFilled ? 'placed' : 'cancelled',
    note: `order ${order.orderId} existed and is cancelled; ${filled}${hasFilled ? ', and are followed' : ''}`,
    evidence: toJson({ order }),
    facts: { report: reportOf(order) },
    orderId: order.orderId,
    orderOpen: false,
  };
  const isOurs = await unlessMoved(() => settleEntry(services, entry, outcome, by));
  // The other one may have settled it as open, which it no longer is.
  if (!isOurs) await services.ledger.closeOrder(entry);
  return isOurs;
}

async function record(
  services: ResolveServices,
  entry: Entry,
  { status, note, orderId }: Approach & { kind: 'saw' },
  by: string,
): Promise<Resolution> {
  await settleEntry(
    services,
    entry,
    {
      status,
      note: `seen by the operator: ${note}`,
      evidence: { seen: status, orderId },
      ...(orderId === null ? {} : { orderId }),
      // A placed order may still be open, and then the next `cancel_all` must cancel it.
      ...(status === 'placed' ? {} : { orderOpen: false }),
    },
    by,
  );
  return { result: 'settled', entry: await readEntry(services, entry), finding: null };
}
