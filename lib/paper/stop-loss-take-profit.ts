import { ceilToStep, type Decimal, floorToStep, minimum, parseDecimal, zero } from '../base/decimal.ts';
import type { Side } from '../model/order.ts';
import { amountToHold, canHold, setHold } from './balances.ts';
import { marketNamed } from './markets.ts';
import { addOrder, draftOrder, moveOrder } from './order-life.ts';
import { closesOnly, type OcoPair, type PaperOrder, takeId, type World } from './world.ts';

/**
 * How far beyond its activation price a stop-loss sets its limit, as rates of that price. The service publishes no
 * such number; with none at all, a stop-loss would hardly ever fill on the move that sets it off.
 */
const stopLossLimitRates = { sell: parseDecimal('0.99'), buy: parseDecimal('1.01') };

/** The service's words for an order it ended because the account could not carry it, or had nothing left to close. */
const endedForMargin = 'AUTO_CANCELED_USER_MARGIN';
const endedForPosition = 'AUTO_CANCELED_REDUCE_ONLY';

/**
 * Places the exits of a filled order, of the size that was filled: two as a pair, of which one ends the other; one
 * as an order like any other. Without the funds to hold for them they end at once, visibly.
 *
 * A take-profit lies beyond the limit price of its order, so the trade that fills the order never reaches it.
 */
export function placeStopLossAndTakeProfit(world: World, primary: PaperOrder, atMs: number): void {
  if (primary.oto === null || primary.filled.eq(zero)) return;
  const { stopLoss, takeProfit } = primary.oto;
  const isPair = stopLoss !== null && takeProfit !== null;
  const ocoId = isPair ? takeId(world) : null;
  const stop = stopLoss === null ? null : addOrder(world, draftStopLoss(primary, stopLoss, atMs));
  const profit = takeProfit === null ? null : addOrder(world, draftTakeProfit(primary, takeProfit, atMs));
  if (ocoId !== null && stop !== null && profit !== null) addPair(world, ocoId, stop, profit);
  const first = stop ?? profit;
  if (first !== null) holdForPair(world, first, atMs);
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
    // By its role, not by the last price: a stop-loss that the market has passed already goes off at once.
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
    stp: primary.stp,
    positionSide: primary.positionSide,
    createdAtMs: atMs,
  };
}

function oppositeOf(side: Side): Side {
  return side === 'buy' ? 'sell' : 'buy';
}

function addPair(world: World, ocoId: number, stopLoss: PaperOrder, takeProfit: PaperOrder): void {
  stopLoss.ocoId = ocoId;
  takeProfit.ocoId = ocoId;
  world.pairs.set(ocoId, {
    ocoId,
    account: stopLoss.account,
    market: stopLoss.market,
    stopLossId: stopLoss.orderId,
    takeProfitId: takeProfit.orderId,
    isOpen: true,
  });
}

/** Holds for the first exit only: of a pair one leg alone can fill, and the stop-loss is the dearer to hold. */
function holdForPair(world: World, first: PaperOrder, atMs: number): void {
  const units = amountToHold(world, first);
  if (canHold(world, first, units)) setHold(world, first, units);
  else endOrder(world, first, atMs, endedForMargin);
}

/** Takes the pair of an executing leg apart: the other leg ends, and its hold passes on. */
export function keepOneLeg(world: World, survivor: PaperOrder, atMs: number): void {
  const pair = openPairOf(world, survivor);
  if (pair === undefined) return;
  const otherId = pair.stopLossId === survivor.orderId ? pair.takeProfitId : pair.stopLossId;
  const other = world.orders.get(otherId);
  pair.isOpen = false;
  survivor.ocoId = null;
  if (other === undefined) return;
  other.ocoId = null;
  const units = minimum(other.heldAmount, survivor.remaining);
  moveOrder(world, other, 'cancelled', atMs);
  // Only a perpetual can fail here; what it lacks is looked at again when it fills.
  if (units.gt(survivor.heldAmount) && canHold(world, survivor, units)) setHold(world, survivor, units);
}

function openPairOf(world: World, order: PaperOrder): OcoPair | undefined {
  return order.ocoId === null ? undefined : world.pairs.get(order.ocoId);
}

/**
 * Cancels an order, and with it the other leg of its pair. An order that was filled in part gets exits for that
 * part: the alternative would leave a position nobody watches.
 */
export function endOrder(world: World, order: PaperOrder, atMs: number, reason: string | null = null): void {
  keepOneLeg(world, order, atMs);
  moveOrder(world, order, 'cancelled', atMs, reason);
  placeStopLossAndTakeProfit(world, order, atMs);
}

/** Cancels what the account cannot pay for, or what finds no more of its position to close. */
export function endUnfillable(world: World, order: PaperOrder, atMs: number): void {
  endOrder(world, order, atMs, closesOnly(order) ? endedForPosition : endedForMargin);
}
