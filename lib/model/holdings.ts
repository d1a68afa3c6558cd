import { type Decimal, zero } from '../base/decimal.ts';
import { type HedgeSide, type OtherWord, oppositeOf, type PositionSide, type Side } from './order.ts';

/** What an account holds of one currency for spot trading. */
export interface SpotBalance {
  readonly available: Decimal;
  /** Held by open orders. */
  readonly freeze: Decimal;
}

/** The collateral account as a whole, in USDT. */
export interface CollateralSummary {
  readonly equity: Decimal;
  /** What open positions and orders use. */
  readonly margin: Decimal;
  /** What is left for new positions. */
  readonly freeMargin: Decimal;
  readonly pnl: Decimal;
  /** The leverage of the account. A market may allow less. */
  readonly leverage: number;
  /** What is left for positions on perpetual markets, if the exchange says so. */
  readonly futuresFreeMargin?: Decimal | undefined;
}

/** An open position on the collateral account. */
export interface OpenPosition {
  readonly positionId: number;
  readonly market: string;
  /** In base units: above zero for a long position, below zero for a short one. Never zero. */
  readonly amount: Decimal;
  /** The average entry price in the quote currency; null when the exchange does not say it. */
  readonly basePrice: Decimal | null;
  /** `BOTH` in one-way mode. */
  readonly positionSide: PositionSide;
  /** The profit of the parts that were closed, in the quote currency; null when the exchange does not say it. */
  readonly realisedProfit: Decimal | null;
  /** The profit of the open amount at the current price, in the quote currency; null when the exchange does not say it. */
  readonly floatingProfit: Decimal | null;
  /** What the position holds of the collateral; null when the exchange does not say it. */
  readonly margin: Decimal | null;
  /** Null when the exchange states none, as for a position that its collateral covers at any price. */
  readonly liquidationPrice: Decimal | null;
  /** `margin_call`, `liquidation`, or another word of the exchange; null while the position is in no danger. */
  readonly liquidationState: string | null;
  readonly openedAtMs: number | null;
  /** When the amount last changed, in the exchange's time. */
  readonly modifiedAtMs: number | null;
  /** The stop-loss and take-profit that are attached to it; null when the exchange shows none. */
  readonly tpsl: AttachedExits | null;
}

/** Where a position is: its market and, in hedge mode, its side. */
export interface PositionPlace {
  readonly market: string;
  /** Null in one-way mode. */
  readonly side: HedgeSide | null;
}

/** The place of the position that a signal, an order or a record is about. */
export function placeOf({
  market,
  positionSide,
}: {
  readonly market: string;
  readonly positionSide?: PositionSide | undefined;
}): PositionPlace {
  return { market, side: positionSide === 'LONG' || positionSide === 'SHORT' ? positionSide : null };
}

/** The position of a place; undefined without one. */
export function positionAt(
  positions: readonly OpenPosition[],
  { market, side }: PositionPlace,
): OpenPosition | undefined {
  return positions.find(
    (position) => position.market === market && position.positionSide === (side ?? 'BOTH'),
  );
}

/** The side of the orders that open a position of this amount: above zero for a long one. */
export function openingSideOf(amount: Decimal): Side {
  return amount.gt(zero) ? 'buy' : 'sell';
}

/** The side of the orders that close it. */
export function closingSideOf(amount: Decimal): Side {
  return oppositeOf(openingSideOf(amount));
}

/** How much is open in a market of what orders of the side have opened, in base units, of both positions of hedge mode. */
export function openedBy(positions: readonly OpenPosition[], market: string, side: Side): Decimal {
  return positions
    .filter((position) => position.market === market && openingSideOf(position.amount) === side)
    .reduce((sum, { amount }) => sum.plus(amount.abs()), zero);
}

/**
 * The orders that protect a position, by their ids. Whether the exits of an entry are among them is not documented. A
 * field is null when there is no such exit, or it cannot be read.
 */
export interface AttachedExits {
  readonly stopLossId: number | null;
  readonly stopLoss: Decimal | null;
  readonly takeProfitId: number | null;
  readonly takeProfit: Decimal | null;
}

/** One fill of an order. */
export interface Deal {
  readonly id: number;
  readonly atMs: number;
  readonly side: Side;
  /** A role that the relay does not know is what the exchange writes. */
  readonly role: 'maker' | 'taker' | OtherWord;
  /** In base units. */
  readonly amount: Decimal;
  readonly price: Decimal;
  /** Amount times price, in the quote currency. */
  readonly notional: Decimal;
  /** In `feeAsset`. */
  readonly fee: Decimal;
  /** Absent in records of earlier years, whose fee is in the quote currency. */
  readonly feeAsset?: string | undefined;
  readonly orderId?: number | undefined;
  /** Only in lists of all markets. */
  readonly market?: string;
  /** Empty when the order carries none; absent in records of earlier years. */
  readonly clientOrderId?: string | undefined;
}
