import { type Decimal, formatDecimal } from '../../base/decimal.ts';
import { type Dialect, type Worded, wireWord } from '../../exchange/dialect.ts';
import { type PaperMarket, paperMarkets } from '../engine/markets.ts';
import type { Refusal, RefusalName } from '../engine/refusals.ts';

/**
 * Reads a request field by its model name. A field that was sent under another wire name counts as missing.
 */
export type FieldReader = (name: string) => unknown;

export type Checked<T> =
  | { readonly valid: true; readonly value: T }
  | { readonly valid: false; readonly refusals: readonly [Refusal, ...Refusal[]] };

/** A failed check with one refusal, and the value for its text. */
export function failCheck(name: RefusalName, value?: Decimal): { valid: false; refusals: [Refusal] } {
  return { valid: false, refusals: [value === undefined ? { name } : { name, value: formatDecimal(value) }] };
}

/**
 * Reads request fields under the wire names of endpoint and dialect. A snake_case client order id is dropped
 * here in the live dialect, as on the live service.
 */
export function createFieldReader(
  dialect: Dialect,
  endpoint: Worded,
  body: Readonly<Record<string, unknown>>,
): FieldReader {
  return (name) => {
    const wire = wireWord(dialect, endpoint, name);
    const value = Object.hasOwn(body, wire) ? body[wire] : undefined;
    return value === null || value === '' ? undefined : value;
  };
}

const maximumClientOrderIdLength = 64;

export function checkClientOrderId(value: unknown): RefusalName | null {
  if (value === undefined) return null;
  if (typeof value !== 'string') return 'client_order_id_not_text';
  if (!/^[A-Za-z0-9._-]+$/.test(value)) return 'client_order_id_charset';
  return value.length > maximumClientOrderIdLength ? 'client_order_id_too_long' : null;
}

/** The market that a request names. */
export function checkNamedMarket(read: FieldReader): Checked<PaperMarket> {
  const name = read('market');
  if (name === undefined) return failCheck('market_required');
  const market = typeof name === 'string' ? paperMarkets.get(name) : undefined;
  return market === undefined ? failCheck('market_unknown') : { valid: true, value: market };
}

/** The order that a cancellation names. */
export interface OrderToCancel {
  readonly market: string;
  /** Null if the order is named by its client order id. */
  readonly orderId: number | null;
  readonly clientOrderId: string;
}

/** Checks that a cancellation names its order by exactly one of the two ids. */
export function checkCancel(read: FieldReader): Checked<OrderToCancel> {
  const market = checkNamedMarket(read);
  if (!market.valid) return market;
  const [orderId, clientOrderId] = [read('orderId'), read('clientOrderId')];
  const { name } = market.value;
  if (orderId !== undefined && clientOrderId !== undefined) return failCheck('order_ids_ambiguous');
  const refusal = checkClientOrderId(clientOrderId);
  if (refusal !== null) return failCheck(refusal);
  if (typeof clientOrderId === 'string')
    return { valid: true, value: { market: name, orderId: null, clientOrderId } };
  if (orderId === undefined) return failCheck('order_id_required');
  if (typeof orderId !== 'number' || !Number.isSafeInteger(orderId)) return failCheck('order_id_not_integer');
  return { valid: true, value: { market: name, orderId, clientOrderId: '' } };
}
