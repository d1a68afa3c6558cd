import { parseDecimal, zero } from '../base/decimal.ts';
import {
  type HedgeSide,
  isOrderEnd,
  type OrderStatus,
  type OtherWord,
  type PositionSide,
  type Side,
} from './order.ts';
import type { DecimalText, ExitRole } from './signal.ts';

/**
 * The part that an order plays for its signal: the order that the signal asked for, or the stop-loss or take-profit that
 * the exchange made from it.
 */
export const orderRoles = ['order', 'stop_loss', 'take_profit'] as const;
export type OrderRole = (typeof orderRoles)[number];

/** `other`: a deal of the account that belongs to no signal, such as one by hand, or a liquidation. */
export type FillRole = OrderRole | 'other';

/** One fill of an order of the account, as the exchange reported it. Plain JSON, so that every store keeps it in the same form. */
export interface Fill {
  readonly account: string;
  readonly market: string;
  /** The exchange's id of the deal. When two orders of one account fill each other, both fills have it. */
  readonly dealId: number;
  readonly atMs: number;
  /** Empty for a deal of no signal. */
  readonly signalId: string;
  readonly orderId: number;
  readonly role: FillRole;
  readonly side: Side;
  /** The position of hedge mode that it changed; absent in one-way mode. */
  readonly positionSide?: HedgeSide;
  /** Present if the order was marked so that it only reduces a position. */
  readonly onlyReduces?: true;
  /**
   * Whether its order was on the spot account, where it changes no position. Absent where nothing has told it, and in what an
   * older release has stored of a signal: then the configuration decides.
   */
  readonly onSpot?: boolean;
  /** Of its signal, for a fill on spot, where each strategy sells what it has bought itself. An older release stored none. */
  readonly strategy?: string;
  /** Present of a buy on spot without a stop-loss: any strategy may sell what it bought. An older release stored none. */
  readonly isUnguarded?: true;
  /** Whether the order added liquidity to the book or took it; or what the exchange says, if the relay does not know it. */
  readonly liquidity: 'maker' | 'taker' | OtherWord;
  /** In base units. */
  readonly amount: DecimalText;
  readonly price: DecimalText;
  /** Amount times price, in the quote currency. */
  readonly notional: DecimalText;
  /** In units of `feeAsset`. */
  readonly fee: DecimalText;
  readonly feeAsset: string;
}

/** Whether a fill is that of an order of a signal, or of an exit made from one. */
export function isOfSignal({ role }: Pick<Fill, 'role'>): boolean {
  return role !== 'other';
}

/** Whether a fill is that of a stop-loss or take-profit that the exchange made. */
export function isOfExit({ role }: Pick<Fill, 'role'>): boolean {
  return role === 'stop_loss' || role === 'take_profit';
}

/** What the order of a signal says of the position that its fills change. */
export function positionMarksOf({
  positionSide,
  reduceOnly,
}: {
  readonly positionSide?: PositionSide | undefined;
  readonly reduceOnly?: boolean | undefined;
}): Pick<Fill, 'positionSide' | 'onlyReduces'> {
  return {
    ...(positionSide === 'LONG' || positionSide === 'SHORT' ? { positionSide } : {}),
    ...(reduceOnly === true ? { onlyReduces: true } : {}),
  };
}

/** What tells a fill from every other one of its account. A deal between two orders of one account is a fill of each. */
export function fillNameOf({ market, dealId, orderId }: Pick<Fill, 'market' | 'dealId' | 'orderId'>): string {
  return `${market} ${dealId} ${orderId}`;
}

/**
 * How an order stands: as the exchange says; or `gone`, when it is not open and no list says how it ended. The exchange
 * lists no cancelled orders for partners' accounts.
 */
export type FollowedStatus = OrderStatus | 'gone';

