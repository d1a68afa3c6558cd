import type { Decimal } from '../base/decimal.ts';

/** A word of the exchange that this relay does not know, beside those that it knows. It is kept as it is, and bounded. */
export type OtherWord = string & Readonly<Record<never, never>>;

export const sides = ['buy', 'sell'] as const;
export type Side = (typeof sides)[number];

/** On which side of the last price a stop price lies: above it the order wakes on a rise, below it on a fall. */
export type TriggerSide = 'above' | 'below';

/** The usual trigger side: a stop order follows a move of the price. */
export const usualTriggerSides: Readonly<Record<Side, TriggerSide>> = { buy: 'above', sell: 'below' };

/** The exchange's words for the side of its last price on which it saw the trigger price. */
const sidesByCondition: ReadonlyMap<string, TriggerSide> = new Map([
  ['gte', 'above'],
  ['lte', 'below'],
]);

/** Null where the exchange does not say it, or in a word that nobody knows. */
export function triggerSideOf({ activationCondition = '' }: Conditional): TriggerSide | null {
  return sidesByCondition.get(activationCondition) ?? null;
}

/** Whether the exchange says that an order waits for the other move than usual: the price had passed it when it arrived. */
export function hasOtherTrigger(order: Conditional & { readonly side: Side }): boolean {
  const side = triggerSideOf(order);
  return side !== null && side !== usualTriggerSides[order.side];
}

/**
 * Whether an order waits for the move of the price by which what it closes loses. A condition in a word that nobody knows waits
 * for neither; where the exchange tells none, it is the usual one.
 */
export function stopsLoss({ side, activationPrice, activationCondition }: Stop): boolean {
  if (activationPrice === undefined) return false;
  return (
    activationCondition === undefined || triggerSideOf({ activationCondition }) === usualTriggerSides[side]
  );
}

type Stop = Pick<Order, 'side' | 'activationPrice' | 'activationCondition'>;

interface Conditional {
  readonly activationCondition?: string | undefined;
}

export function oppositeOf(side: Side): Side {
  return side === 'buy' ? 'sell' : 'buy';
}

export const positionSides = ['LONG', 'SHORT', 'BOTH'] as const;
export type PositionSide = (typeof positionSides)[number];
/** One of the two positions that a market has in hedge mode. */
export type HedgeSide = Exclude<PositionSide, 'BOTH'>;

/** Self-trade prevention, in the exchange's words: none, or cancel both, the new or the old order. */
export const stpModes = ['no', 'cb', 'cn', 'co'] as const;
export type StpMode = (typeof stpModes)[number];

/** The ways in which the exchange takes an order: each is one of its endpoints. */
export const orderTypes = [
  'stop_limit',
  'limit',
  'market',
  'stop_market',
  'spot_limit',
  'spot_market',
  'spot_stock_market',
  'spot_stop_limit',
  'spot_stop_market',
] as const;
export type OrderType = (typeof orderTypes)[number];

/** The kinds of orders that an alert can ask for. Where the market trades decides the order type. */
export const orderKindNames = ['stop_limit', 'limit', 'market', 'stop_market'] as const;
export type OrderKindName = (typeof orderKindNames)[number];

/** The kind of each order type. */
export const kindOfType: Readonly<Record<OrderType, OrderKindName>> = {
  stop_limit: 'stop_limit',
  limit: 'limit',
  market: 'market',
  stop_market: 'stop_market',
  spot_limit: 'limit',
  spot_market: 'market',
  spot_stock_market: 'market',
  spot_stop_limit: 'stop_limit',
  spot_stop_market: 'stop_market',
};

/** Whether orders of this type trade on the spot account. */
export function isSpotType(type: OrderType): boolean {
  return type.startsWith('spot_');
}

/** Whether the exchange takes and reports the amount of an order in quote units. */
export function isQuoteSized({ type, side }: { readonly type: OrderType; readonly side: Side }): boolean {
  return side === 'buy' && (type === 'spot_market' || type === 'spot_stop_market');
}

