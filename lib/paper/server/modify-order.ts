import { findOpenByClientOrderId } from '../engine/creating.ts';
import type { PaperOrder } from '../engine/exchange-state.ts';
import { bestPriceFor } from '../engine/order-book.ts';
import { reportReplaced } from '../lists/reports.ts';
import { checkModifiedOrder } from '../requests/modified-order.ts';
import { readQueriedOrderId } from '../requests/paging.ts';
import {
  createTradeRoute,
  executeForOrder,
  type Reply,
  type RequestContext,
  refuse,
  serveChecked,
} from '../requests/request-context.ts';
import { commandEndpoint } from '../requests/served-endpoint.ts';
import { checkCancel, type FieldReader, type OrderToCancel } from '../requests/validation.ts';

/**
 * Replaces an open order by another, which has a new id.
 *
 * @see https://docs.whitebit.com/api-reference/spot-trading/modify-order
 */
export const modifyRoute = createTradeRoute(
  commandEndpoint('modify-order', '/v4/order/modify', 10_000),
  serveModify,
);

function serveModify(context: RequestContext): Reply {
  const { account, atMs, read, trading } = context;
  return serveChecked(checkCancel(withIdOfText(read)), (named) => {
    const old = findOpen(context, named);
    if (old === undefined) return refuse('order_not_found');
    const checked = checkModifiedOrder(read, old, (market, side) =>
      bestPriceFor(trading.state, market, side),
    );
    return serveChecked(checked, (order) =>
      executeForOrder(
        context,
        { kind: 'modify', account, atMs, orderId: old.orderId, order },
        reportReplaced,
      ),
    );
  });
}

/** The order id may be text: an independent client sends it so. */
function withIdOfText(read: FieldReader): FieldReader {
  return (name) => (name === 'orderId' ? (readQueriedOrderId(read(name)) ?? read(name)) : read(name));
}

function findOpen(
  { account, trading }: RequestContext,
  { market, orderId, clientOrderId }: OrderToCancel,
): PaperOrder | undefined {
  const named =
    orderId === null
      ? findOpenByClientOrderId(trading.state, { account, market, clientOrderId })
      : trading.state.open.get(orderId);
  return named?.account === account && named.market === market ? named : undefined;
}
