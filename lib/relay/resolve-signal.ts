import { RelayError } from '../base/errors.ts';
import { toJson } from '../base/json.ts';
import type { ExchangeClient, SendOptions } from '../exchange/client.ts';
import { cancelOrder } from '../exchange/endpoints/cancel-order.ts';
import { ExchangeError, isOrderNotOpen } from '../exchange/errors.ts';
import type { Entry, EntryKey } from '../ledger/entry.ts';
import type { Order } from '../model/order.ts';
import type { Signal } from '../model/signal.ts';
import type { Outcome } from './action.ts';
import { otherOrderAlarm } from './cancel-outcomes.ts';
import { findCancelContradictions } from './find-contradictions.ts';
import { lookUp } from './look-up.ts';
import { isConflict, type SettleServices, settleEntry, unlessMoved } from './settle-entry.ts';

export interface ResolveServices extends SettleServices {
  /** @throws RelayError `secrets_missing` when no key is stored */
  exchangeFor(account: string): Promise<ExchangeClient>;
}

/** What an operator can have seen of a signal whose outcome is unknown. */
export const observations = ['placed', 'cancelled', 'rejected', 'not_placed'] as const;
export type Observation = (typeof observations)[number];

/** How the operator goes about it. */
export type Approach =
  /** Looks at the exchange's lists; settles what they prove. */
  | { readonly kind: 'look' }
  /** Cancels by the client order id: an order that answers was there. */
  | { readonly kind: 'cancel' }
  /** Writes down what the operator saw on the exchange itself. */
  | {
      readonly kind: 'saw';
      readonly status: Observation;
      readonly note: string;
      readonly orderId: number | null;
    };

/** What can be seen of a signal of that kind: an order, or the end of one. */
export function observationsOf(signal: Signal | null): readonly Observation[] {
  return signal?.action === 'order' ? observations : ['cancelled', 'rejected'];
}

/** How it went: the entry as it is now, and what was found where that settled nothing. */
export interface Resolution {
  readonly result: 'settled' | 'was_settled' | 'open_question';
  readonly entry: Entry;
  readonly finding: string | null;
}

/**
 * Settles a signal whose outcome is unknown, by an operator's hand. No order is sent, and a settled signal stays as
 * it is.
 *
 * @param by the operator's name, kept with the step
 * @throws RelayError `entry_conflict` when there is no such entry, `signal_under_way` when it may still end by itself;
 * ExchangeError
 */
export async function resolveSignal(
  services: ResolveServices,
  key: EntryKey,
  approach: Approach,
  by: string,
  options: SendOptions,
): Promise<Resolution> {
  const entry = await readEntry(services, key);
  // Whether its worker is dead is for the reconciler to say: an operator's clock may be another one.
  if (entry.status === 'accepted' || entry.status === 'sending')
    throw new RelayError(
      'signal_under_way',
      `signal "${entry.signalId}" is ${entry.status}: it is still on its way`,
    );
  if (entry.status !== 'unknown') return { result: 'was_settled', entry, finding: null };
  try {
    return await approachEntry(services, entry, approach, by, options);
  } catch (error) {
    if (!isConflict(error)) throw error;
    // The reconciler was quicker.
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
      return await look(services, entry, by, options);
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

async function look(
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
    return { result: 'open_question', entry, finding: 'this signal placed no order of its own to cancel' };
  const client = await services.exchangeFor(entry.account);
  try {
    const order = await client.call(cancelOrder, { market: signal.market, clientOrderId }, options);
    const name = { market: signal.market, orderId: entry.orderId, clientOrderId };
    const contradictions = findCancelContradictions(name, order);
    if (contradictions.length > 0) {
      const alarm = otherOrderAlarm(contradictions);
      services.alarms.raise(alarm, { account: entry.account, signalId: entry.signalId });
      return { result: 'open_question', entry, finding: alarm.message };
    }
    const isOurs = await settleCancelled(services, entry, order, by);
    const now = await readEntry(services, entry);
    return isOurs
      ? { result: 'settled', entry: now, finding: null }
      : {
          result: 'was_settled',
          entry: now,
          finding: `order ${order.orderId} was there and is cancelled now`,
        };
  } catch (error) {
    if (!(error instanceof ExchangeError) || !isOrderNotOpen(error)) throw error;
    // Executed, cancelled before, or never there: the lists may tell which.
    const resolution = await look(services, entry, by, options);
    if (resolution.result === 'settled') return resolution;
    const isPerhapsDone = error.attempts.some(({ failure }) => failure.kind === 'ambiguous');
    const nothing = isPerhapsDone
      ? 'a response was lost, and then no order of it was open: it may have been cancelled by this'
      : 'no order of it is open to cancel';
    return { ...resolution, finding: `${nothing}; ${resolution.finding}` };
  }
}

/** @returns false when somebody else had settled it meanwhile */
async function settleCancelled(
  services: ResolveServices,
  entry: Entry,
  order: Order,
  by: string,
): Promise<boolean> {
  const executed = `${order.filled.toFixed()} of ${order.amount.toFixed()} were executed before`;
  const outcome: Outcome = {
    status: 'cancelled',
    note: `order ${order.orderId} was there and is cancelled; ${executed}`,
    evidence: toJson({ order }),
    orderId: order.orderId,
    orderOpen: false,
  };
  const isOurs = await unlessMoved(() => settleEntry(services, entry, outcome, by));
  // Whoever was quicker may have found it open, which it no longer is.
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
      // One that was placed may still be open; the next "cancel all" should try.
      ...(status === 'placed' ? {} : { orderOpen: false }),
    },
    by,
  );
  return { result: 'settled', entry: await readEntry(services, entry), finding: null };
}
