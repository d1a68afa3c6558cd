import { type Decimal, formatDecimal, zero } from '../base/decimal.ts';
import {
  applyFirst,
  bookFill,
  bookKeyOfFill,
  type CostBooks,
  type FirstHoldings,
} from '../model/average-cost.ts';
import type { Fill } from '../model/execution.ts';
import { currenciesInName } from '../model/market.ts';
import type { Denial } from '../model/outcome.ts';

/** @see DECISIONS 155 */
export interface RealisedProfit {
  /** What the fills left behind. */
  readonly books: CostBooks;
  /** Realised since the given time, after fees, by quote currency. */
  readonly byQuote: ReadonlyMap<string, Decimal>;
  /** When a fill last closed at a loss; null: none of them did. */
  readonly lastLossAtMs: number | null;
}

/**
 * Replays fills on the positions that earlier fills left.
 *
 * @param fills oldest first
 * @param sinceMs what was realised before it does not count; its positions do
 * @param isSpot whether a market trades on the spot account, where nothing can be sold that was not bought
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
  let pending = first;
  for (const fill of fills) {
    if (pending !== null && fill.atMs >= pending.atMs) {
      applyFirst(books, pending, isSpot);
      pending = null;
    }
    const currencies = currenciesInName(fill.market);
    const { closed, realised } = bookFill(books, fill, {
      key: bookKeyOfFill(books, fill),
      currencies,
      isSpot: isSpot(fill.market),
      onlyReduces: false,
    });
    if (closed.gt(zero) && realised.lt(zero)) lastLossAtMs = fill.atMs;
    if (fill.atMs >= sinceMs)
      byQuote.set(currencies.quote, (byQuote.get(currencies.quote) ?? zero).plus(realised));
  }
  if (pending !== null) applyFirst(books, pending, isSpot);
  return { books, byQuote, lastLossAtMs };
}

/** The result of a day so far, in USDT. */
export interface DayResult {
  /** When the day began. */
  readonly sinceMs: number;
  /** Of all deals of the day, after fees. */
  readonly realised: Decimal;
  /** Of the open positions. */
  readonly floating: Decimal;
}

/** Denies an order while the loss of the day is as large as the account allows, or larger. */
export function checkDailyLoss({ realised, floating, sinceMs }: DayResult, most: Decimal): Denial | null {
  const loss = realised.plus(floating).neg();
  if (loss.lt(most)) return null;
  const limit = formatDecimal(most);
  const actual = formatDecimal(loss.round(2, 0));
  return {
    rule: 'max_daily_loss',
    limit,
    actual,
    message: `the account has lost ${actual} USDT since ${new Date(sinceMs).toISOString()} (realised ${formatDecimal(realised.round(2))}, floating ${formatDecimal(floating.round(2))}), and pauses at ${limit}; orders that only reduce a position are still sent`,
  };
}

/** Denies an order for some time after a fill that closed at a loss; once exactly that time has passed, it is allowed. */
export function checkCoolDown(
  lastLossAtMs: number | null,
  coolDownMs: number | null,
  nowMs: number,
): Denial | null {
  if (lastLossAtMs === null || coolDownMs === null || nowMs >= lastLossAtMs + coolDownMs) return null;
  const until = new Date(lastLossAtMs + coolDownMs).toISOString();
  return {
    rule: 'cool_down_after_loss',
    limit: `${coolDownMs / 60_000} min`,
    actual: `${Math.max(0, Math.floor((nowMs - lastLossAtMs) / 60_000))} min`,
    message: `a fill closed at a loss at ${new Date(lastLossAtMs).toISOString()}, and nothing is opened until ${until}; orders that only reduce a position are still sent; lower coolDownAfterLoss in relay.config.ts if that is too long`,
  };
}
