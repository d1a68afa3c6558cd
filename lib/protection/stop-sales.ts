import { type Decimal, formatDecimal, minimum, zero } from '../base/decimal.ts';
import { filledBy, type OrderRecord } from '../ledger/order-record.ts';
import type { Market } from '../model/market.ts';
import type { OrderSignal } from '../model/signal.ts';
import { boughtBefore } from '../signals/bought-before.ts';
import { cutSale } from '../signals/cut-sale.ts';
import { isGuardedBuy, isSpotStop, spotLots } from './spot-lots.ts';

/** What a stop-loss on spot has sold, or a part of that. */
export interface StopSale {
  /** The signal whose stop-loss it is. */
  readonly of: string;
  readonly orderId: number;
  /** In base units. */
  readonly amount: Decimal;
}

/**
 * Whether what a stop-loss on spot has sold counts as sold by a later sale: while a part of a buy with a stop-loss is left that
 * an alert had asked for before it ended, which that sale would sell.
 *
 * @param endedAtMs null while it is open
 * @param held what is left in its market
 */
export function countsAsSold(
  endedAtMs: number | null,
  held: readonly { readonly createdAtMs: number }[],
): boolean {
  return held.some(({ createdAtMs }) => createdAtMs < (endedAtMs ?? Number.MAX_SAFE_INTEGER));
}

/**
 * What the stop-losses of a spot market have sold and no alert has asked to sell since, as far as it counts.
 *
 * @param records of the account, oldest first
 * @param answered by id of a stop-loss: what alerts have asked to sell of it, in base units
 * @returns the oldest first
 * @see DECISIONS 167
 */
export function unansweredSales(
  records: readonly OrderRecord[],
  market: string,
  answered: ReadonlyMap<number, Decimal>,
): readonly StopSale[] {
  const lots = spotLots(records, market);
  const left = records.filter((one) => isGuardedBuy(one) && lots.get(one.signalId)?.gt(zero) === true);
  return records.flatMap((record) => {
    const { protects, orderId, endedAtMs } = record;
    if (record.market !== market || protects === null || orderId === null || !isSpotStop(record)) return [];
    const amount = filledBy(record).minus(answered.get(orderId) ?? zero);
    return countsAsSold(endedAtMs, left) && amount.gt(zero) ? [{ of: protects.of, orderId, amount }] : [];
  });
}

/** What of these belongs to a sale of that amount, the first ones first. */
export function partsWithin(amount: Decimal, sold: readonly StopSale[]): readonly StopSale[] {
  let rest = amount;
  return sold.flatMap((sale) => {
    const part = minimum(sale.amount, rest);
    rest = rest.minus(part);
    return part.gt(zero) ? [{ ...sale, amount: part }] : [];
  });
}

/** What stop-losses have sold of a sale already. */
export interface StoppedSale {
  readonly parts: readonly StopSale[];
  /** One clause. */
  readonly note: string;
  /** The sale of what is left; null when nothing is. */
  readonly rest: OrderSignal | null;
}

/**
 * Counts what stop-losses have sold as sold by the next sale: the oldest buy is sold first.
 *
 * @param amount that the sale asks for, in base units
 * @param sold the oldest first
 * @returns null when they have sold nothing of it
 */
export function countStopped(
  { signal, amount }: { readonly signal: OrderSignal; readonly amount: Decimal },
  sold: readonly StopSale[],
  records: readonly OrderRecord[],
  market: Market,
): StoppedSale | null {
  const parts = partsWithin(amount, sold);
  if (parts.length === 0) return null;
  const told = parts.map(
    (part) =>
      `the stop-loss order ${part.orderId} of "${part.of}" has sold ${formatDecimal(part.amount)} of it already`,
  );
  const available = parts.reduce((sum, part) => sum.plus(part.amount), zero);
  const bought = boughtBefore(records, market.name, amount);
  const holding = { of: 'spot', currency: market.base, available, boughtBefore: bought } as const;
  // As a sale is cut by the fee of what was bought.
  const isWhole = cutSale(amount, holding, market).lte(available);
  const size = { unit: 'base', quantity: formatDecimal(amount.minus(available)) } as const;
  return { parts, note: told.join(' and '), rest: isWhole ? null : { ...signal, size } };
}
