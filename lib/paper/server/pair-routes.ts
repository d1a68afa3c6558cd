import { findOpenByClientOrderId } from '../engine/creating.ts';
import type { OcoPair, PaperOrder } from '../engine/exchange-state.ts';
import { checkMarginSide } from '../engine/hedge-mode.ts';
import { bestPriceFor } from '../engine/order-book.ts';
import { serveOcoOrders } from '../lists/order-lists.ts';
import { reportCreatedPair, reportListedPair } from '../lists/reports.ts';
import { checkNewPair } from '../requests/new-pair.ts';
import {
  createReadRoute,
  createTradeRoute,
  executeForOrder,
  type Reply,
  type RequestContext,
  type Route,
  refuse,
  serveChecked,
} from '../requests/request-context.ts';
import { commandEndpoint, pairFields, readingEndpoint } from '../requests/served-endpoint.ts';
import { checkCancel, type OrderToCancel } from '../requests/validation.ts';

const createFields = { live: { ...pairFields.live, stopLimitPrice: 'stop_limit_price' } };

/**
 * Pairs of orders, of which one cancels the other.
 *
 * @see https://docs.whitebit.com/api-reference/collateral-trading/create-collateral-oco-order
 * @see https://docs.whitebit.com/api-reference/collateral-trading/query-unexecuted-oco-orders
 */
export const pairRoutes: readonly Route[] = [
  createTradeRoute(
    { ...commandEndpoint('create-oco', '/v4/order/collateral/oco', 10_000), fields: createFields },
    serveCreatePair,
  ),
  createReadRoute(readingEndpoint('oco-orders', '/v4/oco-orders', pairFields), serveOcoOrders),
  createTradeRoute(
    { ...commandEndpoint('cancel-oco', '/v4/order/oco-cancel', 10_000), fields: pairFields },
    serveCancelPair,
  ),
];

function serveCreatePair(context: RequestContext): Reply {
  const { account, atMs, read, trading, dialect } = context;
  const checked = checkNewPair(read, (market, side) => bestPriceFor(trading.state, market, side));
  return serveChecked(checked, (pair) => {
    const misplaced = checkMarginSide(trading.state, account, pair.stopLoss);
    if (misplaced !== null) return refuse(misplaced);
    return executeForOrder(context, { kind: 'create_pair', account, atMs, ...pair }, (stopLoss) => {
      const placed = pairOf(context, stopLoss);
      return placed === undefined ? null : reportCreatedPair(trading.state, placed, dialect);
    });
  });
}

function serveCancelPair(context: RequestContext): Reply {
  const { account, atMs, read, trading, dialect } = context;
  return serveChecked(checkCancel(read), (named) => {
    const pair = findPair(context, named);
    if (pair === undefined) return refuse('order_not_found');
    const { market, stopLossId: orderId } = pair;
    return executeForOrder(context, { kind: 'cancel', account, atMs, market, orderId }, () =>
      reportListedPair(trading.state, pair, dialect),
    );
  });
}

/** The open pair of the account with that id, or with legs of that client order id. */
function findPair(
  context: RequestContext,
  { market, orderId, clientOrderId }: OrderToCancel,
): OcoPair | undefined {
  const { account, trading } = context;
  const leg = findOpenByClientOrderId(trading.state, { account, market, clientOrderId });
  const pair = leg === undefined ? trading.state.pairs.get(orderId ?? 0) : pairOf(context, leg);
  return pair?.isOpen && pair.account === account && pair.market === market ? pair : undefined;
}

function pairOf({ trading }: RequestContext, leg: PaperOrder): OcoPair | undefined {
  return leg.ocoId === null ? undefined : trading.state.pairs.get(leg.ocoId);
}
