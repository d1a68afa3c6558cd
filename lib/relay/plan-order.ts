import { formatDecimal } from '../base/decimal.ts';
import { type Json, toJson } from '../base/json.ts';
import type { PreparedRequest, SendOptions } from '../exchange/client.ts';
import { ExchangeError, type Failure } from '../exchange/errors.ts';
import { prepareOrder } from '../exchange/place-order.ts';
import type { Account } from '../model/account.ts';
import { isOrderEnd, type Order, type OrderRequest } from '../model/order.ts';
import type { Status } from '../model/outcome.ts';
import type { OrderSignal } from '../model/signal.ts';
import { checkOrder } from '../risk/check-order.ts';
import { sizeOrder } from '../signals/sizing.ts';
import { deny, type Ending, type Plan } from './action.ts';
import type { ExecuteServices } from './services.ts';

/** Sizes an order, holds it against the account's limits and builds its request. */
export async function planOrder(
  services: ExecuteServices,
  account: Account,
  signal: OrderSignal,
  clientOrderId: string,
): Promise<Plan> {
  const market = await services.markets.find(signal.market);
  if (market === null)
    return deny(
      'unknown_market',
      'a market of the exchange',
      signal.market,
      `the exchange lists no usable market ${signal.market}; correct the tickers in relay.config.ts`,
    );
  const sized = sizeOrder(signal, market, account, clientOrderId);
  if (!sized.ok) return { verdict: 'denied', denial: sized.denial };
  const denial = checkOrder(sized.order, account);
  if (denial !== null) return { verdict: 'denied', denial };
  const client = await services.exchangeFor(account.name);
  const request = prepareOrder(client, sized.order);
  return {
    verdict: 'ready',
    action: {
      isOrder: true,
      requests: [describeRequest(request)],
      send: (options) => placeOrder(request, sized.order, options),
    },
  };
}

/** What would go on the wire, for people and dry runs. */
export function describeRequest({ method, path, fields }: PreparedRequest<unknown>): Json {
  return { method, path, fields };
}

async function placeOrder(
  request: PreparedRequest<Order>,
  asked: OrderRequest,
  options: SendOptions,
): Promise<Ending> {
  try {
    return placed(await request.send(options), asked);
  } catch (error) {
    if (!(error instanceof ExchangeError)) throw error;
    return failedOrder(error);
  }
}

function placed(order: Order, asked: OrderRequest): Ending {
  const what = `${asked.side} ${formatDecimal(asked.amount)} ${asked.market} at ${formatDecimal(asked.price)}`;
  const alarm = alarmOfEcho(order, asked);
  return {
    status: 'placed',
    note: `${what}, held by the exchange as order ${order.orderId}`,
    evidence: toJson({ order, alarm }),
    orderId: order.orderId,
    orderOpen: !isOrderEnd(order.status),
    ...(alarm === undefined ? {} : { alarm }),
  };
}

/** An exchange that speaks another dialect drops the id in silence, and with it the way to find the order again. */
function alarmOfEcho(order: Order, asked: OrderRequest): string | undefined {
  if (order.clientOrderId === asked.clientOrderId) return undefined;
  return `the exchange answered with client order id "${order.clientOrderId}" instead of "${asked.clientOrderId}": check that the configured dialect is the one it speaks`;
}

/** What a failed sending of an order proves. A request turned away unread never became an order. */
const orderStatusOfFailure: Readonly<Record<Failure['kind'], Status>> = {
  not_sent: 'not_sent',
  rate_limited: 'not_sent',
  rejected: 'rejected',
  ambiguous: 'unknown',
};

function failedOrder(error: ExchangeError): Ending {
  const status = orderStatusOfFailure[error.failure.kind];
  return {
    status,
    note: error.message,
    evidence: evidenceOf(error),
    // An order that may exist is one to cancel, until it is known not to.
    orderOpen: status === 'unknown',
  };
}

/** Every attempt with its failure, and what to do. */
export function evidenceOf(error: ExchangeError): Json {
  return toJson({ failure: error.failure, attempts: error.attempts, action: error.row.action });
}
