import {
  checkAnyMarket,
  checkOrdersQuery,
  checkPage,
  type OrdersQuery,
  openRules,
  type Page,
  type PageRules,
  readQueriedOrderId,
} from '../requests/paging.ts';
import { type Checked, type FieldReader, failCheck } from '../requests/validation.ts';

const historyRules: PageRules = { ...openRules, maximumLimit: 500 };

/** The times of a query, both included. */
export interface QueriedTimes {
  readonly fromMs: number;
  /** Infinity when the query names no end: what a clock that was set back left in the future is listed, too. */
  readonly untilMs: number;
}

export function isWithin({ fromMs, untilMs }: QueriedTimes, atMs: number): boolean {
  return atMs >= fromMs && atMs <= untilMs;
}

/** How ended orders can be filtered. */
const statusFilters = ['ALL', 'FILLED', 'CANCELED', 'PARTIALLY_FILLED'] as const;
export type StatusFilter = (typeof statusFilters)[number];

/** The parameters of a query for ended orders. A query for one order ignores status and period. */
export interface HistoryQuery extends OrdersQuery, QueriedTimes {
  readonly status: StatusFilter;
}

/** The latest 31 days, unless the query names others. */
export function checkHistoryQuery(read: FieldReader, atMs: number): Checked<HistoryQuery> {
  const query = checkOrdersQuery(read, historyRules);
  if (!query.valid) return query;
  if (query.value.orderId !== null || query.value.clientOrderId !== null)
    return { valid: true, value: { ...query.value, status: 'ALL', ...always } };
  const status = statusFilters.find((filter) => filter === (read('status') ?? 'ALL'));
  if (status === undefined) return failCheck('history_status_unknown');
  const period = checkPeriod(read, atMs);
  return period.valid ? { valid: true, value: { ...query.value, status, ...period.value } } : period;
}

const always: QueriedTimes = { fromMs: Number.NEGATIVE_INFINITY, untilMs: Number.POSITIVE_INFINITY };
const longestMs = 31 * 24 * 3_600_000;
const monthsBack = 6;

function checkPeriod(read: FieldReader, atMs: number): Checked<QueriedTimes> {
  const dates = readDates(read);
  if (!dates.valid) return dates;
  const { startMs, endMs } = dates.value;
  const fromMs = startMs ?? atMs - longestMs;
  const untilMs = Math.min(endMs ?? atMs, atMs);
  if (fromMs < startOfDay(atMs, monthsBack)) return failCheck('start_date_too_old');
  if (untilMs < fromMs) return failCheck('end_date_before_start');
  if (untilMs - fromMs > longestMs) return failCheck('dates_too_far_apart');
  return { valid: true, value: periodOf(fromMs, endMs) };
}

/** The dates of a query in milliseconds; null where it names none. */
function readDates(read: FieldReader): Checked<{ startMs: number | null; endMs: number | null }> {
  const startMs = toMs(read('startDate'));
  const endMs = toMs(read('endDate'));
  if (startMs === undefined) return failCheck('start_date_not_integer');
  if (endMs === undefined) return failCheck('end_date_not_integer');
  return { valid: true, value: { startMs, endMs } };
}

function toMs(seconds: unknown): number | null | undefined {
  if (seconds === undefined) return null;
  return typeof seconds === 'number' && Number.isSafeInteger(seconds) ? seconds * 1000 : undefined;
}

/** An end in whole seconds includes what happened within its second. */
function periodOf(fromMs: number, endMs: number | null): QueriedTimes {
  return { fromMs, untilMs: endMs === null ? Number.POSITIVE_INFINITY : endMs + 999 };
}

/** Midnight (UTC) of the same day some months ago. */
function startOfDay(atMs: number, months: number): number {
  const now = new Date(atMs);
  return Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - months, now.getUTCDate());
}

/** The parameters of a query for fills; null means no filter. */
export interface DealsQuery extends Page, QueriedTimes {
  readonly market: string | null;
  readonly clientOrderId: string | null;
}

/** Fills are kept for six months. A query for one order ignores the period. */
export function checkDealsQuery(read: FieldReader, atMs: number): Checked<DealsQuery> {
  const page = checkPage(read, historyRules);
  if (!page.valid) return page;
  const market = checkAnyMarket(read);
  if (!market.valid) return market;
  const dates = readDates(read);
  if (!dates.valid) return dates;
  const clientOrderId = read('clientOrderId') ?? null;
  if (clientOrderId !== null && typeof clientOrderId !== 'string')
    return failCheck('client_order_id_not_text');
  const { startMs, endMs } = dates.value;
  const asked = periodOf(startMs ?? Number.NEGATIVE_INFINITY, endMs);
  const period = clientOrderId === null ? asked : always;
  const fromMs = Math.max(period.fromMs, startOfDay(atMs, monthsBack));
  return { valid: true, value: { market: market.value, clientOrderId, ...page.value, ...period, fromMs } };
}

/** The parameters of a query for the fills of one order. */
export interface OrderDealsQuery extends Page {
  readonly orderId: number;
}

export function checkOrderDealsQuery(read: FieldReader): Checked<OrderDealsQuery> {
  const orderId = readQueriedOrderId(read('orderId'));
  if (orderId === null) return failCheck('order_id_required');
  if (orderId === undefined) return failCheck('order_id_not_integer');
  const page = checkPage(read, historyRules);
  return page.valid ? { valid: true, value: { orderId, ...page.value } } : page;
}

/** The parameters of a query for what became of positions; null means no filter. */
export interface PositionsQuery extends Page, QueriedTimes {
  readonly market: string | null;
  readonly positionId: number | null;
}

/** The end may lie a second in the future, no more. */
const aheadMs = 1000;

export function checkPositionsQuery(read: FieldReader, atMs: number): Checked<PositionsQuery> {
  const page = checkPage(read, openRules);
  if (!page.valid) return page;
  const market = checkAnyMarket(read);
  if (!market.valid) return market;
  const dates = readDates(read);
  if (!dates.valid) return dates;
  const positionId = readQueriedOrderId(read('positionId'));
  if (positionId === undefined) return failCheck('position_id_not_integer');
  const { startMs, endMs } = dates.value;
  if (endMs !== null && endMs > atMs + aheadMs) return failCheck('end_date_in_future');
  if ((startMs ?? 0) > (endMs ?? Number.POSITIVE_INFINITY)) return failCheck('end_date_before_start');
  const period = periodOf(startMs ?? Number.NEGATIVE_INFINITY, endMs);
  return { valid: true, value: { market: market.value, positionId, ...page.value, ...period } };
}

/** There is no funding to filter: the market is only checked. */
export function checkFundingQuery(read: FieldReader): Checked<Page> {
  const market = checkAnyMarket(read);
  return market.valid ? checkPage(read, { ...openRules, defaultLimit: 100 }) : market;
}
