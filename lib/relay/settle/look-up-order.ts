import { formatDecimal, parseDecimal } from '../../base/decimal.ts';
import { toJson } from '../../base/json.ts';
import type { ExchangeClient, SendOptions } from '../../exchange/client.ts';
import { type FilledOrder, type FoundOrder, findOrder, type ListedOrder } from '../../exchange/find-order.ts';
import type { Order } from '../../model/order.ts';
import type { OrderSignal } from '../../model/signal.ts';
import { reportOf } from '../../model/step-facts.ts';
import { mustNotRest } from '../../orders/order-kinds.ts';
import { endResting } from '../cancel/end-resting.ts';
import type { Outcome } from '../execute/action.ts';
import { foundOutcome } from './found-outcome.ts';
import { type LookupResult, notListed } from './lookup-result.ts';

/** An order whose outcome is looked up. */
export interface SoughtOrder {
  readonly clientOrderId: string;
  /** The exchange's id, if a response has told it. */
  readonly orderId: number | null;
  /** What it was to be. */
  readonly asked: OrderSignal;
}

/**
 * Looks an order up by its client order id. It only reads, but that it cancels what rests of an order that must not rest.
 *
 * @throws ExchangeError when the exchange's lists cannot be read
 */
export async function lookUpOrder(
  client: ExchangeClient,
  { clientOrderId, orderId, asked }: SoughtOrder,
  options: SendOptions,
): Promise<LookupResult> {
  const place = await findOrder(client, { market: asked.market, clientOrderId }, options);
  switch (place.kind) {
    case 'found':
      if (isOtherOrder(place.order, asked)) return otherOrder(place.order);
      return place.isOpen && mustNotRest(asked)
        ? await lookUpRest(client, place, asked, options)
        : { kind: 'found', outcome: foundOutcome(place, asked) };
    case 'filled':
      return await lookUpFilled(client, { ...place, clientOrderId }, asked, options);
    case 'not_found':
      return {
        kind: 'not_found',
        finding: 'the order is neither open nor in the history',
        outcome: orderId === null ? noOrder : unlistedOutcome(orderId),
      };
    case 'not_listed':
      return { kind: 'inconclusive', finding: notListed };
  }
}

/** Whether a listed order cannot be the one that the signal asked for, although it has its client order id. */
function isOtherOrder({ side, amount }: ListedOrder, { side: askedSide, size }: OrderSignal): boolean {
  return side !== askedSide || (size.unit === 'base' && amount.gt(parseDecimal(size.quantity)));
}

function otherOrder({ orderId, side, amount }: ListedOrder): LookupResult {
  return {
    kind: 'inconclusive',
    finding: `order ${orderId} is a ${side} of ${formatDecimal(amount)}, which the alert does not ask for; check it on the exchange`,
  };
}

/** Cancels what rests of an order that must not rest. */
async function lookUpRest(
  client: ExchangeClient,
  found: FoundOrder,
  signal: OrderSignal,
  options: SendOptions,
): Promise<LookupResult> {
  const { orderId, clientOrderId } = found.order;
  const { market } = signal;
  const ended = await endResting(client, { market, orderId }, options);
  if (!ended.isEnded) return stillRests(orderId, ended.reason);
  // The next lookup cancels the next one.
  if (found.others > 0)
    return {
      kind: 'inconclusive',
      finding: `order ${orderId} is no longer open; the exchange lists ${found.others} more with its client order id`,
    };
  if (ended.order !== null) return { kind: 'found', outcome: cancelledRestOutcome(ended.order) };
  const place = await findOrder(client, { market, clientOrderId }, options);
  // It was listed, so it existed; a partner's lists may never show how it ended.
  if (place.kind === 'found' && !place.isOpen) return { kind: 'found', outcome: foundOutcome(place, signal) };
  const outcome = foundOutcome(found, signal);
  const facts = { ...outcome.facts, ended: null };
  return { kind: 'found', outcome: { ...outcome, facts, orderOpen: false } };
}

/**
 * The fills of an order prove that it was there. A list of open orders may lag behind them, so what may rest counts as
 * open, and what must not rest is cancelled.
 */
async function lookUpFilled(
  client: ExchangeClient,
  place: FilledOrder & { readonly clientOrderId: string },
  signal: OrderSignal,
  options: SendOptions,
): Promise<LookupResult> {
  const { orderId, clientOrderId, side } = place;
  if (side !== signal.side)
    return {
      kind: 'inconclusive',
      finding: `its fills are fills of a ${side}; check the order on the exchange`,
    };
  if (!mustNotRest(signal)) return { kind: 'found', outcome: filledOutcome(place, true) };
  // Fills may leave out the client order id. An order that another program placed must not be cancelled for them.
  const ended = await endResting(client, { market: signal.market, orderId, clientOrderId }, options);
  if (!ended.isEnded) return stillRests(orderId, ended.reason);
  const outcome = ended.order === null ? filledOutcome(place, false) : cancelledRestOutcome(ended.order);
  return { kind: 'found', outcome };
}

function stillRests(orderId: number, reason: string): LookupResult {
  return {
    kind: 'inconclusive',
    finding: `order ${orderId} must not rest and could not be cancelled: ${reason}`,
  };
}

const noOrder: Outcome = {
  status: 'not_placed',
  note: 'the order was never placed: repeated lookups found it neither open nor in the history, and no fill of it',
  evidence: null,
  orderOpen: false,
};

/** Of an order that a response has confirmed. The lists may omit orders that were cancelled before any fill. */
function unlistedOutcome(orderId: number): Outcome {
  return {
    status: 'placed',
    note: `the exchange had confirmed order ${orderId}; repeated lookups found it neither open nor in the history, and no fill of it`,
    evidence: null,
    orderId,
    orderOpen: false,
  };
}

/**
 * The lists of a partner's account omit cancelled orders, so only the fills prove that the order was there.
 *
 * @param mayRest whether a part of it may still be open
 */
function filledOutcome({ orderId, filled, filledNotional }: FilledOrder, mayRest: boolean): Outcome {
  const state = mayRest ? 'which no list shows' : 'which is not open';
  return {
    status: 'placed',
    note: `found at the exchange as order ${orderId}, ${state}; ${formatDecimal(filled)} of it filled`,
    evidence: toJson({ orderId, filled, filledNotional }),
    facts: { proved: { orderId, filled: formatDecimal(filled) } },
    orderId,
    orderOpen: mayRest,
  };
}

/** @param order as the response to the cancellation reports it */
function cancelledRestOutcome(order: Order): Outcome {
  const { orderId, filled } = order;
  return {
    status: 'placed',
    note: `found at the exchange as order ${orderId}; what did not fill at once was cancelled (${formatDecimal(filled)} filled)`,
    evidence: toJson({ order }),
    facts: { report: reportOf(order) },
    orderId,
    orderOpen: false,
  };
}
