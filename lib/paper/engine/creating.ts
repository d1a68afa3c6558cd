import { minimum, zero } from '../../base/decimal.ts';
import type { OrderRequest, StpMode } from '../../model/order.ts';
import { type CommandResult, refused } from './command-result.ts';
import {
  type ClientOrderKey,
  type ExchangeState,
  isSpotOrder,
  lastPriceOf,
  ordersByClientOrderId,
  type PaperOrder,
} from './exchange-state.ts';
import { amountToHold, setHold } from './funds.ts';
import { checkPositionSide, isPerpetual } from './hedge-mode.ts';
import { meetBook } from './matching.ts';
import { addOrder, type DraftedExits, draftOrder } from './order-life.ts';
import { closablePart, positionAmountOf } from './positions.ts';
import type { RefusalName } from './refusals.ts';
import { canFund, wouldTake } from './taking.ts';

/** A requested order whose fields were checked against its market. An empty client order id means none. */
export type NewOrder = OrderRequest & { readonly stp: StpMode };

export interface CreateCommand {
  readonly kind: 'create';
  readonly atMs: number;
  readonly account: string;
  readonly order: NewOrder;
}

/** Places an order, unless one of its checks refuses it. */
export function createOrder(state: ExchangeState, command: CreateCommand): CommandResult {
  const { order: asked, account } = command;
  const refusal = checkAsked(state, account, asked);
  if (refusal !== null) return refused(refusal);
  const trigger = triggerOf(state, asked);
  if (trigger === null) return refused('activation_at_last_price');
  const draft = draftFor(state, command, trigger);
  const unfit = checkDraft(state, draft);
  if (unfit !== null) return refused(unfit);
  const { stopLoss = null, takeProfit = null } = asked;
  const order = addChecked(state, draft, { stopLoss, takeProfit });
  state.acceptedOrderIds.push(order.orderId);
  return { result: 'order', order };
}

/** Checks an order before its trigger and its amount are known. */
export function checkAsked(state: ExchangeState, account: string, asked: NewOrder): RefusalName | null {
  const isUsed = findOpenByClientOrderId(state, { ...asked, account }) !== undefined;
  if (isUsed && !state.exitSettings.takesUsedIds) return 'client_order_id_used';
  if (asked.reduceOnly && mayWait(asked) && state.exitSettings.refusesReduceOnlyStops)
    return 'reduce_only_unavailable';
  return isSpotOrder(asked) ? null : checkPositionSide(state, account, asked);
}

/** Adds an order that passed its checks, reserves its funds and lets it take what the book offers. */
export function addChecked(state: ExchangeState, draft: PaperOrder, planned?: DraftedExits): PaperOrder {
  // An order without a limit or trigger price ends at once and reserves nothing.
  const rests = draft.price !== null || draft.activationPrice !== null;
  const order = addOrder(state, draft, planned);
  if (rests) setHold(state, order, amountToHold(state, order));
  meetBook(state, order);
  return order;
}

/** Whether it can stand open: with a trigger, or with a limit price that may rest. */
function mayWait({ price, activationPrice, ioc }: NewOrder): boolean {
  return activationPrice !== undefined || (price !== undefined && !ioc);
}

export function draftFor(
  state: ExchangeState,
  { order: asked, account, atMs }: Omit<CreateCommand, 'kind'>,
  trigger: OrderTrigger,
): PaperOrder {
  const { type, market, side, amount, stp, clientOrderId, positionSide: statedSide = 'BOTH' } = asked;
  const { price = null, postOnly = false, ioc = false, reduceOnly = false } = asked;
  // On a margin pair, which has one position of either sign, the side is a statement only.
  const positionSide = isPerpetual(market) ? statedSide : 'BOTH';
  const closable = closablePart(positionAmountOf(state, { account, market, positionSide }), side, amount);
  return draftOrder({
    account,
    type,
    market,
    side,
    // An amount that is trimmed to nothing is refused.
    amount: reduceOnly ? minimum(amount, closable) : amount,
    price,
    ...trigger,
    postOnly,
    ioc,
    reduceOnly,
    stp,
    clientOrderId,
    positionSide,
    statedSide,
    createdAtMs: atMs,
    parentId: null,
  });
}

export type OrderTrigger = Pick<PaperOrder, 'activationPrice' | 'activationCondition'>;

/**
 * The trigger of the order, if it has one; null if the trigger price equals the last price and has no
 * direction.
 */
export function triggerOf(state: ExchangeState, asked: NewOrder): OrderTrigger | null {
  const { activationPrice, market } = asked;
  if (activationPrice === undefined) return { activationPrice: null, activationCondition: null };
  const lastPrice = lastPriceOf(state, market);
  if (activationPrice.eq(lastPrice)) return null;
  // The direction follows from the last price, unless the settings say that it follows from the side.
  const waitsForRise =
    state.exitSettings.stopsWaitBy === 'side' ? asked.side === 'buy' : activationPrice.gt(lastPrice);
  return { activationPrice, activationCondition: waitsForRise ? 'gte' : 'lte' };
}

export function checkDraft(state: ExchangeState, draft: PaperOrder): RefusalName | null {
  const isSpot = isSpotOrder(draft);
  if (draft.reduceOnly && draft.amount.eq(zero)) return 'reduce_only_no_position';
  if (draft.postOnly && wouldTake(state, draft)) return isSpot ? 'spot_would_take' : 'collateral_would_take';
  if (canFund(state, draft)) return null;
  return isSpot ? 'balance_too_small' : 'collateral_too_small';
}

/** The open order with this client order id. The ids of ended orders may be reused. */
export function findOpenByClientOrderId(state: ExchangeState, key: ClientOrderKey): PaperOrder | undefined {
  if (key.clientOrderId === '') return undefined;
  return ordersByClientOrderId(state, key).find((order) => state.open.has(order.orderId));
}
