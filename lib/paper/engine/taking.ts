import { type Decimal, minimum, one, parseDecimal, zero } from '../../base/decimal.ts';
import { isQuoteSized, type Side } from '../../model/order.ts';
import { recordPublicTrade } from './deals.ts';
import { type ExchangeState, isSpotOrder, type PaperOrder } from './exchange-state.ts';
import { fillOrder, wantedAt } from './fills.ts';
import { amountToHold, canHold, canPay, openingCost } from './funds.ts';
import { marketNamed } from './markets.ts';
import { type Offer, offersTo } from './order-book.ts';
import { affordableAmount } from './settlement.ts';
import { endedForBand, endOrder } from './stop-loss-take-profit.ts';

/**
 * How far from the best price an order may take, as a part of that price. The live service has such a band and does not
 * publish its width.
 */
const takerBand = parseDecimal('0.05');

/** Whether a price is worse than a limit for a taker of that side. */
function isWorse(side: Side, price: Decimal, limit: Decimal): boolean {
  return side === 'buy' ? price.gt(limit) : price.lt(limit);
}

/** The offers that an order can take, best first: within its limit and the taker band. */
function reachableOffers(state: ExchangeState, order: PaperOrder): readonly Offer[] {
  const { orderId, market, side, price: limit } = order;
  const offers = offersTo(state, market, side, orderId);
  const [best] = offers;
  if (best === undefined) return [];
  const band = best.price.times(side === 'buy' ? one.plus(takerBand) : one.minus(takerBand));
  return offers.filter(
    ({ price }) => !isWorse(side, price, band) && (limit === null || !isWorse(side, price, limit)),
  );
}

/** Whether an order would take at once instead of resting. */
export function wouldTake(state: ExchangeState, order: PaperOrder): boolean {
  return reachableOffers(state, order).length > 0;
}

/** Whether the account has the funds for a new order: for what it reserves, or for what it takes at once. */
export function canFund(state: ExchangeState, order: PaperOrder): boolean {
  if (order.price !== null || order.activationPrice !== null)
    return canHold(state, order, amountToHold(state, order));
  const { amount, notional } = takable(state, order);
  if (isSpotOrder(order)) return canPay(state, order, spotCost(order, notional));
  const opening = amount.eq(zero) ? zero : minimum(amountToHold(state, order), amount);
  if (opening.eq(zero)) return true;
  return canPay(state, order, openingCost(state, order, notional.times(opening).div(amount), notional));
}

function spotCost(order: PaperOrder, notional: Decimal): Decimal {
  if (order.side === 'sell') return order.amount;
  return isQuoteSized(order) ? order.amount : notional;
}

/** What the book offers an order: base units and their price, within the taker band. */
function takable(state: ExchangeState, order: PaperOrder): { amount: Decimal; notional: Decimal } {
  let [amount, notional] = [zero, zero];
  for (const offer of reachableOffers(state, order)) {
    const part = minimum(offer.amount, order.remaining.minus(amount));
    amount = amount.plus(part);
    notional = notional.plus(part.times(offer.price));
  }
  return { amount, notional };
}

/**
 * Lets a new order take what the book offers, level by level. What is left then rests in the book, if the order may
 * rest and the taker band does not stop it; otherwise it is cancelled.
 */
export function takeOffers(state: ExchangeState, order: PaperOrder, atMs: number): void {
  const offers = reachableOffers(state, order);
  for (const offer of offers) {
    if (!state.open.has(order.orderId)) return;
    takeOffer(state, order, offer, atMs);
  }
  if (!state.open.has(order.orderId)) return;
  if (order.ioc) endOrder(state, order, atMs);
  else if (order.price === null || isBeyondBand(state, order, offers))
    endOrder(state, order, atMs, endedForBand);
}

/** Whether the order stopped taking because of the band and not because of its limit. */
function isBeyondBand(state: ExchangeState, order: PaperOrder, taken: readonly Offer[]): boolean {
  const last = taken.at(-1);
  if (last === undefined || order.price === null) return false;
  const next = offersTo(state, order.market, order.side, order.orderId).find(({ price }) =>
    isWorse(order.side, price, last.price),
  );
  return next !== undefined && !isWorse(order.side, next.price, order.price);
}

/** A resting order on the other side fills for no more than the taker can pay. */
function takeOffer(
  state: ExchangeState,
  order: PaperOrder,
  { price, amount, order: maker }: Offer,
  atMs: number,
): void {
  // An earlier fill may have ended it.
  if (maker !== null && !state.open.has(maker.orderId)) return;
  const wanted = minimum(wantedAt(order, price), amount);
  if (wanted.eq(zero)) return;
  const { takerFeeRate: feeRate } = marketNamed(order.market);
  const payable = affordableAmount(state, order, { amount: wanted, price, role: 'taker', feeRate, atMs });
  const met =
    maker === null || payable.eq(zero)
      ? wanted
      : fillOrder(state, maker, { most: payable, price, role: 'maker', atMs });
  if (met.eq(zero) || !state.open.has(order.orderId)) return;
  const taken = fillOrder(state, order, { most: met, price, role: 'taker', atMs });
  if (taken.gt(zero))
    recordPublicTrade(state, order.market, { price, amount: taken, side: order.side, atMs });
}
