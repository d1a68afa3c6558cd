import { type Decimal, zero } from '../base/decimal.ts';
import { isOrderEnd, type OrderStatus, orderTransitions } from '../model/order.ts';
import { setHold } from './balances.ts';
import { clientOrderKeyOf, type PaperOrder, takeId, type World } from './world.ts';

/** What an order is born with; the rest begins the same for all. */
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
  | 'stp'
  | 'positionSide'
  | 'createdAtMs'
>;

/** An order that is nowhere yet: no id is taken before it is sure to be accepted. */
export function draftOrder(draft: OrderDraft, orderId = 0): PaperOrder {
  return {
    ...draft,
    orderId,
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
    heldAmount: zero,
    reserved: zero,
  };
}

/** Puts a drafted order on the books, with exits planned if it is to have any. */
export function addOrder(
  world: World,
  draft: PaperOrder,
  exits: { readonly stopLoss: Decimal | null; readonly takeProfit: Decimal | null } = nothingPlanned,
): PaperOrder {
  const orderId = takeId(world);
  const hasPlanned = exits.stopLoss !== null || exits.takeProfit !== null;
  const order = { ...draft, orderId, oto: hasPlanned ? { ...exits, otoId: takeId(world) } : null };
  world.orders.set(orderId, order);
  world.open.set(orderId, order);
  if (order.clientOrderId !== '') rememberClientOrderId(world, order);
  if (order.activationPrice === null) enterBook(world, order);
  return order;
}

const nothingPlanned = { stopLoss: null, takeProfit: null };

function rememberClientOrderId(world: World, order: PaperOrder): void {
  const key = clientOrderKeyOf(order);
  const orders = world.byClientOrderId.get(key);
  if (orders === undefined) world.byClientOrderId.set(key, [order]);
  else orders.push(order);
}

/** Lets the order rest in the book, behind the orders that came before. */
export function enterBook(world: World, order: PaperOrder): void {
  order.activated = true;
  order.arrival = world.nextArrival;
  world.nextArrival += 1;
}

/**
 * Moves an order to its next status; an end frees what was held for it.
 *
 * @throws RangeError when an order cannot go there from where it is
 */
export function moveOrder(
  world: World,
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
  setHold(world, order, zero);
  world.open.delete(order.orderId);
}
