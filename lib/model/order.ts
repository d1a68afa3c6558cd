import * as z from 'zod';
import type { Decimal } from '../base/decimal.ts';

export const sides = ['buy', 'sell'] as const;
export type Side = (typeof sides)[number];

/** On which side of the last price a stop price lies: above it the order wakes on a rise, below it on a fall. */
export type TriggerSide = 'above' | 'below';

export const positionSides = ['LONG', 'SHORT', 'BOTH'] as const;
export type PositionSide = (typeof positionSides)[number];

/** A decimal as a value, not as text. */
export const DecimalValue = z.custom<Decimal>(
  (value) => typeof value === 'object' && value !== null && 'toFixed' in value,
  'must be a decimal',
);

/** The first fields of every order. */
const placement = {
  market: z.string(),
  side: z.enum(sides),
  /** In base units. */
  amount: DecimalValue,
};

/** The last fields of every order. */
const attachments = {
  stopLoss: DecimalValue.optional(),
  takeProfit: DecimalValue.optional(),
  positionSide: z.enum(positionSides).optional(),
  clientOrderId: z.string(),
};

/**
 * The fields of each kind of order. Requests, the validation of the paper exchange and its journal all derive
 * from this definition. Prices are in the quote currency. The fields are in the order in which the exchange
 * reports errors in them.
 */
export const orderSchemas = {
  /** Waits for the trigger price, then rests as a limit order; its fill places stop-loss and take-profit. */
  stop_limit: z.strictObject({
    ...placement,
    price: DecimalValue,
    activationPrice: DecimalValue,
    ...attachments,
  }),
  /** Fills at its price or better, at once or after resting; its fill places stop-loss and take-profit. */
  limit: z.strictObject({ ...placement, price: DecimalValue, ...attachments }),
};

export type OrderKindName = keyof typeof orderSchemas;
export const orderKindNames = Object.keys(orderSchemas) as OrderKindName[];

/** The request for an order of these kinds, sized and rounded to its market. */
export type RequestOf<Name extends OrderKindName> = {
  [Kind in Name]: Readonly<{ kind: Kind } & z.output<(typeof orderSchemas)[Kind]>>;
}[Name];

export type OrderRequest = RequestOf<OrderKindName>;

const orderStatuses = ['open', 'partially_filled', 'filled', 'cancelled'] as const;
export type OrderStatus = (typeof orderStatuses)[number];

/** The statuses that can follow each status; `filled` and `cancelled` are final. */
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
  /** `stop_limit` or `limit`; any other type is kept as the exchange writes it. */
  readonly type: string;
  readonly status: OrderStatus;
  /** Why it ended, in the exchange's own word, if that says more than "cancelled". */
  readonly endReason?: string | undefined;
  readonly createdAtMs: number;
  readonly updatedAtMs?: number | undefined;
  readonly amount: Decimal;
  readonly remaining: Decimal;
  readonly price: Decimal;
  readonly filledNotional: Decimal;
  readonly filled: Decimal;
  readonly fee: Decimal;
  readonly activationPrice?: Decimal | undefined;
  readonly activationCondition?: string | undefined;
  readonly activated?: boolean | undefined;
  readonly postOnly?: boolean | undefined;
  /** Immediate-or-cancel: what does not fill at once is cancelled. */
  readonly ioc?: boolean | undefined;
  /** Retail price improvement. */
  readonly rpi?: boolean | undefined;
  readonly positionSide?: string | undefined;
  readonly stp?: string | undefined;
  readonly takerFeeRate?: Decimal | undefined;
  readonly makerFeeRate?: Decimal | undefined;
  /** The stop-loss and take-profit that will be placed when the order fills. */
  readonly oto?: PlannedPrices | undefined;
}

/** The prices of the stop-loss and take-profit that an order carries until it fills. */
export interface PlannedPrices {
  readonly otoId: number;
  readonly stopLoss?: Decimal | undefined;
  readonly takeProfit?: Decimal | undefined;
}

/**
 * A pair of orders where the fill of one cancels the other, or an order whose stop-loss and take-profit are
 * not placed yet.
 */
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
