import { formatDecimal } from '../../base/decimal.ts';
import { executedHistory } from '../../exchange/endpoints/executed-history.ts';
import { orderDeals } from '../../exchange/endpoints/order-deals.ts';
import type { PaperDeal } from '../engine/trade-records.ts';
import { pageOf } from '../requests/paging.ts';
import {
  createReadRoute,
  type Reply,
  type RequestContext,
  type Route,
  refuse,
  serveChecked,
  succeed,
} from '../requests/request-context.ts';
import { checkDealsQuery, checkOrderDealsQuery, isWithin } from './history-query.ts';
import { hasComeThrough } from './list-lag.ts';

/**
 * The fills of an account, under the wire names of the live service.
 *
 * @see https://docs.whitebit.com/api-reference/spot-trading/query-executed-order-history
 * @see https://docs.whitebit.com/api-reference/spot-trading/query-executed-order-deals
 */
export const dealLists: readonly Route[] = [
  createReadRoute(executedHistory, serveExecutedHistory),
  createReadRoute(orderDeals, serveOrderDeals),
];

/** One market's fills are an array, those of all markets an object by market. */
function serveExecutedHistory(context: RequestContext): Reply {
  const { read, atMs } = context;
  return serveChecked(checkDealsQuery(read, atMs), (query) => {
    const { market, clientOrderId } = query;
    if (clientOrderId !== null && !hasOrder(context, market, clientOrderId))
      return refuse('history_not_found');
    const deals = listDeals(context).filter(
      (deal) =>
        (market === null || deal.market === market) &&
        (clientOrderId === null || deal.clientOrderId === clientOrderId) &&
        isWithin(query, deal.atMs),
    );
    const page = pageOf(deals, query);
    if (market !== null) return succeed(page.map(describeDeal));
    const byMarket = Map.groupBy(page, (deal) => deal.market);
    return succeed(Object.fromEntries([...byMarket].map(([key, listed]) => [key, listed.map(describeDeal)])));
  });
}

/** @param market null means any */
function hasOrder(context: RequestContext, market: string | null, clientOrderId: string): boolean {
  return [...context.trading.state.orders.values()].some(
    (order) =>
      order.account === context.account &&
      order.clientOrderId === clientOrderId &&
      (market === null || order.market === market) &&
      hasComeThrough(context, order.createdAtMs),
  );
}

/** An unknown order, and one of another account, have no fills. */
function serveOrderDeals(context: RequestContext): Reply {
  return serveChecked(checkOrderDealsQuery(context.read), ({ orderId, ...page }) => {
    const deals = listDeals(context).filter((deal) => deal.orderId === orderId);
    const records = pageOf(deals, page).map(describeOrderDeal);
    return succeed({ records, ...page });
  });
}

/** The fills of the account that the lists already show, newest first. */
function listDeals(context: RequestContext): readonly PaperDeal[] {
  const deals = context.trading.state.deals.filter(
    (deal) => deal.account === context.account && hasComeThrough(context, deal.atMs),
  );
  return deals.reverse();
}

function describeDeal({ orderId, side, ...deal }: PaperDeal) {
  return { ...describeFill(deal), side, orderId };
}

/**
 * Likely, not certain: two open clients read `dealOrderId` as the order's own id; the documents call it that of the counterparty, which
 * has none here.
 */
function describeOrderDeal({ orderId, ...deal }: PaperDeal) {
  return { ...describeFill(deal), dealOrderId: orderId, rpi: false };
}

function describeFill(deal: Omit<PaperDeal, 'orderId' | 'side'>) {
  return {
    id: deal.dealId,
    clientOrderId: deal.clientOrderId,
    time: deal.atMs / 1000,
    role: deal.role === 'maker' ? 1 : 2,
    amount: formatDecimal(deal.amount),
    price: formatDecimal(deal.price),
    deal: formatDecimal(deal.notional),
    fee: formatDecimal(deal.fee),
    feeAsset: deal.feeAsset,
  };
}
