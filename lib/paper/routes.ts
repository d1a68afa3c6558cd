import { type Decimal, formatDecimal } from '../base/decimal.ts';
import { type Dialect, spokenDialect } from '../exchange/dialect.ts';
import type { Endpoint } from '../exchange/endpoint.ts';
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
import { isOrderEnd, type OrderKindName } from '../model/order.ts';
import { orderKinds } from '../orders/order-kinds.ts';
import { type Command, findOpenByClientOrderId } from './engine.ts';
import { listMarket, paperMarkets } from './markets.ts';
import { checkConditionalQuery, checkInterestQuery, checkOpenQuery } from './paging.ts';
import type { Refusal, RefusalName } from './refusals.ts';
import {
  reportCancelled,
  reportCollateral,
  reportConditional,
  reportCreated,
  reportEnded,
  reportOpen,
} from './reports.ts';
import type { Trading } from './trading.ts';
import { type Checked, checkCancel, checkLookup, checkNewOrder, type FieldReader } from './validation.ts';
import { ordersByClientOrderId, type PaperOrder } from './world.ts';

/** A request that was let in. */
export interface Visit {
  /** Empty at a public endpoint. */
  readonly account: string;
  readonly read: FieldReader;
  /** The one this endpoint speaks. */
  readonly dialect: Dialect;
  readonly atMs: number;
  /** How far the lists of orders trail behind what happened. */
  readonly lagMs: number;
  readonly trading: Trading;
}

export type Reply =
  | {
      readonly ok: true;
      /** In the model's words. */
      readonly result: unknown;
      /** The answer waits for this. */
      readonly stored?: Promise<void>;
    }
  | { readonly ok: false; readonly refusals: readonly [Refusal, ...Refusal[]] };

/** How one endpoint is served. */
export interface Route {
  readonly endpoint: Endpoint;
  /** Whether it places or cancels orders. */
  readonly trades: boolean;
  readonly serve: (visit: Visit) => Reply;
}

const reading = (endpoint: Endpoint, serve: Route['serve']): Route => ({ endpoint, trades: false, serve });
const trading = (endpoint: Endpoint, serve: Route['serve']): Route => ({ endpoint, trades: true, serve });

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
  reading(endedOrder, serveEndedOrder),
];

export const endpointNames: readonly string[] = routes.map(({ endpoint }) => endpoint.name);

/** What the relay asks for in both dialects, though the written API has neither. */
const servedInBoth: ReadonlySet<Endpoint> = new Set<Endpoint>([markets, serverTime]);

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

function succeed(result: unknown): Reply {
  return { ok: true, result };
}

function refuse(name: RefusalName): Reply {
  return { ok: false, refusals: [{ name }] };
}

/** Serves what was checked; what was not valid is refused as the check says. */
function serveChecked<T>(checked: Checked<T>, serve: (value: T) => Reply): Reply {
  return checked.valid ? serve(checked.value) : { ok: false, refusals: checked.refusals };
}

function serveMainBalance({ account, trading }: Visit): Reply {
  const main = trading.world.treasury.main.get(account) ?? new Map<string, Decimal>();
  const held = [...main].map(([ticker, amount]) => [ticker, { mainBalance: formatDecimal(amount) }]);
  return succeed(Object.fromEntries(held));
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

function serveConditionalOrders(visit: Visit): Reply {
  const { account, read, dialect, trading } = visit;
  const isListed = ({ createdAtMs }: PaperOrder) => hasComeThrough(visit, createdAtMs);
  const query = checkConditionalQuery(read, defaultConditionalLimits[dialect]);
  return serveChecked(query, ({ market, limit, offset }) => {
    const records = reportConditional(trading.world, { account, market, isListed }, dialect);
    return succeed({ limit, offset, total: records.length, records: records.slice(offset, offset + limit) });
  });
}

function serveOpenOrders(visit: Visit): Reply {
  const { account, read, trading } = visit;
  return serveChecked(checkOpenQuery(read), ({ market, clientOrderId, limit, offset }) => {
    const listed = [...trading.world.open.values()].filter(
      (order) =>
        order.account === account &&
        order.market === market &&
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

function serveEndedOrder(visit: Visit): Reply {
  const { account, read, trading } = visit;
  const isListed = ({ status, updatedAtMs }: PaperOrder) =>
    isOrderEnd(status) && hasComeThrough(visit, updatedAtMs);
  return serveChecked(checkLookup(read), (lookup) => {
    const orders = ordersByClientOrderId(trading.world, { account, ...lookup });
    const ended = orders.filter(isListed).map(reportEnded);
    return ended.length === 0 ? refuse('history_not_found') : succeed({ [lookup.market]: ended.reverse() });
  });
}
