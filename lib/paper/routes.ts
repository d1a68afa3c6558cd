import { type Decimal, formatDecimal, zero } from '../base/decimal.ts';
import { type Dialect, spokenDialect } from '../exchange/dialect.ts';
import { cancelOrder } from '../exchange/endpoints/cancel-order.ts';
import { collateralBalance } from '../exchange/endpoints/collateral-balance.ts';
import { conditionalOrders } from '../exchange/endpoints/conditional-orders.ts';
import { endedOrder } from '../exchange/endpoints/ended-order.ts';
import { fees } from '../exchange/endpoints/fees.ts';
import { interestPayments } from '../exchange/endpoints/interest-payments.ts';
import { mainBalance } from '../exchange/endpoints/main-balance.ts';
import { markets } from '../exchange/endpoints/markets.ts';
import { openOrder } from '../exchange/endpoints/open-order.ts';
import { ping } from '../exchange/endpoints/ping.ts';
import { serverTime } from '../exchange/endpoints/server-time.ts';
import type { OrderKindName } from '../model/order.ts';
import { orderKinds } from '../orders/order-kinds.ts';
import { type Command, findOpenByClientOrderId } from './engine.ts';
import { listMarket, paperMarkets } from './markets.ts';
import { serveConditionalOrders, serveEndedOrders, serveOpenOrders } from './order-lists.ts';
import { checkBalanceQuery, checkInterestQuery } from './paging.ts';
import { publicLists } from './public-lists.ts';
import { reportCancelled, reportCollateral, reportCreated } from './reports.ts';
import { checkCancel, checkNewOrder } from './validation.ts';
import {
  type PaperEndpoint,
  type Reply,
  type Route,
  refuse,
  serveChecked,
  succeed,
  type Visit,
} from './visit.ts';
import type { PaperOrder } from './world.ts';

const reading = (endpoint: PaperEndpoint, serve: Route['serve']): Route => ({
  endpoint,
  trades: false,
  serve,
});
const trading = (endpoint: PaperEndpoint, serve: Route['serve']): Route => ({
  endpoint,
  trades: true,
  serve,
});

/** Every endpoint the exchange has. */
export const routes: readonly Route[] = [
  reading(ping, () => succeed(['pong'])),
  reading(serverTime, ({ atMs }) => succeed({ time: Math.floor(atMs / 1000) })),
  reading(markets, () => succeed([...paperMarkets.values()].map(listMarket))),
  reading(mainBalance, serveMainBalance),
  reading(collateralBalance, ({ account, trading }) => succeed(reportCollateral(trading.world, account))),
  reading(fees, ({ trading }) => succeed([...trading.world.treasury.fees.values()])),
  reading(interestPayments, serveInterestPayments),
  ...orderKinds.map(({ name, endpoint }) => trading(endpoint, (visit) => serveCreate(visit, name))),
  reading(conditionalOrders, serveConditionalOrders),
  trading(cancelOrder, serveCancelOrder),
  reading(openOrder, serveOpenOrders),
  reading(endedOrder, serveEndedOrders),
  ...publicLists,
];

export const endpointNames: readonly string[] = routes.map(({ endpoint }) => endpoint.name);

/** What the relay asks for in both dialects, though the written API has neither. */
const servedInBoth: ReadonlySet<PaperEndpoint> = new Set<PaperEndpoint>([markets, serverTime]);

/** The routes by method and path, as a client of the dialect calls them; the documented one has what is written. */
export function routesByAddress(dialect: Dialect): ReadonlyMap<string, Route> {
  return new Map(
    routes
      .filter(
        ({ endpoint }) =>
          dialect === 'live' || endpoint.availability === 'documented' || servedInBoth.has(endpoint),
      )
      .map((route) => {
        const { method, path } = route.endpoint;
        return [`${method} ${path[spokenDialect(dialect, route.endpoint)]}`, route];
      }),
  );
}

/** Of one ticker the live service tells the amount alone; the written API tells them all, whatever is asked. */
function serveMainBalance({ account, read, dialect, trading }: Visit): Reply {
  const main = trading.world.treasury.main.get(account) ?? new Map<string, Decimal>();
  const all = [...main].map(([ticker, amount]) => [ticker, { mainBalance: formatDecimal(amount) }]);
  if (dialect === 'documented') return succeed(Object.fromEntries(all));
  return serveChecked(checkBalanceQuery(read), (ticker) =>
    succeed(
      ticker === null ? Object.fromEntries(all) : { mainBalance: formatDecimal(main.get(ticker) ?? zero) },
    ),
  );
}

function serveInterestPayments({ account, read, trading }: Visit): Reply {
  const payments = trading.world.treasury.payments.get(account);
  if (payments === undefined) return refuse('not_a_partner');
  return serveChecked(checkInterestQuery(read, payments), ({ planId, ticker, limit, offset }) => {
    const asked = payments.filter(
      (payment) =>
        (planId === null || payment.planId === planId) && (ticker === null || payment.ticker === ticker),
    );
    return succeed({ offset, limit, records: asked.slice(offset, offset + limit) });
  });
}

function serveCreate(visit: Visit, kind: OrderKindName): Reply {
  const { account, atMs, dialect } = visit;
  return serveChecked(checkNewOrder(visit.read, kind), (order) =>
    execute(visit, { kind: 'create', account, atMs, order }, (created) => reportCreated(created, dialect)),
  );
}

function serveCancelOrder(visit: Visit): Reply {
  const { account, atMs, dialect } = visit;
  return serveChecked(checkCancel(visit.read), ({ market, orderId, clientOrderId }) => {
    const named = findOpenByClientOrderId(visit.trading.world, { account, market, clientOrderId });
    const command = {
      kind: 'cancel',
      account,
      atMs,
      market,
      orderId: orderId ?? named?.orderId ?? 0,
    } as const;
    return execute(visit, command, (cancelled) => reportCancelled(cancelled, dialect));
  });
}

/** The report is made at once: by the time the disk has answered, the order may have moved on. */
function execute(visit: Visit, command: Command, report: (order: PaperOrder) => unknown): Reply {
  const { result, stored } = visit.trading.execute(command);
  if (result.result === 'refused') return refuse(result.refusal);
  return { ok: true, result: result.result === 'order' ? report(result.order) : null, stored };
}
