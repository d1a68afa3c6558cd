import type { PaperInterestPayment } from './accounts.ts';
import type { RefusalName } from './refusals.ts';
import { type Checked, checkMarket, type FieldReader } from './validation.ts';

/** A part of a list. */
export interface Page {
  readonly limit: number;
  readonly offset: number;
}

interface PageRules {
  readonly defaultLimit: number;
  readonly maximumOffset: number;
  /** The refusals for: no integer, too small, too big. */
  readonly limit: readonly [RefusalName, RefusalName, RefusalName];
  readonly offset: readonly [RefusalName, RefusalName, RefusalName];
}

const maximumLimit = 100;

function checkPage(read: FieldReader, rules: PageRules): Checked<Page> {
  const limit = read('limit') ?? rules.defaultLimit;
  const offset = read('offset') ?? 0;
  const fault =
    checkRange(limit, 1, maximumLimit, rules.limit) ??
    checkRange(offset, 0, rules.maximumOffset, rules.offset);
  if (fault !== null) return { valid: false, refusals: [{ name: fault }] };
  return { valid: true, value: { limit: Number(limit), offset: Number(offset) } };
}

function checkRange(
  value: unknown,
  least: number,
  most: number,
  [notInteger, tooSmall, tooBig]: readonly [RefusalName, RefusalName, RefusalName],
): RefusalName | null {
  if (typeof value !== 'number' || !Number.isInteger(value)) return notInteger;
  if (value < least) return tooSmall;
  return value > most ? tooBig : null;
}

const interestRules: PageRules = {
  defaultLimit: 100,
  maximumOffset: 10_000,
  limit: ['interest_limit_not_integer', 'interest_limit_too_small', 'interest_limit_too_big'],
  offset: ['interest_offset_not_integer', 'interest_offset_negative', 'interest_offset_too_big'],
};

/** What a query for interest payments asks for; null stands for every plan or ticker. */
export interface InterestQuery extends Page {
  readonly planId: unknown;
  readonly ticker: unknown;
}

/** A plan or ticker that is in none of the payments is invalid, as one that does not exist would be. */
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
  maximumOffset: Number.MAX_SAFE_INTEGER,
  limit: ['limit_not_integer', 'limit_too_small', 'limit_too_big'],
  offset: ['offset_not_integer', 'offset_negative', 'offset_not_integer'],
};

/** What a query for conditional orders asks for; a null market stands for all of them. */
export interface ConditionalQuery extends Page {
  readonly market: string | null;
}

/** @param defaultLimit 50 as documented, 100 on the live service */
export function checkConditionalQuery(read: FieldReader, defaultLimit: number): Checked<ConditionalQuery> {
  const page = checkPage(read, { ...conditionalRules, defaultLimit });
  if (!page.valid) return page;
  if (read('market') === undefined) return { valid: true, value: { market: null, ...page.value } };
  const market = checkMarket(read);
  return market.valid ? { valid: true, value: { market: market.value.name, ...page.value } } : market;
}

/** What a query for open orders asks for; a null client order id stands for all of the market. */
export interface OpenQuery extends Page {
  readonly market: string;
  readonly clientOrderId: string | null;
}

const openRules: PageRules = { ...conditionalRules, defaultLimit: 50, maximumOffset: 4_294_967_295 };

export function checkOpenQuery(read: FieldReader): Checked<OpenQuery> {
  const page = checkPage(read, openRules);
  if (!page.valid) return page;
  const market = checkMarket(read);
  if (!market.valid) return market;
  const clientOrderId = read('clientOrderId') ?? null;
  if (clientOrderId !== null && typeof clientOrderId !== 'string')
    return { valid: false, refusals: [{ name: 'client_order_id_not_text' }] };
  return { valid: true, value: { market: market.value.name, clientOrderId, ...page.value } };
}
