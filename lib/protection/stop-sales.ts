import { type Decimal, formatDecimal, minimum, parseDecimal, sumOf, zero } from '../base/decimal.ts';
import { filledBy, type OrderRecord } from '../ledger/order-record.ts';
import type { Market } from '../model/market.ts';
import { mayBeOneStrategy } from '../model/one-strategy.ts';
import { orderNamedBy } from '../model/protect-id.ts';
import type { OrderSignal } from '../model/signal.ts';
import { boughtBefore } from '../signals/bought-before.ts';
import { cutSale } from '../signals/cut-sale.ts';
import { isGuardedBuy, isSale, isSpotStop } from './spot-lots.ts';

/** What a stop-loss on spot has sold, or a part of that. */
export interface StopSale {
  /** The signal whose stop-loss it is. */
  readonly of: string;
  readonly orderId: number;
  /** In base units. */
  readonly amount: Decimal;
}

/** How long an exit alert may come after the stop-loss that has sold the same, while no older buy is left. */
export const answerableMs = 60 * 60_000;

/**
 * Whether a buy belongs to a time after a stop-loss had sold: the next exit of its strategy is its own, and not that of the
 * buy before it.
 *
 * @param endedAtMs of the stop-loss, on the exchange's clock; null while it is open
 */
export function endsCredit(
  buy: Pick<OrderRecord, 'strategy' | 'createdAtMs' | 'reported'>,
  strategy: string | undefined,
  endedAtMs: number | null,
): boolean {
  // The clock here may be ahead of the exchange's, or behind it.
  const boughtAtMs = buy.reported?.createdAtMs ?? buy.createdAtMs;
  return endedAtMs !== null && boughtAtMs >= endedAtMs && mayBeOneStrategy(buy.strategy, strategy);
}

/**
 * The spot buy whose stop-loss an order is: one that the relay placed, or one from the command of its alarm.
 *
 * @returns the id of its signal; null for any other order
 */
export function stoppedBy(record: OrderRecord, records: readonly OrderRecord[]): string | null {
  if (isSpotStop(record)) return record.protects?.of ?? null;
  const orderId = isSale(record) && record.status === 'placed' ? orderNamedBy(record.signalId) : null;
  if (orderId === null) return null;
  const buy = records.find((one) => one.orderId === orderId && one.market === record.market);
  return buy !== undefined && isGuardedBuy(buy) ? buy.signalId : null;
}

/**
 * What the stop-losses of a spot market have sold and no alert has asked to sell since, as far as it counts for a sale of that
 * strategy: until a later buy.
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
  strategy: string | undefined,
): readonly StopSale[] {
  const own = records.filter((record) => record.market === market);
  const buys = own.filter(hasBought);
  return own.flatMap((record) => {
    const { orderId, endedAtMs } = record;
    const of = stoppedBy(record, own);
    if (of === null || orderId === null) return [];
    const bought = own.find(({ signalId }) => signalId === of);
    const isOther = !mayBeOneStrategy((bought ?? record).strategy, strategy);
    if (isOther || buys.some((buy) => endsCredit(buy, strategy, endedAtMs))) return [];
    const amount = filledBy(record).minus(answered.get(orderId) ?? zero);
    return amount.gt(zero) ? [{ of, orderId, amount }] : [];
  });
}

function hasBought(record: OrderRecord): boolean {
  const { spot, asked, status, reported } = record;
  if (spot === null || asked?.side !== 'buy' || status !== 'placed') return false;
  // One in the quote currency is followed before its amount is known.
  return filledBy(record).gt(zero) || parseDecimal(reported?.filled ?? '0').gt(zero);
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
  const available = sumOf(parts.map(({ amount }) => amount));
  const bought = boughtBefore(records, market.name, amount);
  const holding = { of: 'spot', currency: market.base, available, boughtBefore: bought } as const;
  // As a sale is cut by the fee of what was bought.
  const isWhole = cutSale(amount, holding, market).lte(available);
  const size = { unit: 'base', quantity: formatDecimal(amount.minus(available)) } as const;
  return { parts, note: told.join(' and '), rest: isWhole ? null : { ...signal, size } };
}
