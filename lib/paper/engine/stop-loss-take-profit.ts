import { ceilToStep, type Decimal, floorToStep, minimum, parseDecimal, zero } from '../../base/decimal.ts';
import { oppositeOf } from '../../model/order.ts';
import { type ExchangeState, type OcoPair, type PaperOrder, takeId } from './exchange-state.ts';
import type { ExitSettings } from './exit-settings.ts';
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
 * Places the stop-loss and take-profit of an order, if they are due, for what was filled and has none yet. Two are
 * placed as a pair, of which one cancels the other; a single one is an ordinary order. Without the funds to reserve they
 * are placed and cancelled at once, so that the cancellation is visible.
 *
 * A take-profit lies beyond the limit price of its order, so the trade that fills the order never reaches it.
 */
export function placeDueExits(state: ExchangeState, primary: PaperOrder, atMs: number): void {
  if (primary.oto === null || !areExitsDue(state, primary)) return;
  const amount = primary.filled.minus(primary.exitAmount);
  if (amount.eq(zero)) return;
  primary.exitAmount = primary.filled;
  const { stopLoss, takeProfit } = primary.oto;
  const isPair = stopLoss !== null && takeProfit !== null;
  const ocoId = isPair ? takeId(state) : null;
  const shared = { ...sharedByPair(primary, atMs), amount, reduceOnly: state.exitSettings.reduceOnly };
  const stop = stopLoss === null ? null : addOrder(state, draftStopLoss(state, shared, stopLoss));
  const profit = takeProfit === null ? null : addOrder(state, draftTakeProfit(shared, takeProfit));
  if (ocoId !== null && stop !== null && profit !== null) addPair(state, ocoId, stop, profit);
  const first = stop ?? profit;
  if (first !== null) holdForPair(state, first, atMs);
}

function areExitsDue({ exitSettings }: ExchangeState, { status }: PaperOrder): boolean {
  if (exitSettings.madeAt === 'never') return false;
  if (exitSettings.madeAt === 'first_fill') return true;
  return status === 'filled' || (status === 'cancelled' && exitSettings.afterPartial);
}

/** The fields of a stop-loss that it has in common with its take-profit. */
type SharedByPair = ReturnType<typeof sharedByPair> & Pick<PaperOrder, 'amount' | 'reduceOnly'>;

function draftStopLoss({ exitSettings }: ExchangeState, shared: SharedByPair, stopLoss: Decimal): PaperOrder {
  return draftOrder({
    ...shared,
    ...stopOfKind[exitSettings.stopKind](shared, stopLoss),
    activationPrice: stopLoss,
    // From its role, not from the last price: a stop-loss that the price has already passed is triggered at
    // once.
    activationCondition: shared.side === 'sell' ? 'lte' : 'gte',
  });
}

/** What a stop-loss becomes when it triggers. */
const stopOfKind: Readonly<
  Record<
    ExitSettings['stopKind'],
    (shared: SharedByPair, stopLoss: Decimal) => Pick<PaperOrder, 'type' | 'price'>
  >
> = {
  limit: (shared, stopLoss) => ({ type: 'stop_limit', price: stopLossLimit(shared, stopLoss) }),
  market: () => ({ type: 'stop_market', price: null }),
};

function stopLossLimit({ side, market }: SharedByPair, stopLoss: Decimal): Decimal {
  const { priceStep } = marketNamed(market);
  const limit = stopLoss.times(stopLossLimitRates[side]);
  return side === 'sell' ? floorToStep(limit, priceStep) : ceilToStep(limit, priceStep);
}

function draftTakeProfit(shared: SharedByPair, takeProfit: Decimal): PaperOrder {
  return draftOrder({
    ...shared,
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
    postOnly: false,
    ioc: false,
    stp: primary.stp,
    positionSide: primary.positionSide,
    statedSide: primary.statedSide,
    createdAtMs: atMs,
    parentId: primary.orderId,
  };
}

export function addPair(
  state: ExchangeState,
  ocoId: number,
  stopLoss: PaperOrder,
  takeProfit: PaperOrder,
): void {
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
export function holdForPair(state: ExchangeState, first: PaperOrder, atMs: number): void {
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
 * Cancels an order and the other leg of its pair. Unless the settings say otherwise, a partially filled order gets a
 * stop-loss and take-profit for the filled part; without them that position would be unprotected.
 */
export function endOrder(
  state: ExchangeState,
  order: PaperOrder,
  atMs: number,
  reason: string | null = null,
): void {
  keepOneLeg(state, order, atMs);
  moveOrder(state, order, 'cancelled', atMs, reason);
  placeDueExits(state, order, atMs);
}

/** Cancels an order that the account cannot pay for, or that finds no position left to close. */
export function endUnfillable(state: ExchangeState, order: PaperOrder, atMs: number): void {
  endOrder(state, order, atMs, closesOnly(order) ? endedForPosition : endedForMargin);
}
