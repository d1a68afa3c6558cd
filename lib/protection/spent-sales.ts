import { mostClockAheadMs } from '../account/account-deals.ts';
import { type Decimal, maximum, minimum, sumOf, zero } from '../base/decimal.ts';
import { filledBy, type OrderRecord } from '../ledger/order-record.ts';
import { mayBeOneStrategy, ofOneStrategy, strategyOf } from '../model/one-strategy.ts';
import { isGuardedBuy, restOfSale, sellable, soldOfBuys, spotLots } from './spot-lots.ts';
import { partsWithin, type StopSale, stoppedBy } from './stop-sales.ts';
import { isUnguardedBuy, unguardedLots } from './unguarded-lots.ts';

/** A sale that rests, and what it was to sell and cannot any more: it would sell the next buy, or what the owner holds besides. */
export interface SpentSale {
  readonly record: OrderRecord;
  readonly orderId: number;
  /** What stop-losses have sold of it; empty: it is a stop-loss itself, from the command of an alarm, of what was sold. */
  readonly parts: readonly StopSale[];
  /** Whether another buy of its strategy is left, which the next sale is for. Otherwise the next one may still ask for the same. */
  readonly hasNext: boolean;
}

/** What a sale has counted as sold by a stop-loss already: it was not sent, or the sale is a share of what was left. */
export interface SaleAnswer {
  /** The client order id of the sale. */
  readonly sale: string;
  /** Of the stop-loss. */
  readonly orderId: number;
  /** In base units. */
  readonly amount: Decimal;
  /** Present where the sale is a share of what was left: it has not asked for it. */
  readonly isBefore?: true;
}

/**
 * The resting sales of a spot market that were to sell what a stop-loss has sold since they were sent. A sale was to sell the
 * buys that were there: those of its own strategy first, and of these the oldest first. What older sales sell is not its own.
 *
 * @param records of the account, oldest first
 * @param answers of the sales of the market
 * @param older records that are not followed any more, oldest first: buys without a stop-loss have a part in what a sale is for
 */
export function spentSales(
  records: readonly OrderRecord[],
  market: string,
  answers: readonly SaleAnswer[],
  older: readonly OrderRecord[] = [],
): readonly SpentSale[] {
  const own = records.filter((record) => record.market === market);
  const lots = new Map(spotLots(own, market));
  const stops = own.flatMap((record) => {
    const of = stoppedBy(record, own);
    return of === null ? [] : [{ record, of }];
  });
  const whole = [...older.filter((record) => record.market === market), ...own];
  whole.sort((one, other) => one.createdAtMs - other.createdAtMs);
  const unguarded = unguardedLots(whole, soldOfBuys(own, market));
  const buys = listBuys(own, stops, whole.filter(isUnguardedBuy));
  const left = new Map<string, Decimal>(
    buys.map(({ signalId }) => [signalId, lots.get(signalId) ?? unguarded.get(signalId) ?? zero]),
  );
  return own.flatMap((record): readonly SpentSale[] => {
    const { orderId, clientOrderId } = record;
    const open = restOfSale(record);
    if (orderId === null || !open.gt(zero)) return [];
    const of = stoppedBy(record, own);
    if (of !== null)
      return lots.get(of)?.eq(zero) === true ? [{ record, orderId, parts: [], hasNext: false }] : [];
    const parts: StopSale[] = [];
    let rest = open;
    for (const buy of toSell(record, buys)) {
      const there = left.get(buy.signalId) ?? zero;
      const still = minimum(there, rest);
      left.set(buy.signalId, there.minus(still));
      rest = rest.minus(still);
      const sold = stops.filter(({ of }) => of === buy.signalId).flatMap((stop) => soldAfter(stop, record));
      const counted = answers.filter(({ sale }) => sale === clientOrderId);
      const spent = partsWithin(rest, withoutCounted(sold, counted));
      parts.push(...spent);
      rest = spent.reduce((sum, part) => sum.minus(part.amount), rest);
    }
    const whole = sumOf(parts.map(({ amount }) => amount));
    const isMore = whole.gt(open.times(mostFeeRate)) && sellable(whole, record.spot).gt(zero);
    const hasNext = buys.some(
      (buy) => mayBeOneStrategy(buy.strategy, record.strategy) && lots.get(buy.signalId)?.gt(zero) === true,
    );
    return isMore ? [{ record, orderId, parts, hasNext }] : [];
  });
}

/** Less than that may be the fee of what was bought: a sale asks for that, too. */
export const mostFeeRate = '0.01';

interface Stop {
  readonly record: OrderRecord;
  /** The buy that it protects. */
  readonly of: string;
}

type Buy = Pick<OrderRecord, 'signalId' | 'strategy' | 'createdAtMs'>;

/** A buy that is not read any more is known by its stop-loss. */
function listBuys(
  records: readonly OrderRecord[],
  stops: readonly Stop[],
  unguarded: readonly OrderRecord[],
): readonly Buy[] {
  const read = [...records.filter(isGuardedBuy), ...unguarded];
  const others = stops.filter(({ of }) => !read.some(({ signalId }) => signalId === of));
  const gone = new Map(others.map(({ record, of }) => [of, { ...record, signalId: of }]));
  return [...read, ...gone.values()].sort((one, other) => one.createdAtMs - other.createdAtMs);
}

function toSell({ strategy, createdAtMs }: OrderRecord, buys: readonly Buy[]): readonly Buy[] {
  const there = buys.filter((buy) => buy.createdAtMs < createdAtMs);
  return ofOneStrategy(there, strategy, strategyOf);
}

/** What it may have sold since the sale was made. */
function soldAfter({ record, of }: Stop, sale: OrderRecord): readonly StopSale[] {
  const { orderId, endedAtMs } = record;
  const isLater = endedAtMs === null || endedAtMs >= sinceOf(sale);
  return orderId === null || !isLater ? [] : [{ of, orderId, amount: filledBy(record) }];
}

/**
 * Of a sale it is noted what it has counted: a stop-loss that ends between its last look and its sending is in nothing that was
 * noted. A share is of what is held when it is sent: what a stop-loss that has ended by then had sold is not in it.
 *
 * @returns on the exchange's clock, as far as its response tells it: rather too early, by as long as that took
 */
function sinceOf({ asked, sentAtMs, createdAtMs, answeredAtMs, reported }: OrderRecord): number {
  const sinceMs = (asked?.size.unit === 'percent' ? sentAtMs : null) ?? createdAtMs;
  const atExchangeMs = reported?.createdAtMs ?? null;
  if (atExchangeMs === null) return sinceMs;
  // A lookup may have found it much later.
  const toldAtMs = Math.min(answeredAtMs, (sentAtMs ?? createdAtMs) + mostClockAheadMs);
  return atExchangeMs - (toldAtMs - sinceMs);
}

function withoutCounted(sold: readonly StopSale[], counted: readonly SaleAnswer[]): readonly StopSale[] {
  return sold.map((sale) => {
    const own = counted.filter(({ orderId }) => orderId === sale.orderId);
    const amount = own.reduce((left, one) => left.minus(one.amount), sale.amount);
    return { ...sale, amount: maximum(amount, zero) };
  });
}
