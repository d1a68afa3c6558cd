import type { SendOptions } from '../../exchange/client.ts';
import { legsOf, nameGroup } from '../../exchange/list-groups.ts';
import { describeAttempts } from '../execute/place-order.ts';
import { askToCancelGroup, type GroupToCancel } from './ask-to-cancel.ts';
import { statusOfRefusal, type TargetOutcome } from './cancel-outcomes.ts';

/** Cancels all orders of a group by one request. Failures of the exchange are outcomes too. */
export async function cancelGroup(target: GroupToCancel, options: SendOptions): Promise<TargetOutcome> {
  const name = nameGroup(target.group);
  const orderIds = legsOf(target.group).map(({ orderId }) => orderId);
  const orderCount = orderIds.length;
  const answer = await askToCancelGroup(target, options);
  if (answer.kind !== 'failed')
    return {
      status: 'cancelled',
      wasGone: false,
      orderCount,
      confirmedIds: orderIds,
      note: `${name} is cancelled: ${nameOrders(orderIds)}`,
      evidence: { group: name, orderIds },
    };
  const { error, isGone, isLost } = answer;
  return {
    status: isLost ? 'unknown' : isGone ? 'cancelled' : statusOfRefusal(error),
    wasGone: isGone && !isLost,
    orderCount,
    note: isGone ? `${name} is not open: it ended before` : `${name}: ${error.message}`,
    evidence: describeAttempts(error, { group: name, orderIds }),
  };
}

function nameOrders(orderIds: readonly number[]): string {
  return `order${orderIds.length === 1 ? '' : 's'} ${orderIds.join(' and ')}`;
}
