import type { Dialect } from '../exchange/dialect.ts';
import { isOrderEnd } from '../model/order.ts';
import { checkConditionalQuery, checkHistoryQuery, checkOpenQuery, type OrdersQuery } from './paging.ts';
import { reportConditional, reportEnded, reportOpen } from './reports.ts';
import { type Reply, refuse, serveChecked, succeed, type Visit } from './visit.ts';
import type { PaperOrder } from './world.ts';

const defaultConditionalLimits: Readonly<Record<Dialect, number>> = { documented: 50, live: 100 };

/**
 * Whether what happened at that time has come through to the lists.
 *
 * An end leaves the open list at once and reaches the ended one late: of the ways to lag, the hardest on a reader.
 */
function hasComeThrough({ atMs, lagMs }: Visit, eventMs: number): boolean {
  // A clock that was put back must not hide anything from lists that do not lag.
  return Math.max(0, atMs - eventMs) >= lagMs;
}

/** The lists that prove where an order is. */
export function serveConditionalOrders(visit: Visit): Reply {
  const { account, read, dialect, trading } = visit;
  const isListed = ({ createdAtMs }: PaperOrder) => hasComeThrough(visit, createdAtMs);
  const query = checkConditionalQuery(read, defaultConditionalLimits[dialect]);
  return serveChecked(query, ({ market, limit, offset }) => {
    const records = reportConditional(trading.world, { account, market, isListed }, dialect);
    return succeed({ limit, offset, total: records.length, records: records.slice(offset, offset + limit) });
  });
}

export function serveOpenOrders(visit: Visit): Reply {
  const { account, read, trading } = visit;
  return serveChecked(checkOpenQuery(read), ({ market, orderId, clientOrderId, limit, offset }) => {
    const listed = [...trading.world.open.values()].filter(
      (order) =>
        order.account === account &&
        (market === null || order.market === market) &&
        (orderId === null || order.orderId === orderId) &&
        (clientOrderId === null || order.clientOrderId === clientOrderId) &&
        hasComeThrough(visit, order.createdAtMs),
    );
    // Newest first: what is added while the pages are read pushes orders to later pages, never out of them.
    return succeed(
      listed
        .toReversed()
        .slice(offset, offset + limit)
        .map(reportOpen),
    );
  });
}

export function serveEndedOrders(visit: Visit): Reply {
  return serveChecked(checkHistoryQuery(visit.read), (query) => {
    const ended = listEnded(visit, query);
    // An order id that is not there is answered with nothing, a client order id with a refusal.
    if (ended.length === 0 && query.orderId === null && query.clientOrderId !== null)
      return refuse('history_not_found');
    const page = ended.slice(query.offset, query.offset + query.limit);
    const byMarket = Map.groupBy(page, ({ market }) => market);
    return succeed(
      Object.fromEntries([...byMarket].map(([market, orders]) => [market, orders.map(reportEnded)])),
    );
  });
}

/** The ended orders that a query is about, the one that ended last first. The exchange's own id outranks the client's. */
function listEnded(visit: Visit, { market, orderId, clientOrderId }: OrdersQuery): readonly PaperOrder[] {
  return [...visit.trading.world.orders.values()]
    .filter(
      (order) =>
        order.account === visit.account &&
        isOrderEnd(order.status) &&
        (market === null || order.market === market) &&
        (orderId === null || order.orderId === orderId) &&
        (orderId !== null || clientOrderId === null || order.clientOrderId === clientOrderId) &&
        hasComeThrough(visit, order.updatedAtMs),
    )
    .sort((a, b) => b.updatedAtMs - a.updatedAtMs || b.orderId - a.orderId);
}
