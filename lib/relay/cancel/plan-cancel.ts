import { describeError } from '../../base/describe-error.ts';
import { toJson } from '../../base/json.ts';
import type { ExchangeClient, SendOptions } from '../../exchange/client.ts';
import type { Entry } from '../../ledger/entry.ts';
import { mostBelieved } from '../../ledger/ledger.ts';
import type { Account } from '../../model/account.ts';
import type { Order } from '../../model/order.ts';
import type { Status } from '../../model/outcome.ts';
import type { CancelSignal } from '../../model/signal.ts';
import { cancelledOf, reportOf } from '../../model/step-facts.ts';
import { deny, type Outcome, type Plan, type PreparedAction } from '../execute/action.ts';
import { describeAttempts, describeRequest } from '../execute/place-order.ts';
import type { ExecuteServices } from '../services.ts';
import { settleEntry, unlessMoved } from '../settle/settle-entry.ts';
import {
  askToCancel,
  type FailedCancel,
  type GroupToCancel,
  orderToCancel,
  type SingleToCancel,
} from './ask-to-cancel.ts';
import { cancelGroup } from './cancel-group.ts';
import {
  type CancelRemainder,
  joinOutcomes,
  statusOfRefusal,
  type TargetOutcome,
} from './cancel-outcomes.ts';
import { mayStillArrive } from './cancel-target.ts';

/** One order to cancel: the request, its ids, and the ledger entry that placed it, if there is one. */
export interface CancellableOrder extends SingleToCancel {
  readonly placedBy: Entry | null;
}

/**
 * Finds the order that a signal names and builds the request that cancels it.
 *
 * @param withdrawn ids of the waiting signals that this cancellation withdrew; if any, nothing is sent
 */
export async function planCancel(
  services: ExecuteServices,
  account: Account,
  signal: CancelSignal,
  withdrawn: readonly string[],
): Promise<Plan> {
  if (withdrawn.length > 0) return { verdict: 'ended', outcome: withdrawnOutcome(withdrawn) };
  const client = await services.exchangeFor(account.name);
  const { market, target } = signal;
  switch (target.by) {
    case 'orderId': {
      const { orderId } = target;
      const placedBy = await services.ledger.findOrder(account.name, market, orderId);
      const name = { market, orderId, clientOrderId: placedBy?.clientOrderId ?? null };
      return ready(services, 'rejected', [{ ...orderToCancel(client, name), placedBy }]);
    }
    case 'clientOrderId': {
      const { clientOrderId } = target;
      const order = orderToCancel(client, { market, orderId: null, clientOrderId });
      const open = await services.ledger.openOrders(account.name, market, mostBelieved);
      const placedBy = open.find((entry) => entry.clientOrderId === clientOrderId) ?? null;
      return ready(services, 'rejected', [{ ...order, placedBy }]);
    }
    case 'signalId': {
      const placedBy = await services.ledger.read({ account: account.name, signalId: target.signalId });
      if (placedBy === null || placedBy.signal?.market !== market || placedBy.clientOrderId === null)
        return deny(
          'cancel_target',
          `an order signal of ${market}`,
          target.signalId,
          `the ledger knows no order signal "${target.signalId}" of ${market}; nothing was cancelled`,
        );
      if (placedBy.status === 'cancelled' || placedBy.status === 'dry_run')
        return { verdict: 'ended', outcome: outcomeWithoutOrder(placedBy, target.signalId) };
      if (!mayExist(placedBy.status))
        return deny(
          'cancel_target',
          'a signal whose order was sent',
          placedBy.status,
          `signal "${target.signalId}" has the status ${placedBy.status}: there is no order to cancel`,
        );
      return ready(services, 'rejected', [targetOf(client, placedBy, market)]);
    }
  }
}

function withdrawnOutcome(withdrawn: readonly string[]): Outcome {
  const note = `signal "${withdrawn.join('", "')}" was withdrawn before it was sent`;
  return { status: 'cancelled', note, evidence: { withdrawn } };
}

/** A signal that was cancelled, or was a dry run, has no order at the exchange to cancel. */
function outcomeWithoutOrder({ status }: Entry, signalId: string): Outcome {
  const reason = status === 'dry_run' ? 'was a dry run' : 'was cancelled before';
  return { status, note: `signal "${signalId}" ${reason}: nothing was sent`, evidence: { signalId } };
}

function mayExist(status: Status): boolean {
  return status === 'placed' || status === 'unknown' || status === 'sending';
}

/** Without the exchange's order id, because its response was lost, the client order id names the order. */
export function targetOf(client: ExchangeClient, entry: Entry, market: string): CancellableOrder {
  const { orderId, clientOrderId } = entry;
  return { ...orderToCancel(client, { market, orderId, clientOrderId }), placedBy: entry };
}

/**
 * Reads what is still open after a cancellation, and completes its outcome.
 *
 * `cancelled`: the ids of the orders that the exchange has confirmed as cancelled.
 */
export type ReadBack = (
  outcome: Outcome,
  cancelled: ReadonlySet<number>,
  options: SendOptions,
) => Promise<Outcome>;

const nothingBeside: CancelRemainder = { leftOut: 0, withdrawn: [] };

/**
 * @param goneStatus the status of the outcome when the exchange has no such open order
 * @param readBack completes the outcome with what is still open
 * @param groups pairs to cancel after the targets
 */
