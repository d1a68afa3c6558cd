import type { Decimal } from '../base/decimal.ts';

export const sides = ['buy', 'sell'] as const;
export type Side = (typeof sides)[number];

export const positionSides = ['LONG', 'SHORT', 'BOTH'] as const;
export type PositionSide = (typeof positionSides)[number];

/** An order as asked for, sized and rounded to its market. A new kind of order is a new variant here. */
export type OrderRequest = StopLimitRequest;

/** Waits for the activation price, then rests as a limit order; exits are placed when it fills. */
export interface StopLimitRequest {
  readonly kind: 'stop_limit';
  readonly market: string;
  readonly side: Side;
  /** In stock units. */
  readonly amount: Decimal;
  /** The limit price, in money. */
  readonly price: Decimal;
  readonly activationPrice: Decimal;
  readonly stopLoss?: Decimal;
  readonly takeProfit?: Decimal;
  readonly positionSide?: PositionSide;
  readonly clientOrderId: string;
}

export const orderStatuses = ['open', 'partially_filled', 'filled', 'cancelled'] as const;
export type OrderStatus = (typeof orderStatuses)[number];

/** From each status, where an order can go; the last two are ends. */
export const orderTransitions: Readonly<Record<OrderStatus, readonly OrderStatus[]>> = {
  open: ['partially_filled', 'filled', 'cancelled'],
  partially_filled: ['partially_filled', 'filled', 'cancelled'],
  filled: [],
  cancelled: [],
};

export function isOrderEnd(status: OrderStatus): boolean {
  return orderTransitions[status].length === 0;
}

/** An order as the exchange reports it. */
export interface Order {
  readonly orderId: number;
  /** Empty when the order carries none. */
  readonly clientOrderId: string;
  readonly market: string;
  readonly side: Side;
  /** `stop_limit` or `limit`; any other word of the exchange is kept as it came. */
  readonly type: string;
  readonly status: OrderStatus;
  /** Why it ended, in the exchange's own word, where that is more than "cancelled". */
  readonly endReason?: string | undefined;
  readonly createdAtMs: number;
  readonly updatedAtMs?: number | undefined;
  readonly amount: Decimal;
  readonly left: Decimal;
  readonly price: Decimal;
  readonly dealMoney: Decimal;
  readonly dealStock: Decimal;
  readonly dealFee: Decimal;
  readonly activationPrice?: Decimal | undefined;
  readonly activationCondition?: string | undefined;
  readonly activated?: boolean | undefined;
  readonly postOnly?: boolean | undefined;
  readonly positionSide?: string | undefined;
  readonly stp?: string | undefined;
  readonly takerFeeRate?: Decimal | undefined;
  readonly makerFeeRate?: Decimal | undefined;
  /** Exits that will be placed when the order fills. */
  readonly oto?: OtoExits | undefined;
}

/** Exits that an order carries until it fills. */
export interface OtoExits {
  readonly otoId: number;
  readonly stopLoss?: Decimal | undefined;
  readonly takeProfit?: Decimal | undefined;
}

/** A pair of orders where one's execution ends the other, or an order with exits still to be placed. */
export type ConditionalOrder = OcoOrder | OtoOrder;

export interface OcoOrder {
  readonly kind: 'oco';
  readonly id: number;
  readonly stopLoss: Order;
  readonly takeProfit: Order;
}

export interface OtoOrder {
  readonly kind: 'oto';
  readonly id: number;
  readonly stopLossPrice: Decimal | null;
  readonly takeProfitPrice: Decimal | null;
  readonly primary: Order;
}
