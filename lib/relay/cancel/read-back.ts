import { isRecord, type Json, toJson } from '../../base/json.ts';
import type { ExchangeClient, SendOptions } from '../../exchange/client.ts';
import { cancelAll } from '../../exchange/endpoints/cancel-all.ts';
import { ExchangeError } from '../../exchange/errors.ts';
import { legsOf, listGroups, noGroups } from '../../exchange/list-groups.ts';
import { listOpenOrders } from '../../exchange/list-open-orders.ts';
import { tradingGrounds } from '../../model/account.ts';
import type { ConditionalOrder, Order } from '../../model/order.ts';
import type { CancelScope } from '../../model/signal.ts';
import type { Outcome } from '../execute/action.ts';
import type { ExecuteServices } from '../services.ts';
import { groupToCancel } from './ask-to-cancel.ts';
import { cancelGroup } from './cancel-group.ts';
import { leftOpenAlarm } from './cancel-outcomes.ts';
import type { CancellableOrder, ReadBack } from './plan-cancel.ts';

/** What a `cancel_all` has cancelled, and in which scope. */
interface Cancelled {
  readonly market: string;
  readonly scope: CancelScope;
  readonly targets: readonly CancellableOrder[];
  /** Whether pairs of orders were cancelled, too. */
  readonly hasGroups: boolean;
}

/** What is still open and should not be. */
interface StillOpen {
  /** False when there may be more that was not read. */
  readonly isWhole: boolean;
  readonly orderIds: readonly number[];
  readonly groups: readonly ConditionalOrder[];
}

/**
 * Reads the open orders of the market after a `cancel_all`, and reports those that should be gone. With the scope
 * `market` they are cancelled once more, pairs by their ids and the rest by one request, which also finds orders that came
 * in between; while the lists cannot be read, that request is sent in any case and the outcome is unknown.
 *
 * Without a list of the exchange, or with an unknown outcome, which a lookup settles, nothing is read.
 *
 * @see DECISIONS 71
 */
export function createReadBack(
  services: ExecuteServices,
  client: ExchangeClient,
  cancelled: Cancelled,
): ReadBack {
  return async (outcome, confirmed, options) => {
    if (client.dialect !== 'live' || outcome.status === 'unknown') return outcome;
    if (cancelled.scope === 'own' && cancelled.targets.length === 0) return outcome;
    const limits = { timeoutMs: services.exchangeTimeoutMs / 2, ...deadlinesOf(options) };
    let left = await listLeft(client, cancelled, confirmed, limits);
    if (cancelled.scope !== 'own' && !isNothing(left)) {
      await cancelRest(client, cancelled.market, left?.groups ?? [], limits);
      left = await listLeft(client, cancelled, confirmed, limits);
    }
    if (left === null || (!left.isWhole && left.orderIds.length === 0))
      return reportUnread(outcome, cancelled.scope);
    return report(outcome, left.orderIds);
  };
}

function isNothing(left: StillOpen | null): boolean {
  return left?.isWhole === true && left.orderIds.length === 0;
}

function deadlinesOf({ notAfterMs, endByMs }: SendOptions): SendOptions {
  return {
    ...(notAfterMs === undefined ? {} : { notAfterMs }),
    ...(endByMs === undefined ? {} : { endByMs }),
  };
}

/** The orders that are still open and should not be, alone or in groups; null when they cannot be listed. */
async function listLeft(
  client: ExchangeClient,
  cancelled: Cancelled,
  confirmed: ReadonlySet<number>,
  options: SendOptions,
): Promise<StillOpen | null> {
  const { market, hasGroups } = cancelled;
  try {
    const listed = hasGroups ? await listGroups(client, market, options) : noGroups;
    const open = await listOpenOrders(client, market, options);
    // A list may lag behind a cancellation that the exchange has confirmed.
    const groups = listed.groups.filter(
      (group) => !legsOf(group).every(({ orderId }) => confirmed.has(orderId)),
    );
    const left = [...open.orders.filter((order) => isMeant(cancelled, order)), ...groups.flatMap(legsOf)];
    const ids = new Set(left.map(({ orderId }) => orderId).filter((orderId) => !confirmed.has(orderId)));
    return { isWhole: listed.isWhole && open.isWhole, orderIds: [...ids], groups };
  } catch (error) {
    if (error instanceof ExchangeError) return null;
    throw error;
  }
}

function isMeant({ scope, targets }: Cancelled, { orderId, clientOrderId }: Order): boolean {
  return (
    scope !== 'own' ||
    targets.some(({ name }) => name.orderId === orderId || name.clientOrderId === clientOrderId)
  );
}

/** @param groups pairs, of which nobody knows whether the request that cancels all orders takes them */
async function cancelRest(
  client: ExchangeClient,
  market: string,
  groups: readonly ConditionalOrder[],
  options: SendOptions,
): Promise<void> {
  for (const group of groups) await cancelGroup(groupToCancel(client, market, group), options);
  try {
    await client.call(cancelAll, { market, type: [...tradingGrounds] }, options);
  } catch (error) {
    // What is left is read again in any case, and reported.
    if (!(error instanceof ExchangeError)) throw error;
  }
}

/** Only the list proves that orders of others are gone, so a lookup must read it. */
function reportUnread(outcome: Outcome, scope: CancelScope): Outcome {
  const isProven = scope === 'own' || outcome.status !== 'cancelled';
  return {
    ...outcome,
    status: isProven ? outcome.status : 'unknown',
    note: `${outcome.note}; the open orders could not be read back`,
    evidence: toJson({ ...asRecord(outcome.evidence), left: null }),
  };
}

function report(outcome: Outcome, left: readonly number[]): Outcome {
  const evidence: Json = toJson({ ...asRecord(outcome.evidence), left });
  if (left.length === 0)
    return { ...outcome, evidence, note: `${outcome.note}; none of them is open any more` };
  return {
    ...outcome,
    status: outcome.status === 'cancelled' ? 'rejected' : outcome.status,
    note: `${outcome.note}; still open: ${left.slice(0, mostNamed).join(', ')}${left.length > mostNamed ? ` and ${left.length - mostNamed} more` : ''}`,
    evidence,
    alarm: outcome.alarm ?? leftOpenAlarm,
  };
}

const mostNamed = 10;

function asRecord(evidence: Json): object {
  return isRecord(evidence) ? evidence : { evidence };
}