/**
 * The request for an order, sized and rounded to its market. Its type says which of the fields it has; the endpoint
 * refuses any other.
 */
export interface OrderRequest {
  readonly type: OrderType;
  readonly market: string;
  readonly side: Side;
  readonly amount: Decimal;
  readonly price?: Decimal | undefined;
  readonly activationPrice?: Decimal | undefined;
  readonly postOnly?: boolean | undefined;
  readonly ioc?: boolean | undefined;
  readonly stopLoss?: Decimal | undefined;
  readonly takeProfit?: Decimal | undefined;
  readonly positionSide?: PositionSide | undefined;
  readonly reduceOnly?: boolean | undefined;
  readonly stp?: StpMode | undefined;
  readonly clientOrderId: string;
}

/** Whether the order itself says that it only reduces: by its flag, or because it closes a side of hedge mode. */
export function isMarkedReducing({
  side,
  positionSide,
  reduceOnly,
}: {
  readonly side: Side;
  readonly positionSide?: string | undefined;
  readonly reduceOnly?: boolean | undefined;
}): boolean {
  return reduceOnly === true || positionSide === (side === 'sell' ? 'LONG' : 'SHORT');
}

/** A sized order, and what limits apply to. */
export interface SizedOrder {
  readonly order: OrderRequest;
  /** In base units, also when the order itself is sized in quote units. */
  readonly baseAmount: Decimal;
  /** What it is worth at most, in the quote currency. */
  readonly notional: Decimal;
  /** Of a spot buy: the trigger price of the stop-loss that the relay places when it has filled; absent without one. */
  readonly keptStop?: Decimal;
  /** The amount that was asked for, of a sale that was cut to what is available; absent: it was not cut. */
  readonly cutFrom?: Decimal;
}

export const orderStatuses = ['open', 'partially_filled', 'filled', 'cancelled'] as const;
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
  /** Its kind, if this relay knows it; any other type is kept as the exchange writes it. */
  readonly type: string;
  readonly status: OrderStatus;
  /** Why it ended, in the exchange's own word, if that says more than "cancelled". */
  readonly endReason?: string | undefined;
  /** The exchange's word for the status in a list, if this relay does not know it; `status` follows from the list. */
  readonly unknownStatus?: string | undefined;
  readonly createdAtMs: number;
  readonly updatedAtMs?: number | undefined;
  /** In base units; in quote units for an order that is sized in them. */
  readonly amount: Decimal;
  readonly remaining: Decimal;
  /** Zero for an order without a limit price. */
  readonly price: Decimal;
  readonly filledNotional: Decimal;
  readonly filled: Decimal;
  readonly fee: Decimal;
  /** The currency of the fee; absent where the response does not tell it. */
  readonly feeAsset?: string | undefined;
  readonly activationPrice?: Decimal | undefined;
  readonly activationCondition?: string | undefined;
  readonly activated?: boolean | undefined;
  readonly postOnly?: boolean | undefined;
  /** Immediate-or-cancel: what does not fill at once is cancelled. */
  readonly ioc?: boolean | undefined;
  /** Retail price improvement. */
  readonly rpi?: boolean | undefined;
  /** Absent for an order on the spot account. */
  readonly positionSide?: string | undefined;
  /** Present in a list, for an order on the spot account: it changes no position. */
  readonly onSpot?: true;
  readonly reduceOnly?: boolean | undefined;
  readonly stp?: string | undefined;
  readonly takerFeeRate?: Decimal | undefined;
  readonly makerFeeRate?: Decimal | undefined;
  /** The stop-loss and take-profit that will be placed when the order fills. */
  readonly oto?: PlannedPrices | undefined;
}

/** The price by which a stop-loss or take-profit is known: the trigger price of the one, the limit price of the other. */
export function exitPriceOf({ activationPrice, price }: Pick<Order, 'activationPrice' | 'price'>): Decimal {
  return activationPrice ?? price;
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
