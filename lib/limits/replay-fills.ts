import { type Decimal, zero } from '../base/decimal.ts';
import type { CostBooks } from '../model/average-cost.ts';
import { applyFirst, bookDeal, type FirstHoldings, isFillOnSpot } from '../model/cost-books.ts';
import type { Fill } from '../model/execution.ts';
import { currenciesInName, playMoney } from '../model/market.ts';

/** @see DECISIONS 155 */
export interface RealisedProfit {
  /** What the fills left behind. */
  readonly books: CostBooks;
  /** Realised since the given time, after fees, by quote currency. */
  readonly byQuote: ReadonlyMap<string, Decimal>;
  /** When a fill last closed at a loss; null: none of them did. */
  readonly lastLossAtMs: number | null;
  /** What each fill made of its position, oldest first. */
  readonly moves: readonly BookMove[];
}

/** A fill, the key of its position in the books, and what that held after it, signed, in base units. */
export interface BookMove {
  readonly fill: Fill;
  readonly key: string;
  readonly after: Decimal;
}

/**
 * Replays fills on the positions that earlier fills left.
 *
 * @param fills oldest first
 * @param sinceMs what was realised before it does not count; its positions do
 * @param isSpot whether a market trades on the spot account, for fills that do not say it
 * @param first what the account held at a time between the earlier fills and the end of these; null: not known, or earlier
 */
export function replayFills(
  before: CostBooks,
  fills: readonly Fill[],
  sinceMs: number,
  isSpot: (market: string) => boolean = () => false,
  first: FirstHoldings | null = null,
): RealisedProfit {
  const books = new Map(before);
  const byQuote = new Map<string, Decimal>();
  let lastLossAtMs: number | null = null;
  const moves: BookMove[] = [];
  let pending = first;
  for (const fill of fills) {
    if (pending !== null && fill.atMs >= pending.atMs) {
      applyFirst(books, pending);
      pending = null;
    }
    const currencies = currenciesInName(fill.market);
    const { key, closed, realised, position } = bookDeal(books, fill, {
      isSpot: isFillOnSpot(fill, isSpot),
    });
    moves.push({ fill, key, after: position.amount });
    if (closed.gt(zero) && realised.lt(zero) && currencies.quote !== playMoney) lastLossAtMs = fill.atMs;
    if (fill.atMs >= sinceMs)
      byQuote.set(currencies.quote, (byQuote.get(currencies.quote) ?? zero).plus(realised));
  }
  if (pending !== null) applyFirst(books, pending);
  return { books, byQuote, lastLossAtMs, moves };
}
