import { type Decimal, formatDecimal, zero } from '../../base/decimal.ts';
import type { Order, OrderRequest } from '../../model/order.ts';
import { type ComparedField, comparedFields } from '../../orders/order-types.ts';

/**
 * The fields of a reported order that are compared with the request; lists report fewer than responses.
 *
 * @see DECISIONS 76
 */
export type ReportedOrder = Pick<Order, 'clientOrderId' | 'side' | 'amount' | 'price'> &
  Partial<Pick<Order, 'market' | 'activationPrice' | 'reduceOnly' | 'positionSide'>>;

/** The ids of the order that a cancellation names. */
export interface CancelledName {
  readonly market: string;
  /** Null when it is not known. */
  readonly orderId: number | null;
  readonly clientOrderId: string | null;
}

/**
 * Compares a reported order with the request. Each field that differs gives one text; no text means
 * equality.
 *
 * A field that is absent or empty does not count as different: the exchange may leave out the trigger price,
 * and the client order id when it has dropped it. Numbers are compared by value, because "3.00" comes back as
 * "3". The exchange cuts an order that only reduces to the size of the position, so a smaller one is the same order.
 */
export function findOrderContradictions(asked: OrderRequest, reported: ReportedOrder): readonly string[] {
  const fields: Partial<Readonly<Record<ComparedField, Value>>> = asked;
  return comparedFields(asked.type)
    .filter((field) => field !== 'amount' || !isCut(asked, reported))
    .map((field) => differ(field, fields[field], reported[field]))
    .filter((text) => text !== null);
}

/** Whether the exchange has cut an order that only reduces to the size of the position. */
export function isCut(
  { reduceOnly, amount }: Pick<OrderRequest, 'reduceOnly' | 'amount'>,
  reported: Pick<ReportedOrder, 'amount'>,
): boolean {
  return reduceOnly === true && reported.amount.gt(zero) && reported.amount.lt(amount);
}

/**
 * Compares the stop-loss and the take-profit that the exchange reports for a new order with those that were asked for.
 * One that the exchange leaves out counts as different: the position would be without it.
 */
export function findProtectionGaps(
  asked: Pick<OrderRequest, 'stopLoss' | 'takeProfit'>,
  reported: Pick<Order, 'oto'>,
): readonly string[] {
  return (['stopLoss', 'takeProfit'] as const)
    .map((field) => differ(field, asked[field], reported.oto?.[field] ?? 'none'))
    .filter((text) => text !== null);
}

/** A field name in words: `clientOrderId` becomes `client order id`. */
function wordsOf(field: string): string {
  return field.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}

/**
 * Compares the response to a cancellation, which reports the cancelled order, with the order that was named.
 */
export function findCancelContradictions(
  asked: CancelledName,
  reported: Pick<Order, 'market' | 'orderId' | 'clientOrderId'>,
): readonly string[] {
  return [
    differ('market', asked.market, reported.market),
    differ('orderId', asked.orderId?.toString(), reported.orderId.toString()),
    differ('clientOrderId', asked.clientOrderId ?? undefined, reported.clientOrderId),
  ].filter((text) => text !== null);
}

type Value = Decimal | string | boolean | undefined;

const longestQuote = 64;

/** Values and names become text only where they differ: an order has ten fields to compare, and they rarely do. */
function differ(field: string, asked: Value, reported: Value): string | null {
  if (asked === undefined || reported === undefined || reported === '' || isEqual(asked, reported))
    return null;
  return `${wordsOf(field)} ${textOf(reported).slice(0, longestQuote)} instead of ${textOf(asked)}`;
}

function isEqual(asked: Value, reported: Value): boolean {
  return typeof asked === 'object' && typeof reported === 'object' ? asked.eq(reported) : asked === reported;
}

function textOf(value: Exclude<Value, undefined>): string {
  return typeof value === 'object' ? formatDecimal(value) : value.toString();
}
