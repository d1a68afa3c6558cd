import { formatDecimal } from '../base/decimal.ts';
import type { HedgeSide, Order, OrderStatus, PositionSide, Side, TriggerSide } from './order.ts';
import type { DecimalText, OrderSize, PercentText } from './signal.ts';

/**
 * What a step says of the order of its signal, or of the orders that it cancelled. Unlike the evidence of a step, which
 * explains it to people and may be shortened, these facts are typed, kept whole, and decide. Plain JSON.
 *
 * @see DECISIONS 163
 */
export interface StepFacts {
  /** The position that the order was planned on; of a signal that found it as wanted, that position. */
  readonly position?: PositionFact;
  /** The order that a position signal led to. */
  readonly positionOrder?: PositionOrder;
  /** The order that a signal led to which keeps the protection of a position. */
  readonly protective?: ProtectiveOrder;
  /** What a signal asked to protect a position with. */
  readonly wish?: PositionWish;
  /** Of a guarded market order that closes or reduces a position: the price beyond which it cannot fill. */
  readonly bound?: DecimalText;
  /** The amount that was sent, in base units. */
  readonly amount?: DecimalText;
  /** The prices of the exits that were sent with the order; of an order on spot, of those that the relay will place. */
  readonly exits?: ExitPrices;
  /** Of an order on spot. */
  readonly spot?: SpotFact;
  /** How the limits of the account counted the order; absent when it has none. */
  readonly counted?: CountedFact;
  /** The order as the exchange reported it when it was placed or found. */
  readonly report?: OrderReport;
  /**
   * The order as reported when what rested of it was cancelled; null when the exchange said that nothing rested any more.
   * Absent: nothing had to be cancelled.
   */
  readonly ended?: OrderReport | null;
  /** An order that its fills alone have proved. */
  readonly proved?: { readonly orderId: number; readonly filled: DecimalText };
  /** The code with which the exchange refused the request. */
  readonly refusedCode?: number;
  /** Of a cancellation, and of a close that cancelled resting entries first: the ids of the signals that placed the orders. */
  readonly placedBy?: readonly string[];
  /** Of these: the orders that the exchange reported as ended, and how much of each was filled. */
  readonly cancelled?: readonly CancelledOrder[];
  /** The ids of the exits that the relay itself cancelled, because others took their place or nothing was left to protect. */
  readonly replaced?: readonly number[];
  /** Of a cancellation of a whole market: whether it was cut down to the orders of the relay, so that what protects stays. */
  readonly keepsProtection?: true;
  /** Of these: whether an order was not open any more. It may have been filled. */
  readonly wasGone?: boolean;
  /** Of an order on spot: what its stop-losses were found to have sold before it, by their ids, in base units. */
  readonly stopsSold?: Readonly<Record<string, DecimalText>>;
  /** Of an order that keeps a position protected and was not placed: the relay tries again, and alarms tell what stays so. */
  readonly isTriedAgain?: true;
  /** Of a refused alert: the beginning of its ticker; absent when it could not be read. */
  readonly ticker?: string;
  /** Of a close: the ids of the signals whose exits have ended with the position. */
  readonly exitsEndedFor?: readonly string[];
  /** Of an order that leaves a part of a position which should be flat afterwards: one clause that tells it. */
  readonly leaves?: string;
  /** Of an order that was to close all of a position and filled in part: what it did not close, in base units. */
  readonly rest?: DecimalText;
  /**
   * Of a close: the position of the other side that another order has opened after it, signed, in base units; null when no list
   * showed it in time. Absent: none was found.
   */
  readonly turned?: DecimalText | null;
}

export const triedAgain = { isTriedAgain: true } as const;

/** What an alert asked to protect a position with, in prices. What it does not name stays as it was. */
export interface PositionWish {
  readonly signalId: string;
  readonly market: string;
  /** Of an account in hedge mode. */
  readonly side?: HedgeSide;
  readonly strategy?: string;
  readonly atMs: number;
  /** The position at that time, signed, in base units. */
  readonly amount: DecimalText;
  /** When that position was opened, on the exchange's clock; absent: the exchange did not say it. */
  readonly openedAtMs?: number;
  readonly stopLoss?: DecimalText;
  readonly takeProfits?: readonly { readonly price: DecimalText; readonly share: PercentText }[];
  readonly trailing?: PercentText;
  /** The last price at that time, from which on a trailing stop-loss follows; absent without one. */
  readonly from?: DecimalText;
}

/** What the rest of an order on spot is counted by. */
export interface SpotFact {
  /** The smallest difference between two amounts, in base units. */
  readonly amountStep: DecimalText;
  /** Less than this cannot be sold at its stop-loss, in base units. */
  readonly least: DecimalText;
  /** Present if the exchange takes and reports its amount in the quote currency. */
  readonly isQuoteSized?: true;
}

