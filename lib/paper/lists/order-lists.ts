import { zero } from '../../base/decimal.ts';
import type { Dialect } from '../../exchange/dialect.ts';
import { isOrderEnd } from '../../model/order.ts';
import type { PaperOrder } from '../engine/exchange-state.ts';
import { checkConditionalQuery, checkOpenQuery, pageOf } from '../requests/paging.ts';
import {
  type Reply,
  type RequestContext,
  refuse,
  serveChecked,
  succeed,
} from '../requests/request-context.ts';
import { checkHistoryQuery, type HistoryQuery, isWithin, type StatusFilter } from './history-query.ts';
import { hasComeThrough } from './list-lag.ts';
import { reportConditional, reportEnded, reportOpen, reportPairs } from './reports.ts';

const defaultConditionalLimits: Readonly<Record<Dialect, number>> = { documented: 50, live: 100 };

const defaultOcoLimit = 50;

/** The open pairs and the orders whose take-profit and stop-loss are not placed yet. */
export function serveConditionalOrders(context: RequestContext): Reply {
  const { account, read, dialect, trading } = context;
  const isListed = ({ createdAtMs }: PaperOrder) => hasComeThrough(context, createdAtMs);
  const query = checkConditionalQuery(read, defaultConditionalLimits[dialect]);
  return serveChecked(query, ({ market, ...page }) => {
    const records = reportConditional(trading.state, { account, market, isListed }, dialect);
    return succeed({ ...page, total: records.length, records: pageOf(records, page) });
  });
}

/** The open pairs in a form of their own: an array without a total, with keys in snake case. */
export function serveOcoOrders(context: RequestContext): Reply {
  const { account, read, dialect, trading } = context;
  const isListed = ({ createdAtMs }: PaperOrder) => hasComeThrough(context, createdAtMs);
  return serveChecked(checkConditionalQuery(read, defaultOcoLimit), ({ market, ...page }) => {
    const pairs = reportPairs(trading.state, { account, market, isListed }, dialect);
    return succeed(pageOf(pairs, page));
  });
}

export function serveOpenOrders(context: RequestContext): Reply {
  const { account, read, trading } = context;
  return serveChecked(checkOpenQuery(read), ({ market, orderId, clientOrderId, ...page }) => {
    const listed = [...trading.state.open.values()].filter(
      (order) =>
        order.account === account &&
        (market === null || order.market === market) &&
        (orderId === null || order.orderId === orderId) &&
        (clientOrderId === null || order.clientOrderId === clientOrderId) &&
        (order.parentId === null || trading.state.exitSettings.listsExits) &&
        hasComeThrough(context, order.createdAtMs),
    );
    // Newest first: an order that is added while a client reads pages moves others to later pages, so none is
    // skipped.
    return succeed(pageOf(listed.toReversed(), page).map(reportOpen));
  });
}

export function serveEndedOrders(context: RequestContext): Reply {
  return serveChecked(checkHistoryQuery(context.read, context.atMs), (query) => {
    const ended = listEnded(context, query);
    // An unknown order id gets an empty response, an unknown client order id a refusal.
    if (ended.length === 0 && query.orderId === null && query.clientOrderId !== null)
      return refuse('history_not_found');
    const page = pageOf(ended, query);
    const byMarket = Map.groupBy(page, ({ market }) => market);
    return succeed(
      Object.fromEntries([...byMarket].map(([market, orders]) => [market, orders.map(reportEnded)])),
    );
  });
}

/**
 * The ended orders that match a query, the last ended first. With an order id, the client order id is
 * ignored. Of an account whose history has no cancelled orders, only those that were filled.
 */
function listEnded(context: RequestContext, query: HistoryQuery): readonly PaperOrder[] {
  const { market, orderId, clientOrderId, status } = query;
  return [...context.trading.state.orders.values()]
    .filter(
      (order) =>
        order.account === context.account &&
        isOrderEnd(order.status) &&
        (order.status !== 'cancelled' || !context.trading.withoutCancelled.has(order.account)) &&
        (market === null || order.market === market) &&
        (orderId === null || order.orderId === orderId) &&
        (orderId !== null || clientOrderId === null || order.clientOrderId === clientOrderId) &&
        hasStatus(order, status) &&
        isWithin(query, order.updatedAtMs) &&
        hasComeThrough(context, order.updatedAtMs),
    )
    .sort((a, b) => b.updatedAtMs - a.updatedAtMs || b.orderId - a.orderId);
}

/** A guess: a partially filled order that has ended is one that was cancelled after a fill. */
function hasStatus({ status, filled }: PaperOrder, filter: StatusFilter): boolean {
  if (filter === 'ALL') return true;
  if (filter === 'FILLED') return status === 'filled';
  return status === 'cancelled' && (filter === 'CANCELED' || filled.gt(zero));
}
