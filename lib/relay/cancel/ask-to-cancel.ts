import type { Alarm } from '../../base/alarms.ts';
import type { ExchangeClient, PreparedRequest, SendOptions } from '../../exchange/client.ts';
import { cancelConditional } from '../../exchange/endpoints/cancel-conditional.ts';
import { cancelOrder } from '../../exchange/endpoints/cancel-order.ts';
import { ExchangeError, isGroupNotOpen, isOrderNotOpen, wasResponseLost } from '../../exchange/errors.ts';
import type { ConditionalOrder, Order } from '../../model/order.ts';
import { type CancelledName, findCancelContradictions } from './find-contradictions.ts';

/** One order to cancel. */
export interface SingleToCancel {
  readonly request: PreparedRequest<Order>;
  readonly name: CancelledName;
}

/** A pair, or an order with its planned stop-loss and take-profit. */
export interface GroupToCancel {
  readonly request: PreparedRequest<unknown>;
  readonly group: ConditionalOrder;
}

/** What one cancellation has shown. Cancelling twice does no harm. */
export type CancelAnswer =
  | { readonly kind: 'cancelled'; readonly order: Order }
  /** The response names another order: what became of this one is not known. */
  | {
      readonly kind: 'contradicted';
      readonly order: Order;
      readonly contradictions: readonly string[];
      readonly alarm: Alarm;
    }
  | FailedCancel;

export interface FailedCancel {
  readonly kind: 'failed';
  readonly error: ExchangeError;
  /** Whether the exchange said that nothing of that name is open. */
  readonly isGone: boolean;
  /** Whether a response was lost before, so that it may be gone because the cancellation has worked, or has filled. */
  readonly isLost: boolean;
}

/** By the exchange's id of the order where that is known, otherwise by its client order id. */
export function orderToCancel(client: ExchangeClient, name: CancelledName): SingleToCancel {
  const { market, orderId, clientOrderId } = name;
  const named = orderId === null ? { market, clientOrderId: clientOrderId ?? '' } : { market, orderId };
  return { request: client.prepare(cancelOrder, named), name };
}

/** By its client order id, although the exchange's id may be known: most often, no response has told that one. */
export function ownToCancel(
  client: ExchangeClient,
  name: CancelledName & { readonly clientOrderId: string },
): SingleToCancel {
  const { market, clientOrderId } = name;
  return { request: client.prepare(cancelOrder, { market, clientOrderId }), name };
}

export function groupToCancel(
  client: ExchangeClient,
  market: string,
  group: ConditionalOrder,
): GroupToCancel {
  return { request: client.prepare(cancelConditional, { market, id: group.id }), group };
}

/** Cancels one order. The response must name that order. */
export async function askToCancel(
  { request, name }: SingleToCancel,
  options: SendOptions,
): Promise<CancelAnswer> {
  try {
    const order = await request.send(options);
    const contradictions = findCancelContradictions(name, order);
    if (contradictions.length === 0) return { kind: 'cancelled', order };
    return { kind: 'contradicted', order, contradictions, alarm: otherOrderAlarm(contradictions) };
  } catch (error) {
    return failedCancel(error, isOrderNotOpen);
  }
}

/** Cancels all orders of a group by one request. */
export async function askToCancelGroup(
  { request }: GroupToCancel,
  options: SendOptions,
): Promise<{ readonly kind: 'cancelled' } | FailedCancel> {
  try {
    await request.send(options);
    return { kind: 'cancelled' };
  } catch (error) {
    return failedCancel(error, isGroupNotOpen);
  }
}

function failedCancel(error: unknown, saysGone: (error: ExchangeError) => boolean): FailedCancel {
  if (!(error instanceof ExchangeError)) throw error;
  return { kind: 'failed', error, isGone: saysGone(error), isLost: wasResponseLost(error) };
}

function otherOrderAlarm(contradictions: readonly string[]): Alarm {
  const message = `the response to a cancellation names another order (${contradictions.join(', ')}): check the account at once`;
  return { name: 'order_contradicted', message };
}
