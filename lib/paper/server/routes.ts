import { type Decimal, formatDecimal, zero } from '../../base/decimal.ts';
import { cancelOrder } from '../../exchange/endpoints/cancel-order.ts';
import { conditionalOrders } from '../../exchange/endpoints/conditional-orders.ts';
import { endedOrder } from '../../exchange/endpoints/ended-order.ts';
import { fees } from '../../exchange/endpoints/fees.ts';
import { interestPayments } from '../../exchange/endpoints/interest-payments.ts';
import { mainBalance } from '../../exchange/endpoints/main-balance.ts';
import { markets } from '../../exchange/endpoints/markets.ts';
import { openOrder } from '../../exchange/endpoints/open-order.ts';
import { ping } from '../../exchange/endpoints/ping.ts';
import { serverTime } from '../../exchange/endpoints/server-time.ts';
import { type OrderType, orderTypes } from '../../model/order.ts';
import { endpointOfType } from '../../orders/order-types.ts';
import { findOpenByClientOrderId } from '../engine/creating.ts';
import { checkMarginSide } from '../engine/hedge-mode.ts';
import { listMarket, paperMarkets } from '../engine/markets.ts';
import { bestPriceFor } from '../engine/order-book.ts';
import { accountLists } from '../lists/account-lists.ts';
import { bookLists } from '../lists/book-lists.ts';
import { candleLists } from '../lists/candle-lists.ts';
import { dealLists } from '../lists/deal-lists.ts';
import { marketData } from '../lists/market-data.ts';
import { serveConditionalOrders, serveEndedOrders, serveOpenOrders } from '../lists/order-lists.ts';
import { positionLists } from '../lists/position-lists.ts';
import { publicLists } from '../lists/public-lists.ts';
import { reportCancelled, reportCreated } from '../lists/reports.ts';
import { tradingFees } from '../lists/trading-fees.ts';
import { checkNewOrder } from '../requests/new-order.ts';
import { checkBalanceQuery, checkInterestQuery, pageOf } from '../requests/paging.ts';
import {
  createReadRoute,
  createTradeRoute,
  executeForOrder,
  type Reply,
  type RequestContext,
  type Route,
  refuse,
  serveChecked,
  succeed,
} from '../requests/request-context.ts';
import { checkCancel } from '../requests/validation.ts';
import { accountCommands } from './account-commands.ts';
import { modifyRoute } from './modify-order.ts';
import { pairRoutes } from './pair-routes.ts';

/** The routes of all endpoints. */
export const routes: readonly Route[] = [
  createReadRoute(ping, () => succeed(['pong'])),
  createReadRoute(serverTime, ({ atMs }) => succeed({ time: Math.floor(atMs / 1000) })),
  createReadRoute(markets, () => succeed([...paperMarkets.values()].map(listMarket))),
  createReadRoute(mainBalance, serveMainBalance),
  createReadRoute(fees, ({ trading }) => succeed([...trading.state.mainAccount.transferFees.values()])),
  createReadRoute(interestPayments, serveInterestPayments),
  ...orderTypes.map((type) =>
    createTradeRoute(endpointOfType(type), (context) => serveCreate(context, type)),
  ),
  createReadRoute(conditionalOrders, serveConditionalOrders),
  createTradeRoute(cancelOrder, serveCancelOrder),
  createReadRoute(openOrder, serveOpenOrders),
  createReadRoute(endedOrder, serveEndedOrders),
  ...accountLists,
  ...positionLists,
  ...pairRoutes,
  modifyRoute,
  ...dealLists,
  tradingFees,
  ...marketData,
  ...bookLists,
  ...candleLists,
  ...accountCommands,
  ...publicLists,
];

export const endpointNames: readonly string[] = routes.map(({ endpoint }) => endpoint.name);

/** For one ticker the live service returns only its amount. The written API always returns all balances. */
function serveMainBalance({ account, read, dialect, trading }: RequestContext): Reply {
  const main = trading.state.mainAccount.balances.get(account) ?? new Map<string, Decimal>();
  const all = [...main].map(([ticker, amount]) => [ticker, { mainBalance: formatDecimal(amount) }]);
  if (dialect === 'documented') return succeed(Object.fromEntries(all));
  return serveChecked(checkBalanceQuery(read), (ticker) =>
    succeed(
      ticker === null ? Object.fromEntries(all) : { mainBalance: formatDecimal(main.get(ticker) ?? zero) },
    ),
  );
}

function serveInterestPayments({ account, read, trading }: RequestContext): Reply {
  const payments = trading.state.mainAccount.payments.get(account);
  if (payments === undefined) return refuse('not_a_partner');
  return serveChecked(checkInterestQuery(read, payments), ({ planId, ticker, ...page }) => {
    const asked = payments.filter(
      (payment) =>
        (planId === null || payment.planId === planId) && (ticker === null || payment.ticker === ticker),
    );
    return succeed({ ...page, records: pageOf(asked, page) });
  });
}

function serveCreate(context: RequestContext, type: OrderType): Reply {
  const { account, atMs, dialect, trading } = context;
  const checked = checkNewOrder(context.read, type, (market, side) =>
    bestPriceFor(trading.state, market, side),
  );
  return serveChecked(checked, (order) => {
    const misplaced = dialect === 'live' ? checkMarginSide(trading.state, account, order) : null;
    if (misplaced !== null) return refuse(misplaced);
    const command = { kind: 'create', account, atMs, order } as const;
    return executeForOrder(context, command, (created) => reportCreated(created, dialect));
  });
}

function serveCancelOrder(context: RequestContext): Reply {
  const { account, atMs, dialect } = context;
  return serveChecked(checkCancel(context.read), ({ market, orderId, clientOrderId }) => {
    const named = findOpenByClientOrderId(context.trading.state, { account, market, clientOrderId });
    const command = {
      kind: 'cancel',
      account,
      atMs,
      market,
      orderId: orderId ?? named?.orderId ?? 0,
    } as const;
    return executeForOrder(context, command, (cancelled) => reportCancelled(cancelled, dialect));
  });
}
