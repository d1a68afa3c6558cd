import { type Decimal, floorToStep, minimum, parseDecimal, zero } from '../base/decimal.ts';
import { decimalIn } from '../base/json.ts';
import { filledBy, type OrderRecord } from '../ledger/order-record.ts';
import { isStillOpen } from '../model/execution.ts';
import { currenciesInName } from '../model/market.ts';
import type { SpotFact } from '../model/step-facts.ts';
import { leftOf } from './left-of.ts';

/**
 * What is left of the spot buys of a market that asked for a stop-loss, by id of their signals, in base units: what they
 * bought without its fee, without what their stop-losses sold, and without what other sales of this relay sold. A sale
 * reduces those first that had been filled before it, the oldest first.
 *
 * The balance has no part in it: it also holds what the owner has besides.
 *
 * @param records oldest first, with the sales
 */
export function spotLots(records: readonly OrderRecord[], market: string): ReadonlyMap<string, Decimal> {
  const lots = new Map<string, Decimal>();
  const placed = records.filter(
    (record) => record.market === market && record.status === 'placed' && record.spot !== null,
  );
  for (const record of placed.toSorted((one, other) => endOf(one) - endOf(other))) {
    if (isGuardedBuy(record)) lots.set(record.signalId, leftOf(record, records).minus(feeOf(record)));
    else if (isSale(record)) sell(lots, filledBy(record));
  }
  const bySignal = new Map(placed.map((record) => [record.signalId, record]));
  return new Map(
    [...lots].map(([signalId, left]) => [signalId, sellable(left, bySignal.get(signalId)?.spot ?? null)]),
  );
}

/** Whether an order is a spot buy that asked for a stop-loss, and what it bought may be held. */
export function isGuardedBuy({ spot, asked, exits, isFollowed }: OrderRecord): boolean {
  return spot !== null && asked?.side === 'buy' && exits.length > 0 && isFollowed !== false;
}

/** Whether an order sells on spot what no stop-loss sells. */
export function isSale({ spot, asked, protects }: OrderRecord): boolean {
  return spot !== null && asked?.side === 'sell' && protects === null;
}

/** What of an amount can be sold: whole steps of it, and nothing when that is too little for an order. */
export function sellable(amount: Decimal, spot: SpotFact | null): Decimal {
  if (spot === null || !amount.gt(zero)) return zero;
  const whole = floorToStep(amount, parseDecimal(spot.amountStep));
  return whole.lt(parseDecimal(spot.least)) ? zero : whole;
}

/** What would be open may still fill, so it comes last. */
function endOf({ endedAtMs, state, reported, sentAtMs }: OrderRecord): number {
  const hasEnded = state !== null && !isStillOpen(state);
  const toldAtMs = endedAtMs ?? (hasEnded ? (reported?.createdAtMs ?? sentAtMs) : null);
  return toldAtMs ?? Number.MAX_SAFE_INTEGER;
}

function sell(lots: Map<string, Decimal>, amount: Decimal): void {
  let rest = amount;
  for (const [signalId, left] of lots) {
    const sold = minimum(left, rest);
    if (!sold.gt(zero)) continue;
    lots.set(signalId, left.minus(sold));
    rest = rest.minus(sold);
  }
}

/** The exchange takes the fee of a spot buy from what it buys. */
function feeOf({ market, followed, reported, spot }: OrderRecord): Decimal {
  const { base } = currenciesInName(market);
  const told = [
    decimalIn(followed?.fees[base]),
    spot?.isQuoteSized === true ? null : decimalIn(reported?.fee),
  ];
  return told.reduce<Decimal>((most, fee) => (fee?.gt(most) === true ? fee : most), zero);
}
