import { zero } from '../../base/decimal.ts';
import { isOrderEnd, type OrderStatus, orderTransitions } from '../../model/order.ts';
import {
  clientOrderKeyOf,
  type ExchangeState,
  type PaperOrder,
  type PlannedExits,
  takeId,
} from './exchange-state.ts';
import { setHold } from './funds.ts';

/** The fields that differ between new orders. All other fields start with the same values. */
export type OrderDraft = Pick<
  PaperOrder,
  | 'account'
  | 'clientOrderId'
  | 'market'
  | 'side'
  | 'type'
  | 'amount'
  | 'price'
  | 'activationPrice'
  | 'activationCondition'
  | 'postOnly'
  | 'ioc'
  | 'reduceOnly'
  | 'stp'
  | 'positionSide'
  | 'statedSide'
  | 'createdAtMs'
  | 'parentId'
>;

/** Creates an order that is not placed yet. It gets its id only once it is certain to be accepted. */
export function draftOrder(draft: OrderDraft): PaperOrder {
  return {
    ...draft,
    orderId: 0,
    oto: null,
    ocoId: null,
    activated: false,
    arrival: 0,
    status: 'open',
    endReason: null,
    updatedAtMs: draft.createdAtMs,
    remaining: draft.amount,
    filled: zero,
    filledNotional: zero,
    fee: zero,
    exitAmount: zero,
    heldAmount: zero,
    reserved: zero,
  };
}

/** The stop-loss and take-profit that an order asks for. */
export type DraftedExits = Omit<PlannedExits, 'otoId'>;

/** Places a drafted order, with its planned stop-loss and take-profit if it has any. */
export function addOrder(
  state: ExchangeState,
  draft: PaperOrder,
  planned: DraftedExits = nothingPlanned,
): PaperOrder {
  const orderId = takeId(state);
  const hasPlanned = planned.stopLoss !== null || planned.takeProfit !== null;
  const order = { ...draft, orderId, oto: hasPlanned ? { ...planned, otoId: takeId(state) } : null };
  state.orders.set(orderId, order);
  state.open.set(orderId, order);
  if (order.clientOrderId !== '') rememberClientOrderId(state, order);
  if (order.activationPrice === null || order.activated) enterBook(state, order);
  return order;
}

const nothingPlanned = { stopLoss: null, takeProfit: null };

function rememberClientOrderId(state: ExchangeState, order: PaperOrder): void {
  const key = clientOrderKeyOf(order);
  const orders = state.byClientOrderId.get(key);
  if (orders === undefined) state.byClientOrderId.set(key, [order]);
  else orders.push(order);
}

/** Puts the order into the order book, behind earlier orders. */
export function enterBook(state: ExchangeState, order: PaperOrder): void {
  order.activated = true;
  order.arrival = state.nextArrival;
  state.nextArrival += 1;
}

/**
 * Moves an order to its next status. The end of an order releases its reserved funds.
 *
 * @throws RangeError when the order's current status does not allow that move
 */
export function moveOrder(
  state: ExchangeState,
  order: PaperOrder,
  status: OrderStatus,
  atMs: number,
  endReason: string | null = null,
): void {
  if (!orderTransitions[order.status].includes(status))
    throw new RangeError(`order ${order.orderId} is ${order.status} and cannot become ${status}`);
  order.status = status;
  order.endReason = endReason;
  order.updatedAtMs = atMs;
  if (!isOrderEnd(status)) return;
  setHold(state, order, zero);
  state.open.delete(order.orderId);
}
