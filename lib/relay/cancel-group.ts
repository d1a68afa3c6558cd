import type { ExchangeClient, PreparedRequest, SendOptions } from '../exchange/client.ts';
import { cancelConditional } from '../exchange/endpoints/cancel-conditional.ts';
import { ExchangeError, isGroupNotOpen, wasResponseLost } from '../exchange/errors.ts';
import { legsOf, nameGroup } from '../exchange/list-groups.ts';
import type { ConditionalOrder } from '../model/order.ts';
import { statusOfRefusal, type TargetOutcome } from './cancel-outcomes.ts';
import { describeAttempts } from './place-order.ts';

/** One group of orders to cancel: a pair, or an order with its planned stop-loss and take-profit. */
export interface GroupTarget {
  readonly request: PreparedRequest<unknown>;
  readonly group: ConditionalOrder;
}

export function groupTargetOf(client: ExchangeClient, market: string, group: ConditionalOrder): GroupTarget {
  return { request: client.prepare(cancelConditional, { market, id: group.id }), group };
}

/** Cancels all orders of a group by one request. Failures of the exchange are outcomes too. */
export async function cancelGroup(
  { request, group }: GroupTarget,
  options: SendOptions,
): Promise<TargetOutcome> {
  const name = nameGroup(group);
  const orderIds = legsOf(group).map(({ orderId }) => orderId);
  const orderCount = orderIds.length;
  try {
    await request.send(options);
    return {
      status: 'cancelled',
      wasGone: false,
      orderCount,
      confirmedIds: orderIds,
      note: `${name} is cancelled: ${nameOrders(orderIds)}`,
      evidence: { group: name, orderIds },
    };
  } catch (error) {
    if (!(error instanceof ExchangeError)) throw error;
    const isGone = isGroupNotOpen(error);
    const isLost = wasResponseLost(error);
    return {
      status: isLost ? 'unknown' : isGone ? 'cancelled' : statusOfRefusal(error),
      wasGone: isGone && !isLost,
      orderCount,
      note: isGone ? `${name} is not open: it ended before` : `${name}: ${error.message}`,
      evidence: describeAttempts(error, { group: name, orderIds }),
    };
  }
}

function nameOrders(orderIds: readonly number[]): string {
  return `order${orderIds.length === 1 ? '' : 's'} ${orderIds.join(' and ')}`;
}
