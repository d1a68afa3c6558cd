import { type Decimal, formatDecimal } from '../base/decimal.ts';
import type { Order, OrderRequest } from '../model/order.ts';
import type { ComparedField } from '../orders/order-kind.ts';
import { kindNamed } from '../orders/order-kinds.ts';

/** What a report of an order tells of what was asked for; lists tell less than answers. */
export type ReportedOrder = Pick<Order, 'clientOrderId' | 'side' | 'amount' | 'price'> &
  Partial<Pick<Order, 'market' | 'activationPrice'>>;

/** How a cancellation named its order. */
export interface CancelledName {
  readonly market: string;
  /** Null where it is not known. */
  readonly orderId: number | null;
  readonly clientOrderId: string | null;
}

/**
 * Where a report of an order is not about the order that was asked for, one text for each field; none when it is.
 *
 * What the exchange may leave out (the activation price; the client order id, when it dropped it) contradicts nothing
 * by being absent, and numbers are compared by value: "3.00" comes back as "3".
 */
export function findOrderContradictions(asked: OrderRequest, answered: ReportedOrder): readonly string[] {
  const fields: Partial<Readonly<Record<ComparedField, Decimal | string>>> = asked;
  return kindNamed(asked.kind)
    .compared.map((field) => differ(wordsOf(field), textOf(fields[field]) ?? null, textOf(answered[field])))
    .filter((text) => text !== null);
}

/** `activationPrice` in words: `activation price`. */
function wordsOf(field: string): string {
  return field.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}

/** The same for the response to a cancellation, which names the order that was cancelled. */
export function findCancelContradictions(
  asked: CancelledName,
  answered: Pick<Order, 'market' | 'orderId' | 'clientOrderId'>,
): readonly string[] {
  return [
    differ('market', asked.market, answered.market),
    differ('order id', asked.orderId?.toString() ?? null, answered.orderId.toString()),
    differ('client order id', asked.clientOrderId, answered.clientOrderId),
  ].filter((text) => text !== null);
}

function textOf(value: Decimal | string | undefined): string | undefined {
  return typeof value === 'object' ? formatDecimal(value) : value;
}

const longestQuote = 64;

function differ(field: string, asked: string | null, answered: string | undefined): string | null {
  if (asked === null || answered === undefined || answered === '') return null;
  return asked === answered ? null : `${field} ${answered.slice(0, longestQuote)} instead of ${asked}`;
}
