import type { PaperInterestPayment } from '../engine/accounts.ts';
import type { Refusal, RefusalName } from '../engine/refusals.ts';
import { type Checked, checkNamedMarket, type FieldReader, failCheck } from './validation.ts';

/** One page of a list. */
export interface Page {
  readonly limit: number;
  readonly offset: number;
}

export interface PageRules {
  readonly defaultLimit: number;
  readonly maximumLimit: number;
  readonly maximumOffset: number;
  /** The refusals for: not an integer, too small, too big. */
  readonly limit: readonly [RefusalName, RefusalName, RefusalName];
  readonly offset: readonly [RefusalName, RefusalName, RefusalName];
}

export function checkPage(read: FieldReader, rules: PageRules): Checked<Page> {
  const limit = read('limit') ?? rules.defaultLimit;
  const offset = read('offset') ?? 0;
  const refusal =
    checkRange(limit, 1, rules.maximumLimit, rules.limit) ??
    checkRange(offset, 0, rules.maximumOffset, rules.offset);
  if (refusal !== null) return { valid: false, refusals: [refusal] };
  return { valid: true, value: { limit: Number(limit), offset: Number(offset) } };
}

function checkRange(
  value: unknown,
  least: number,
  most: number,
  [notInteger, tooSmall, tooBig]: readonly [RefusalName, RefusalName, RefusalName],
): Refusal | null {
  if (typeof value !== 'number' || !Number.isInteger(value)) return { name: notInteger };
  if (value < least) return { name: tooSmall };
  return value > most ? { name: tooBig, value: String(most) } : null;
}

/** The items of a list that stand on a page. */
export function pageOf<T>(items: readonly T[], { limit, offset }: Page): readonly T[] {
  return items.slice(offset, offset + limit);
}

const interestRules: PageRules = {
  defaultLimit: 100,
  maximumLimit: 100,
  maximumOffset: 10_000,
  limit: ['interest_limit_not_integer', 'interest_limit_too_small', 'interest_limit_too_big'],
  offset: ['interest_offset_not_integer', 'interest_offset_negative', 'interest_offset_too_big'],
};

/** The parameters of a query for interest payments; null means every plan or ticker. */
export interface InterestQuery extends Page {
  readonly planId: unknown;
  readonly ticker: unknown;
}

/** A plan or ticker without any payment is refused like one that does not exist. */
export function checkInterestQuery(
  read: FieldReader,
  payments: readonly PaperInterestPayment[],
): Checked<InterestQuery> {
  const isPaidUnder = (field: 'planId' | 'ticker', value: unknown) =>
    value === null || payments.some((payment) => payment[field] === value);
  const planId = read('planId') ?? null;
  const ticker = read('ticker') ?? null;
  const [first, ...others] = [
    ...(isPaidUnder('planId', planId) ? [] : [{ name: 'interest_plan_unknown' } as const]),
    ...(isPaidUnder('ticker', ticker) ? [] : [{ name: 'interest_ticker_unknown' } as const]),
  ];
  if (first !== undefined) return { valid: false, refusals: [first, ...others] };
  const page = checkPage(read, interestRules);
  return page.valid ? { valid: true, value: { planId, ticker, ...page.value } } : page;
}

const conditionalRules: Omit<PageRules, 'defaultLimit'> = {
  maximumLimit: 100,
  maximumOffset: 4_294_967_295,
  limit: ['limit_not_integer', 'limit_too_small', 'limit_too_big'],
  offset: ['offset_not_integer', 'offset_negative', 'offset_not_integer'],
};

/** The parameters of a query for conditional orders; a null market means all markets. */
export interface ConditionalQuery extends Page {
  readonly market: string | null;
}

/** @param defaultLimit 50 as documented, 100 on the live service */
export function checkConditionalQuery(read: FieldReader, defaultLimit: number): Checked<ConditionalQuery> {
  const page = checkPage(read, { ...conditionalRules, defaultLimit });
  if (!page.valid) return page;
  const market = checkAnyMarket(read);
  return market.valid ? { valid: true, value: { market: market.value, ...page.value } } : market;
}

/** The market of a query; null (all markets) if it names none. */
export function checkAnyMarket(read: FieldReader): Checked<string | null> {
  if (read('market') === undefined) return { valid: true, value: null };
  const market = checkNamedMarket(read);
  return market.valid ? { valid: true, value: market.value.name } : market;
}

/** The parameters of a query for open or ended orders; null means no filter. */
export interface OrdersQuery extends Page {
  readonly market: string | null;
  readonly orderId: number | null;
  readonly clientOrderId: string | null;
}

export const openRules: PageRules = { ...conditionalRules, defaultLimit: 50 };

/** A search by id needs a market; a plain list does not. */
export function checkOpenQuery(read: FieldReader): Checked<OrdersQuery> {
  const query = checkOrdersQuery(read, openRules);
  if (!query.valid) return query;
  const { market, orderId, clientOrderId } = query.value;
  const isSearch = orderId !== null || clientOrderId !== null;
  return isSearch && market === null ? failCheck('market_required') : query;
}

export function checkOrdersQuery(read: FieldReader, rules: PageRules): Checked<OrdersQuery> {
  const page = checkPage(read, rules);
  if (!page.valid) return page;
  const market = checkAnyMarket(read);
  if (!market.valid) return market;
  const clientOrderId = read('clientOrderId') ?? null;
  const orderId = readQueriedOrderId(read('orderId'));
  if (orderId === undefined) return failCheck('order_id_not_integer');
  if (clientOrderId !== null && typeof clientOrderId !== 'string')
    return failCheck('client_order_id_not_text');
  return { valid: true, value: { market: market.value, orderId, clientOrderId, ...page.value } };
}

/**
 * The order id of a query: null if it names none, undefined if that is no integer. It may be text: an
 * independent client asks the lists so.
 */
export function readQueriedOrderId(value: unknown): number | null | undefined {
  if (value === undefined) return null;
  const orderId = typeof value === 'string' && /^\d{1,16}$/.test(value) ? Number(value) : value;
  return typeof orderId === 'number' && Number.isSafeInteger(orderId) ? orderId : undefined;
}

/** The ticker of a balance query; null means all. An unknown ticker has a balance of 0. */
export function checkBalanceQuery(read: FieldReader): Checked<string | null> {
  const ticker = read('ticker') ?? null;
  return ticker === null || typeof ticker === 'string'
    ? { valid: true, value: ticker }
    : failCheck('balance_ticker_not_text');
}
