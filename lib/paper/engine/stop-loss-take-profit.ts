import { ceilToStep, type Decimal, floorToStep, minimum, parseDecimal, zero } from '../../base/decimal.ts';
import { oppositeOf } from '../../model/order.ts';
import { type ExchangeState, type OcoPair, type PaperOrder, takeId } from './exchange-state.ts';
import { amountToHold, canHold, setHold } from './funds.ts';
import { marketNamed } from './markets.ts';
import { addOrder, draftOrder, moveOrder } from './order-life.ts';
import { closesOnly } from './positions.ts';

/**
 * The limit price of a stop-loss, as a factor of its trigger price. The service publishes no such number.
 * With a limit at the trigger price, a stop-loss would hardly ever fill on the move that triggers it.
 */
const stopLossLimitRates = { sell: parseDecimal('0.99'), buy: parseDecimal('1.01') };

/** The service's end reasons: the account lacks the funds, or the order finds no position left to close. */
const endedForMargin = 'AUTO_CANCELED_USER_MARGIN';
export const endedForPosition = 'AUTO_CANCELED_REDUCE_ONLY';
/** The rest of the order lies beyond the taker band. */
export const endedForBand = 'CANCELED_TAKER_BAND';

/**
 * Places the stop-loss and take-profit of an order for the amount that was filled. Two are placed as a pair,
 * of which one cancels the other; a single one is an ordinary order. Without the funds to reserve they are
 * placed and cancelled at once, so that the cancellation is visible.
 *
 * A take-profit lies beyond the limit price of its order, so the trade that fills the order never reaches it.
 */
export function placeStopLossAndTakeProfit(state: ExchangeState, primary: PaperOrder, atMs: number): void {
  if (primary.oto === null || primary.filled.eq(zero)) return;
  const { stopLoss, takeProfit } = primary.oto;
  const isPair = stopLoss !== null && takeProfit !== null;
  const ocoId = isPair ? takeId(state) : null;
  const stop = stopLoss === null ? null : addOrder(state, draftStopLoss(primary, stopLoss, atMs));
  const profit = takeProfit === null ? null : addOrder(state, draftTakeProfit(primary, takeProfit, atMs));
  if (ocoId !== null && stop !== null && profit !== null) addPair(state, ocoId, stop, profit);
  const first = stop ?? profit;
  if (first !== null) holdForPair(state, first, atMs);
}

function draftStopLoss(primary: PaperOrder, stopLoss: Decimal, atMs: number): PaperOrder {
  const { priceStep } = marketNamed(primary.market);
  const side = oppositeOf(primary.side);
  const limit = stopLoss.times(stopLossLimitRates[side]);
  return draftOrder({
    ...sharedByPair(primary, atMs),
    type: 'stop_limit',
    price: side === 'sell' ? floorToStep(limit, priceStep) : ceilToStep(limit, priceStep),
    activationPrice: stopLoss,
    // From its role, not from the last price: a stop-loss that the price has already passed is triggered at
    // once.
    activationCondition: side === 'sell' ? 'lte' : 'gte',
  });
}

function draftTakeProfit(primary: PaperOrder, takeProfit: Decimal, atMs: number): PaperOrder {
  return draftOrder({
    ...sharedByPair(primary, atMs),
    type: 'limit',
    price: takeProfit,
    activationPrice: null,
    activationCondition: null,
  });
}

function sharedByPair(primary: PaperOrder, atMs: number) {
  return {
    account: primary.account,
    clientOrderId: '',
    market: primary.market,
    side: oppositeOf(primary.side),
    amount: primary.filled,
    postOnly: false,
    ioc: false,
    reduceOnly: false,
    stp: primary.stp,
    positionSide: primary.positionSide,
    statedSide: primary.statedSide,
    createdAtMs: atMs,
    parentId: primary.orderId,
  };
}

function addPair(state: ExchangeState, ocoId: number, stopLoss: PaperOrder, takeProfit: PaperOrder): void {
  stopLoss.ocoId = ocoId;
  takeProfit.ocoId = ocoId;
  state.pairs.set(ocoId, {
    ocoId,
    account: stopLoss.account,
    market: stopLoss.market,
    stopLossId: stopLoss.orderId,
    takeProfitId: takeProfit.orderId,
    isOpen: true,
  });
}

/**
 * Reserves funds for one leg only, because only one can fill. The stop-loss, if there is one, needs more
 * funds.
 */
function holdForPair(state: ExchangeState, first: PaperOrder, atMs: number): void {
  const units = amountToHold(state, first);
  if (canHold(state, first, units)) setHold(state, first, units);
  else endOrder(state, first, atMs, endedForMargin);
}

/**
 * Dissolves the pair of a leg that executes or ends: the other leg is cancelled and its reserved funds pass
 * on.
 */
export function keepOneLeg(state: ExchangeState, survivor: PaperOrder, atMs: number): void {
  const pair = openPairOf(state, survivor);
  if (pair === undefined) return;
  const otherId = pair.stopLossId === survivor.orderId ? pair.takeProfitId : pair.stopLossId;
  const other = state.orders.get(otherId);
  pair.isOpen = false;
  survivor.ocoId = null;
  if (other === undefined) return;
  other.ocoId = null;
  const units = minimum(other.heldAmount, survivor.remaining);
  moveOrder(state, other, 'cancelled', atMs);
  // The survivor may lack funds here. They are checked again when it fills.
  if (units.gt(survivor.heldAmount) && canHold(state, survivor, units)) setHold(state, survivor, units);
}

function openPairOf(state: ExchangeState, order: PaperOrder): OcoPair | undefined {
  return order.ocoId === null ? undefined : state.pairs.get(order.ocoId);
}

/**
 * Cancels an order and the other leg of its pair. A partially filled order gets a stop-loss and take-profit
 * for the filled part; otherwise that position would be unprotected.
 */
export function endOrder(
  state: ExchangeState,
  order: PaperOrder,
  atMs: number,
  reason: string | null = null,
): void {
  keepOneLeg(state, order, atMs);
  moveOrder(state, order, 'cancelled', atMs, reason);
  placeStopLossAndTakeProfit(state, order, atMs);
}

/** Cancels an order that the account cannot pay for, or that finds no position left to close. */
export function endUnfillable(state: ExchangeState, order: PaperOrder, atMs: number): void {
  endOrder(state, order, atMs, closesOnly(order) ? endedForPosition : endedForMargin);
}