/** What became of one order of a signal, as far as the exchange said. */
export interface OrderExecution {
  readonly role: OrderRole;
  readonly orderId: number;
  readonly status: FollowedStatus;
  /** Why it ended, in the exchange's own word, if that says more than the status. */
  readonly endReason?: string;
  /** Null until it has ended, and when nobody knows when it did. */
  readonly endedAtMs: number | null;
  /** Of an order that is open, or ended without being filled: when it last filled, as far as is known, on the exchange's clock. */
  readonly filledAtMs?: number;
  /** In base units; of the fills that are stored. */
  readonly filled: DecimalText;
  /** In the quote currency. */
  readonly filledNotional: DecimalText;
  /** The fees paid so far, by asset. */
  readonly fees: Readonly<Record<string, DecimalText>>;
  /** The trigger price of a stop-loss, or the limit price of a take-profit. */
  readonly price?: DecimalText;
  /** In base units. Present for an exit that may be for a part of its order alone, of which there can be several. */
  readonly amount?: DecimalText;
}

/** Amounts in base units, by id of the signal of a buy. */
export type SoldOf = Readonly<Record<string, DecimalText>>;

/** What became of the orders of a signal after it was placed. */
export interface Execution {
  /** Grows by one with each change, so that of two writers only one succeeds. */
  readonly revision: number;
  /** When the exchange was last read and something had changed. */
  readonly readAtMs: number;
  /** The signal's own order first. */
  readonly orders: readonly OrderExecution[];
  /**
   * Whether more can become of them: one of them is open, fills of one are not all known, or a position stands whose exits
   * have not been seen.
   */
  readonly isFollowed: boolean;
  /** Since when a filled entry was seen without its stop-loss; absent while it has one, or needs none. */
  readonly unprotectedSinceMs?: number;
  /** When the alarm was last raised that a filled entry has no stop-loss; absent: never. */
  readonly unprotectedAtMs?: number;
  /** Present if a close has ended its exits with the position: it needs none any more. */
  readonly exitsEnded?: true;
  /**
   * Of a spot sale: what it sold of each buy with a stop-loss that is not followed any more, or was still open when the sale
   * ended, by id of the signal of the buy, in base units. It counts against no other buy. Of a stop-loss on spot only where it
   * sold of other buys than its own. Absent: nothing.
   */
  readonly soldOf?: SoldOf;
  /** Absent: none was seen. */
  readonly attached?: AttachedOrders;
}

/** Exits that the exchange made of an order, and that the list of positions alone has shown: they may outlive the position. */
export interface AttachedOrders {
  /** Those that may stand. */
  readonly exits: readonly AttachedOrder[];
  /** Of which kinds one was ever seen. */
  readonly seen: readonly ExitRole[];
}

export interface AttachedOrder {
  readonly role: ExitRole;
  readonly orderId: number;
  /** When the position was opened beside which it was seen first, on the exchange's clock; null when it does not say. */
  readonly openedAtMs: number | null;
}

/** The order that plays a part for its signal; null when nothing is known of it. */
export function orderOf(execution: Pick<Execution, 'orders'> | null, role: OrderRole): OrderExecution | null {
  return execution?.orders.find((order) => order.role === role) ?? null;
}

/** Whether an order has a fill. Its status tells of one before the fills are listed, which alone count as filled. */
export function hasFilled({ status, filled }: Pick<OrderExecution, 'status' | 'filled'>): boolean {
  return status === 'filled' || status === 'partially_filled' || parseDecimal(filled).gt(zero);
}

/** Whether more can become of an order. */
export function isStillOpen(status: FollowedStatus): boolean {
  return status !== 'gone' && !isOrderEnd(status);
}

/** Whether an order may be open: null, nobody has seen yet what became of it. */
export function mayStillBeOpen(status: FollowedStatus | null): boolean {
  return status === null || isStillOpen(status);
}

/** Whether the signal's own order is open, as far as the exchange said. */
export function isOwnOrderOpen(execution: Pick<Execution, 'orders'>): boolean {
  const own = orderOf(execution, 'order');
  return own !== null && isStillOpen(own.status);
}
