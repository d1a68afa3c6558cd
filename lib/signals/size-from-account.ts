import {
  type Decimal,
  formatDecimal,
  maximum,
  minimum,
  one,
  parseDecimal,
  rateOfPercent,
  zero,
} from '../base/decimal.ts';
import type { Json } from '../base/json.ts';
import type { TradingGround } from '../model/account.ts';
import type { OpenPosition } from '../model/holdings.ts';
import type { Side } from '../model/order.ts';
import type { Denial } from '../model/outcome.ts';
import type { OrderSignal, OrderSize } from '../model/signal.ts';

/** What an order is sized on, as it was read from the exchange. */
export type Holding =
  /** Of a spot account: the quote currency for a buy, the base currency for a sell. */
  | {
      readonly of: 'spot';
      readonly currency: string;
      readonly available: Decimal;
      /** What open orders hold besides, as the same reading shows it; absent: it was not looked at. */
      readonly frozen?: Decimal;
      /** What of it the relay's own stop-losses hold; absent: nothing. */
      readonly ofStops?: Decimal;
      /** What of it a sale leaves to the buys of other strategies with a stop-loss; absent: nothing, or it was not looked at. */
      readonly ofOthers?: Decimal;
      /** What this relay has bought of what a sale closes, whose fees can be missing; absent: nothing was looked up. */
      readonly boughtBefore?: Decimal;
    }
  | FreeCollateral
  /** Empty without an open position. */
  | { readonly of: 'position'; readonly positions: readonly HeldPosition[] };

export interface FreeCollateral {
  readonly of: 'collateral';
  /** In the quote currency. */
  readonly free: Decimal;
  /** The account's leverage, or the market's maximum if that is lower. */
  readonly leverage: Decimal;
  /** The largest notional that the leverage holds for, in the quote currency; null: any. */
  readonly bracket: Decimal | null;
}

/** An open position, as far as its size concerns. */
export type HeldPosition = Pick<OpenPosition, 'amount' | 'positionSide'>;

/** What of a spot balance a sale does not leave to other strategies. */
export function besideOthers({
  available,
  ofOthers = zero,
}: Pick<Extract<Holding, { readonly of: 'spot' }>, 'available' | 'ofOthers'>): Decimal {
  return maximum(available.minus(ofOthers), zero);
}

/** A size that was computed from a holding, or the reason why there is none. */
export type AccountSize =
  | {
      readonly ok: true;
      /** In base units, or for `isQuote` in quote units; not rounded yet. */
      readonly asked: Decimal;
      readonly isQuote: boolean;
      /** The position that the order reduces; absent when it is sized on a balance. */
      readonly reduces?: HeldPosition;
    }
  | { readonly ok: false; readonly denial: Denial };

type PercentSize = Extract<OrderSize, { readonly unit: 'percent' }>;

/** What a size that is a share of a holding needs to be read; null for any other size. */
export function holdingToRead({ size }: OrderSignal, tradesOn: TradingGround): Holding['of'] | null {
  if (size.unit !== 'percent') return null;
  if (size.of === 'position') return 'position';
  return tradesOn === 'spot' ? 'spot' : 'collateral';
}

/**
 * The size that is a share of a holding.
 *
 * @param unitPrice what one base unit costs, in the quote currency
 * @param takerFeeRate as a rate
 */
export function sizeFromAccount(
  signal: OrderSignal & { readonly size: PercentSize },
  holding: Holding,
  { unitPrice, takerFeeRate }: { readonly unitPrice: Decimal; readonly takerFeeRate: Decimal },
): AccountSize {
  const rate = rateOfPercent(signal.size.quantityPercent);
  switch (holding.of) {
    case 'spot':
      return { ok: true, asked: besideOthers(holding).times(rate), isQuote: signal.side === 'buy' };
    case 'collateral':
      return { ok: true, asked: notionalFor(holding, rate, takerFeeRate).div(unitPrice), isQuote: false };
    case 'position':
      return shareOfPosition(signal, holding.positions, rate);
  }
}

const leverageBeyondBracket = parseDecimal('10');

/**
 * The notional that a share of the free collateral pays for: its margin and the taker fee. Up to the bracket the margin
 * is the notional divided by the leverage; the rest has a leverage of 10.
 *
 * @see docs/alert-reference.md, sizes
 */
function notionalFor({ free, leverage, bracket }: FreeCollateral, rate: Decimal, feeRate: Decimal): Decimal {
  if (free.lte(zero)) return zero;
  const budget = free.times(rate);
  const costRate = one.div(leverage).plus(feeRate);
  const notional = budget.div(costRate);
  if (bracket === null || notional.lte(bracket)) return notional;
  const rest = budget.minus(bracket.times(costRate));
  return bracket.plus(rest.div(one.div(minimum(leverage, leverageBeyondBracket)).plus(feeRate)));
}

/** A share of the position that the order reduces: a sell a long one, a buy a short one. */
function shareOfPosition(
  { side, positionSide, market }: OrderSignal,
  positions: readonly HeldPosition[],
  rate: Decimal,
): AccountSize {
  const named = positions.filter(
    (position) =>
      positionSide === undefined || positionSide === 'BOTH' || position.positionSide === positionSide,
  );
  const reduced = named.filter(({ amount }) => isReducedBy(side, amount));
  const [position] = reduced;
  if (position !== undefined && reduced.length === 1)
    return { ok: true, asked: position.amount.abs().times(rate), isQuote: false, reduces: position };
  const actual = named.map(({ amount }) => formatDecimal(amount)).join(' and ') || 'none';
  const held =
    actual === 'none' ? `${market} has no open position` : `the open position in ${market} is ${actual}`;
  const limit = `a ${side === 'sell' ? 'long' : 'short'} position`;
  return {
    ok: false,
    denial: {
      rule: 'no_position',
      limit,
      actual,
      message: `the size is a share of the position, a ${side} reduces ${limit}, and ${held}; nothing was sent`,
    },
  };
}

function isReducedBy(side: Side, amount: Decimal): boolean {
  return side === 'sell' ? amount.gt(zero) : amount.lt(zero);
}

/** The holding as the ledger stores it. */
export function describeHolding(holding: Holding): Json {
  switch (holding.of) {
    case 'spot':
      return {
        of: 'spot',
        currency: holding.currency,
        available: formatDecimal(holding.available),
        ...(holding.ofStops === undefined ? {} : { heldByStops: formatDecimal(holding.ofStops) }),
        ...(holding.ofOthers === undefined ? {} : { leftToOthers: formatDecimal(holding.ofOthers) }),
      };
    case 'collateral':
      return {
        of: 'collateral',
        free: formatDecimal(holding.free),
        leverage: formatDecimal(holding.leverage),
        bracket: holding.bracket === null ? null : formatDecimal(holding.bracket),
      };
    case 'position':
      return {
        of: 'position',
        positions: holding.positions.map(({ amount, positionSide }) => ({
          amount: formatDecimal(amount),
          positionSide,
        })),
      };
  }
}
