import { type Decimal, parseDecimal, zero } from '../base/decimal.ts';
import type { CostPosition } from '../model/average-cost.ts';
import { applyFirst, bookDeal, type FirstHoldings, isFillOnSpot } from '../model/cost-books.ts';
import type { Fill } from '../model/execution.ts';
import { type Currencies, currenciesInName } from '../model/market.ts';
import type { SignalFacts } from './signal-facts.ts';

/** One fill, and what it changed. Amounts of money are in the quote currency. */
export interface BookedDeal {
  readonly fill: Fill;
  /** Of the signal whose order, stop-loss or take-profit was filled; null for a deal of none, and when the ledger does not have it any more. */
  readonly facts: SignalFacts | null;
  readonly quote: string;
  readonly amount: Decimal;
  readonly notional: Decimal;
  readonly fee: Decimal;
  /** The fee at the price of the fill, where it was paid in the base currency; null in a third currency. */
  readonly feeInQuote: Decimal | null;
  /** How much of the position it closed, in base units. */
  readonly closed: Decimal;
  /** The part that only closes, although no fill of the relay had opened it, in base units. It has no known cost. */
  readonly unmatched: Decimal;
  /** The profit of the closed part before fees. */
  readonly profit: Decimal;
  /** The same less the fees of this fill. */
  readonly net: Decimal;
  /** Null without a reference price, and for a stop-loss or take-profit. */
  readonly slippage: Slippage | null;
}

/** How much worse than the reference price a fill was; below zero: better. In the quote currency. */
export interface Slippage {
  readonly money: Decimal;
  /** What the fill would have been worth at the reference price. */
  readonly referenceNotional: Decimal;
}

/** Books the fills of one account at average cost, in the order of time. */
export interface DealBooks {
  /** @param facts of the signal that the fill belongs to; null when they are not known */
  book(fill: Fill, facts: SignalFacts | null): BookedDeal;
}

/**
 * @param isSpot whether a market trades on the spot account, for fills that do not say it
 * @param first what the account held when it was first read; null: it never was
 */
export function createDealBooks(
  isSpot: (market: string) => boolean,
  first: FirstHoldings | null = null,
): DealBooks {
  const books = new Map<string, CostPosition>();
  let pending = first;
  return {
    book(fill, facts) {
      if (pending !== null && fill.atMs >= pending.atMs) {
        applyFirst(books, pending);
        pending = null;
      }
      const currencies = currenciesInName(fill.market);
      const booked = bookDeal(books, fill, {
        isSpot: isFillOnSpot(fill, isSpot),
        strategy: facts?.strategy,
        positionSide: facts?.positionSide,
        onlyReduces: facts?.onlyReduces,
      });
      return {
        fill,
        facts,
        quote: currencies.quote,
        amount: booked.amount,
        notional: parseDecimal(fill.notional),
        fee: parseDecimal(fill.fee),
        feeInQuote: isValued(fill, currencies) ? booked.gross.minus(booked.realised) : null,
        closed: booked.closed,
        unmatched: booked.unmatched,
        profit: booked.gross,
        net: booked.realised,
        slippage: slippageOf(fill, facts),
      };
    },
  };
}

function isValued({ feeAsset, fee }: Fill, { base, quote }: Currencies): boolean {
  return feeAsset === base || feeAsset === quote || parseDecimal(fee).eq(zero);
}

function slippageOf({ role, side, amount, price }: Fill, facts: SignalFacts | null): Slippage | null {
  const reference = facts?.referencePrice ?? null;
  if (role !== 'order' || reference === null) return null;
  const worse = side === 'buy' ? parseDecimal(price).minus(reference) : reference.minus(parseDecimal(price));
  const units = parseDecimal(amount);
  return { money: worse.times(units), referenceNotional: reference.times(units) };
}
