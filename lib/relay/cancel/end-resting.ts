import type { ExchangeClient, SendOptions } from '../../exchange/client.ts';
import type { ExchangeError } from '../../exchange/errors.ts';
import type { Order, OrderRequest } from '../../model/order.ts';
import { askToCancel, orderToCancel, ownToCancel } from './ask-to-cancel.ts';

/**
 * Whether the exchange refused the flag "immediate or cancel" itself. It publishes the flag for collateral orders, and
 * one of its pages says that only spot orders have it.
 */
export function refusesIoc(order: OrderRequest, { failure }: ExchangeError): boolean {
  return order.ioc === true && failure.kind === 'rejected' && 'ioc' in failure.errors;
}

/** The same order without the flag. What it leaves in the book must be cancelled at once. */
export function withoutIoc({ ioc: _, ...order }: OrderRequest): OrderRequest {
  return order;
}

/** Whether the order is known to be no longer open. */
export type Ended =
  /** `order` as the response reports it; null when the exchange says that it is not open any more. */
  | { readonly isEnded: true; readonly order: Order | null }
  | { readonly isEnded: false; readonly reason: string };

/** Names the order whose rest is to be cancelled. */
interface RestingName {
  readonly market: string;
  readonly orderId: number;
  /** Given where nothing but fills tells the order id: the cancellation then names the order by this id. */
  readonly clientOrderId?: string;
}

/**
 * Cancels what rests of an order. Cancelling twice does no harm.
 *
 * @see DECISIONS 114
 */
export async function endResting(
  client: ExchangeClient,
  { market, orderId, clientOrderId }: RestingName,
  options: SendOptions,
): Promise<Ended> {
  const target =
    clientOrderId === undefined
      ? orderToCancel(client, { market, orderId, clientOrderId: null })
      : ownToCancel(client, { market, orderId, clientOrderId });
  const answer = await askToCancel(target, options);
  switch (answer.kind) {
    case 'cancelled':
      return { isEnded: true, order: answer.order };
    case 'contradicted':
      return { isEnded: false, reason: answer.alarm.message };
    case 'failed':
      return answer.isGone
        ? { isEnded: true, order: null }
        : { isEnded: false, reason: answer.error.message };
  }
}
