import { type Decimal, maximum, minimum, zero } from '../base/decimal.ts';
import type { OrderRecord } from '../ledger/order-record.ts';
import { currenciesInName } from '../model/market.ts';
import { isGuardedBuy, mayBeOneStrategy, restOfSale, sellable, spotLots } from './spot-lots.ts';

/** The other markets with the base currency of a market in which a spot buy asked for a stop-loss. */
export function marketsBeside(records: readonly OrderRecord[], market: string): readonly string[] {
  const { base } = currenciesInName(market);
  const others = records.filter(
    (record) =>
      record.market !== market && isGuardedBuy(record) && currenciesInName(record.market).base === base,
  );
  return [...new Set(others.map((record) => record.market))];
}

/** What is held of one currency, and what of it the stop-losses of this relay hold. */
export interface SharedBalance {
  /** What those do not hold, in base units. */
  readonly free: Decimal;
  /** By market with that base currency, in base units; a market without any may be missing. */
  readonly held: ReadonlyMap<string, Decimal>;
}

/**
 * What of a balance can be protected in a market: what its own stop-losses hold, and what is free and belongs to no buy of
 * another market with the same base currency. The buys of all of them share the balance, the newest first, as those of one
 * market do. What a stop-loss holds is left to it.
 *
 * @param records of the account, oldest first
 * @returns in base units
 */
export function protectableIn(
  market: string,
  { free, held }: SharedBalance,
  records: readonly OrderRecord[],
): Decimal {
  const own = held.get(market) ?? zero;
  const rest = free.minus(claimedBeside(market, { free, held }, records));
  return rest.gt(zero) ? own.plus(rest) : own;
}

/** What the buys of other markets have of the balance beyond what their stop-losses hold. */
function claimedBeside(
  market: string,
  { free, held }: SharedBalance,
  records: readonly OrderRecord[],
): Decimal {
  const others = marketsBeside(records, market);
  if (others.length === 0) return zero;
  const lots = new Map([market, ...others].flatMap((name) => [...spotLots(records, name)]));
  const shares = new Map<string, Decimal>();
  let rest = [...held.values()].reduce((sum, amount) => sum.plus(amount), free);
  for (const record of records.toReversed()) {
    const left = lots.get(record.signalId);
    if (left === undefined) continue;
    const share = sellable(minimum(left, rest), record.spot);
    rest = rest.minus(share);
    shares.set(record.market, share.plus(shares.get(record.market) ?? zero));
  }
  return others.reduce((sum, other) => {
    const claim = (shares.get(other) ?? zero).minus(held.get(other) ?? zero);
    return claim.gt(zero) ? sum.plus(claim) : sum;
  }, zero);
}

/**
 * What the buys of other strategies in a market have left and no sale of those holds: the sale of a strategy leaves it to them.
 *
 * @param records of the market, oldest first
 * @returns in base units; zero for a sale that names no strategy
 */
export function claimedByOthers(
  market: string,
  strategy: string | undefined,
  records: readonly OrderRecord[],
): Decimal {
  const left = new Map<string, Decimal>();
  const isOther = (name: string | undefined): name is string => !mayBeOneStrategy(name, strategy);
  const lots = spotLots(records, market);
  for (const record of records) {
    const { signalId, strategy: name } = record;
    if (!isOther(name)) continue;
    const before = left.get(name) ?? zero;
    left.set(name, before.plus(lots.get(signalId) ?? zero).minus(restOfSale(record)));
  }
  return [...left.values()].reduce((sum, amount) => sum.plus(maximum(amount, zero)), zero);
}