export function ready(
  services: ExecuteServices,
  goneStatus: Status,
  targets: readonly CancellableOrder[],
  beside: CancelRemainder = nothingBeside,
  readBack: ReadBack = (outcome) => Promise.resolve(outcome),
  groups: readonly GroupToCancel[] = [],
): Plan {
  const placedBy = targets.flatMap((target) => target.placedBy ?? []);
  return {
    verdict: 'ready',
    action: {
      isOrder: false,
      ...(placedBy.length === 0 ? {} : namePlacers(placedBy)),
      requests: [...targets, ...groups].map(({ request }) => describeRequest(request)),
      async send(options) {
        // Half a timeout is left to read back what is still open. With no time left, the client does not send the
        // request, and its error says so.
        const endByMs = (options.endByMs ?? Number.POSITIVE_INFINITY) - services.exchangeTimeoutMs / 2;
        const timed = { ...options, endByMs };
        const outcomes: TargetOutcome[] = [];
        for (const target of targets) outcomes.push(await cancelTarget(services, goneStatus, target, timed));
        for (const group of groups) outcomes.push(await cancelGroup(group, timed));
        return await readBack(joinOutcomes(outcomes, beside), confirmedIds(outcomes), options);
      },
    },
  };
}

/** It may be the only record of which signals placed the orders. */
function namePlacers(placers: readonly Entry[]): Pick<PreparedAction, 'evidence' | 'facts'> {
  const placedBy = placers.map(({ signalId }) => signalId);
  return { evidence: { placedBy }, facts: { placedBy } };
}

/** From the responses: of an order whose own response was lost, only the client order id was known before. */
function confirmedIds(outcomes: readonly TargetOutcome[]): ReadonlySet<number> {
  return new Set(outcomes.flatMap(({ confirmedIds }) => confirmedIds ?? []));
}

/**
 * Cancels one order, and closes the entry that placed it once it is no longer open.
 *
 * @param goneStatus the status when the exchange has no such open order
 */
export async function cancelTarget(
  services: ExecuteServices,
  goneStatus: Status,
  target: CancellableOrder,
  options: SendOptions,
): Promise<TargetOutcome> {
  const answer = await askToCancel(target, options);
  if (answer.kind === 'failed') return await failedCancel(services, goneStatus, target, answer);
  const { order } = answer;
  if (answer.kind === 'contradicted') {
    const { alarm, contradictions } = answer;
    const { message } = alarm;
    const evidence = toJson({ answered: order, contradictions, alarm: message });
    return { status: 'unknown', wasGone: false, note: message, evidence, alarm };
  }
  await noteGone(services, target, order);
  return {
    status: 'cancelled',
    wasGone: false,
    confirmedIds: [order.orderId],
    note: `order ${order.orderId} is cancelled`,
    evidence: { order: toJson(order) },
    cancelled: [cancelledOf(order)],
  };
}

/**
 * Closes the ledger entry of an order that is no longer open. A failure of the ledger is only logged: the
 * cancellation has happened, and the other ones must be sent.
 *
 * @param order as the exchange reported it, which proves that it existed; null when it was not reported
 */
async function noteGone(
  services: ExecuteServices,
  { placedBy }: CancellableOrder,
  order: Order | null,
): Promise<void> {
  if (placedBy === null) return;
  await closePlacedBy(services, placedBy, order).catch((error: unknown) => {
    services.log.error('the entry of an order that is no longer open could not be closed', {
      account: placedBy.account,
      signalId: placedBy.signalId,
      reason: describeError(error),
    });
  });
}

async function closePlacedBy(services: ExecuteServices, placedBy: Entry, order: Order | null): Promise<void> {
  if (order !== null && placedBy.status === 'unknown') {
    const { orderId } = order;
    const note = `a cancellation found its order ${orderId}: it existed, and is cancelled`;
    const evidence = toJson({ order });
    const facts = { report: reportOf(order) };
    const outcome: Outcome = { status: 'placed', note, evidence, facts, orderId, orderOpen: false };
    await unlessMoved(() => settleEntry(services, placedBy, outcome));
  }
  await services.ledger.closeOrder(placedBy);
}

async function failedCancel(
  services: ExecuteServices,
  goneStatus: Status,
  target: CancellableOrder,
  { error, isGone, isLost }: FailedCancel,
): Promise<TargetOutcome> {
  // An order whose response was lost may still arrive, so "not found" does not close its entry.
  if (isGone && target.placedBy?.status === 'placed') await noteGone(services, target, null);
  if (isGone && target.placedBy !== null && mayStillArrive(target.placedBy, services.clock.nowMs()))
    return { status: 'unknown', wasGone: false, note: goneNotes.early, evidence: describeAttempts(error) };
  const refused = isGone ? goneStatus : statusOfRefusal(error);
  return {
    status: isLost ? 'unknown' : refused,
    wasGone: isGone && !isLost,
    note: isGone ? goneNotes[isLost ? 'afterLostResponse' : 'plain'] : error.message,
    // `signal` reads from it that nothing is left to cancel.
    evidence: describeAttempts(error, isGone && !isLost ? { wasGone: true } : {}),
  };
}

const goneNotes = {
  early: 'the exchange does not have the order, but it was sent a moment ago: it may still arrive',
  plain: 'the order is not open: it was filled, cancelled before, or never placed',
  afterLostResponse:
    'the order is no longer open, but a response was lost: it was either cancelled or filled before',
};