export interface PositionFact {
  /** Signed, in base units. */
  readonly amount: DecimalText;
  /** Of an account in hedge mode. */
  readonly side?: HedgeSide;
  /** The ids of the exits that the list of positions showed beside it; absent without any. */
  readonly attached?: readonly number[];
}

/** The order of a position signal. */
export interface PositionOrder {
  readonly side: Side;
  readonly size: OrderSize;
  readonly reduceOnly: boolean;
  /** Of an account in hedge mode. */
  readonly positionSide?: PositionSide;
}

/** An order that only reduces a position: a stop-loss, a take-profit, or what stands in for a stop-loss that did not fill. */
export type ProtectiveOrder = ProtectivePrices & {
  readonly side: Side;
  /** In base units. */
  readonly amount: DecimalText;
  /** What it is to protect, where the amount is that rounded, in base units. */
  readonly exact?: DecimalText;
  /** Of one of several take-profits: what of its share it stands for, before the sales of others, in base units. */
  readonly ofShare?: DecimalText;
  /** Of an account in hedge mode. */
  readonly positionSide?: PositionSide;
};

/** The kind of such an order, and its prices. */
export type ProtectivePrices =
  | {
      readonly orderType: 'stop_limit';
      readonly stopPrice: DecimalText;
      readonly limitPrice: DecimalText;
      readonly expectTrigger: TriggerSide;
    }
  | {
      readonly orderType: 'stop_market';
      readonly stopPrice: DecimalText;
      readonly expectTrigger: TriggerSide;
    }
  | { readonly orderType: 'limit'; readonly limitPrice: DecimalText }
  | { readonly orderType: 'market' };

/** The trigger price of a stop-loss and the limit price of a take-profit, in plain notation; absent without one. */
export interface ExitPrices {
  readonly stopLoss?: DecimalText;
  readonly takeProfit?: DecimalText;
}

export interface CountedFact {
  readonly side: Side;
  /** In base units. */
  readonly amount: DecimalText;
  /** In USDT; null when it was not known. */
  readonly notional: DecimalText | null;
  readonly onlyReduces: boolean;
}

export interface CancelledOrder {
  readonly orderId: number;
  /** In the unit of the order. */
  readonly filled: DecimalText;
}

/** An order as a response or a list of the exchange reported it. */
export interface OrderReport {
  readonly orderId: number;
  readonly side: Side;
  readonly status: OrderStatus;
  /** In the unit of the order. */
  readonly amount: DecimalText;
  readonly filled: DecimalText;
  /** In the quote currency. */
  readonly filledNotional?: DecimalText;
  /** Of the fills. Where no asset is told, that of a buy on spot is in the base currency, every other one in the quote currency. */
  readonly fee?: DecimalText;
  readonly feeAsset?: string;
  /** Null when the report does not say it. */
  readonly createdAtMs: number | null;
  /** Null when the report does not say it. */
  readonly endedAtMs: number | null;
  readonly activationCondition?: string;
  readonly exits?: ExitPrices;
}

type Reportable = Pick<Order, 'orderId' | 'side' | 'status' | 'amount' | 'filled'> &
  Partial<
    Pick<Order, 'createdAtMs' | 'activationCondition' | 'oto' | 'filledNotional' | 'fee' | 'feeAsset'>
  > & {
    readonly endedAtMs?: number | null;
  };

export function reportOf(order: Reportable): OrderReport {
  const { orderId, side, status, activationCondition, oto, filledNotional, fee, feeAsset } = order;
  return {
    orderId,
    side,
    status,
    amount: formatDecimal(order.amount),
    filled: formatDecimal(order.filled),
    ...(filledNotional === undefined ? {} : { filledNotional: formatDecimal(filledNotional) }),
    ...(fee === undefined ? {} : { fee: formatDecimal(fee) }),
    ...(feeAsset === undefined ? {} : { feeAsset }),
    createdAtMs: order.createdAtMs ?? null,
    endedAtMs: order.endedAtMs ?? null,
    ...(activationCondition === undefined ? {} : { activationCondition }),
    ...(oto === undefined ? {} : { exits: exitPricesOf(oto) }),
  };
}

export function cancelledOf({ orderId, filled }: Pick<Order, 'orderId' | 'filled'>): CancelledOrder {
  return { orderId, filled: formatDecimal(filled) };
}

/** The prices of an order's exits. */
export function exitPricesOf({
  stopLoss,
  takeProfit,
}: Partial<Pick<NonNullable<Order['oto']>, 'stopLoss' | 'takeProfit'>>): ExitPrices {
  return {
    ...(stopLoss === undefined ? {} : { stopLoss: formatDecimal(stopLoss) }),
    ...(takeProfit === undefined ? {} : { takeProfit: formatDecimal(takeProfit) }),
  };
}
