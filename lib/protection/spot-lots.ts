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
  const { lots } = replay(records, market);
  const bySignal = new Map(records.map((record) => [record.signalId, record]));
  return new Map(
    [...lots].map(([signalId, left]) => [signalId, sellable(left, bySignal.get(signalId)?.spot ?? null)]),
  );
}

/**
 * What each sale of a market sold of each buy with a stop-loss, by the ids of their signals, in base units.
 *
 * @param records oldest first
 */
export function soldOfBuys(
  records: readonly OrderRecord[],
  market: string,
): ReadonlyMap<string, ReadonlyMap<string, Decimal>> {
  return replay(records, market).sold;
}

function replay(records: readonly OrderRecord[], market: string) {
  const lots = new Map<string, Decimal>();
  const sold = new Map<string, ReadonlyMap<string, Decimal>>();
  const placed = records.filter(
    (record) => record.market === market && record.status === 'placed' && record.spot !== null,
  );
  for (const record of placed.toSorted((one, other) => endOf(one) - endOf(other))) {
    if (isGuardedBuy(record)) lots.set(record.signalId, leftOf(record, records).minus(feeOf(record)));
    else if (isSale(record)) sold.set(record.signalId, sell(lots, record));
  }
  return { lots, sold };
}

/** Whether an order is a spot buy that asked for a stop-loss, and what it bought may be held. */
export function isGuardedBuy({ spot, asked, exits, isFollowed }: OrderRecord): boolean {
  return spot !== null && asked?.side === 'buy' && exits.length > 0 && isFollowed !== false;
}

/** Whether an order is a stop-loss on spot, or what was sold at market in its place. */
export function isSpotStop({ protects, spot, status }: OrderRecord): boolean {
  return protects?.role === 'stop_loss' && spot !== null && status === 'placed';
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

/** What it sold of buys that are not followed any more is known already: the rest is taken from the others. */
function sell(lots: Map<string, Decimal>, record: OrderRecord): ReadonlyMap<string, Decimal> {
  const sold = new Map(Object.entries(record.soldOf).map(([name, amount]) => [name, parseDecimal(amount)]));
  let rest = [...sold.values()].reduce((left, amount) => left.minus(amount), filledBy(record));
  for (const [signalId, left] of lots) {
    const known = sold.get(signalId);
    const amount = minimum(left, known ?? rest);
    if (!amount.gt(zero)) continue;
    lots.set(signalId, left.minus(amount));
    if (known !== undefined) continue;
    sold.set(signalId, amount);
    rest = rest.minus(amount);
  }
  return sold;
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
