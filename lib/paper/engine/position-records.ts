import type { Decimal } from '../../base/decimal.ts';
import type { PositionSide } from '../../model/order.ts';

/** Base units that were bought or sold, and the sum of their prices. */
export interface Turnover {
  readonly amount: Decimal;
  readonly notional: Decimal;
}

/** An open position on a margin pair or a perpetual. */
export interface Position {
  readonly positionId: number;
  readonly market: string;
  readonly side: PositionSide;
  readonly openedAtMs: number;
  modifiedAtMs: number;
  /** In base units: long above zero, short below; never zero. */
  amount: Decimal;
  /** The average price at which the open amount was entered. */
  basePrice: Decimal;
  /** The profit of the parts that are closed already, in quote units; fees are not deducted. */
  realizedPnl: Decimal;
  /** In quote units. */
  fees: Decimal;
  /** All that ever enlarged it. */
  entered: Turnover;
  /** All that ever reduced it. */
  exited: Turnover;
}

/** A position that was closed. */
export interface EndedPosition {
  readonly positionId: number;
  readonly account: string;
  readonly market: string;
  readonly side: PositionSide;
  readonly isHedged: boolean;
  readonly entered: Turnover;
  readonly exited: Turnover;
  /** In quote units; fees are not deducted. */
  readonly realizedPnl: Decimal;
  readonly fees: Decimal;
  readonly openedAtMs: number;
  readonly closedAtMs: number;
}

/** One change of a position by one fill. A fill that flips a position makes two events. */
export interface PositionEvent {
  readonly positionId: number;
  readonly account: string;
  readonly market: string;
  readonly side: PositionSide;
  readonly isHedged: boolean;
  readonly openedAtMs: number;
  readonly atMs: number;
  /** The signed amount and the base price after the change; zero once the position is closed. */
  readonly amount: Decimal;
  readonly basePrice: Decimal;
  readonly orderId: number;
  readonly tradeAmount: Decimal;
  readonly tradePrice: Decimal;
  readonly tradeFee: Decimal;
  /** The profit of the closed part, less the fee. */
  readonly realizedPnl: Decimal;
}
