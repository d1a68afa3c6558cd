import { type Decimal, floorToStep, maximum, minimum, parseDecimal, zero } from '../base/decimal.ts';
import { filledBy, type OrderRecord } from '../ledger/order-record.ts';
import { mayStillBeOpen } from '../model/execution.ts';
import { currenciesInName } from '../model/market.ts';
import { mayBeOneStrategy } from '../model/one-strategy.ts';
import type { SpotFact } from '../model/step-facts.ts';
import { isGuardedBuy, restOf, restOfSale, sellable, soldOfBuys, spotLots } from './spot-lots.ts';
import { stoppedBy } from './stop-sales.ts';
import { unguardedLots } from './unguarded-lots.ts';

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

/** How what was bought in a spot market belongs to the strategies, as a sale sees it; in base units. */
export interface SaleShares {
  /** What buys of its strategy, or of none, have left; zero where nothing is left to others. */
  readonly own: Decimal;
  /** What buys with a stop-loss of other strategies have left, by their names: at most, where it is not known. */
  readonly others: ReadonlyMap<string, Decimal>;
  /** The ids of the signals of those of which it is not known yet what they have bought. */
  readonly untold: readonly string[];
}

const noShares: SaleShares = { own: zero, others: new Map(), untold: [] };

/**
 * What is left of the buys of a market, and no resting sale of their strategy holds. How much the others have left is known of
 * buys with a stop-loss alone: those without one are not followed once they have filled.
 *
 * @param strategy of the sale; of one that names none, everything may be its own
 * @param records of the market, oldest first
 */
export function sharesForSale(
  market: string,
  strategy: string | undefined,
  records: readonly OrderRecord[],
): SaleShares {
  const isOther = (name: string | undefined): name is string => !mayBeOneStrategy(name, strategy);
  if (!records.some((record) => isGuardedBuy(record) && isOther(record.strategy))) return noShares;
  const left = new Map<string | undefined, Decimal>();
  for (const [record, amount] of leftOfEach(market, strategy, withRestSold(records)))
    left.set(record.strategy, (left.get(record.strategy) ?? zero).plus(amount));
  const untold = records.filter((record) => isOther(record.strategy) && untoldOf(record).gt(zero));
  const shares = [...left].filter(([, amount]) => amount.gt(zero));
  return {
    own: shares.reduce((sum, [name, amount]) => (isOther(name) ? sum : sum.plus(amount)), zero),
    others: new Map(shares.flatMap(([name, amount]) => (isOther(name) ? [[name, amount]] : []))),
    untold: untold.map(({ signalId }) => signalId),
  };
}

/**
 * The records, with a sale that rests as one that sold all when it was placed: it holds none of what is bought after that, and
 * later sales sell other coins.
 */
export function withRestSold(records: readonly OrderRecord[]): readonly OrderRecord[] {
  return records.map((record) => {
    const rest = restOfSale(record);
    if (!rest.gt(zero) || stoppedBy(record, records) !== null) return record;
    const endedAtMs = record.reported?.createdAtMs ?? record.sentAtMs;
    return { ...record, state: 'filled', endedAtMs, proved: filledBy(record).plus(rest) };
  });
}

/**
 * What is left of each buy of a market, as a sale of the strategy sees it, in base units: of other strategies, of buys with a
 * stop-loss alone, and at most, where it is not known.
 */
function leftOfEach(
  market: string,
  strategy: string | undefined,
  records: readonly OrderRecord[],
): ReadonlyMap<OrderRecord, Decimal> {
  const lots = spotLots(records, market);
  const unguarded = unguardedLots(records, soldOfBuys(records, market));
  return new Map(
    records.map((record) => {
      const { signalId } = record;
      const isOwn = mayBeOneStrategy(record.strategy, strategy);
      const lot = lots.get(signalId) ?? (isOwn ? unguarded.get(signalId) : undefined) ?? zero;
      return [record, isOwn ? lot : lot.plus(untoldOf(record))];
    }),
  );
}

/**
 * The most that a buy with a stop-loss can have bought beyond what is known of it: its outcome is not known, it rests and may have
 * filled since it was followed, or only what it has spent is known. Then it cost more than its stop-loss.
 */
function untoldOf(record: OrderRecord): Decimal {
  if (!isGuardedBuy(record)) return zero;
  const { status, state, followed, amount, spot } = record;
  if (status === 'unknown' || status === 'sending') return amount ?? zero;
  if (status !== 'placed') return zero;
  const isOpen = mayStillBeOpen(state);
  if (spot?.isQuoteSized !== true) return isOpen ? (restOf(record) ?? zero) : zero;
  // The list of orders may show its end before that of the deals shows what it has bought.
  return isOpen || followed === null || state === 'filled' ? untoldOfQuote(record, spot) : zero;
}

/** What such a buy has not told of its amount in the quote currency, in base units. */
function untoldOfQuote(record: OrderRecord, { amountStep }: SpotFact): Decimal {
  const { followed, reported, exits } = record;
  const { filled = '0', filledNotional = '0' } = followed ?? {};
  const price = parseDecimal(filled).gt(zero)
    ? parseDecimal(filledNotional).div(parseDecimal(filled))
    : (exits.find(({ role }) => role === 'stop_loss')?.price ?? null);
  if (reported === null || price === null) return restOf(record) ?? zero;
  const untold = parseDecimal(reported.amount).minus(parseDecimal(filledNotional));
  return floorToStep(maximum(untold, zero).div(price), parseDecimal(amountStep));
}
