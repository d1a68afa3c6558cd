import { describeError } from '../base/describe-error.ts';
import { toJson } from '../base/json.ts';
import type { ExchangeClient, PreparedRequest, SendOptions } from '../exchange/client.ts';
import { cancelOrder } from '../exchange/endpoints/cancel-order.ts';
import { ExchangeError, isOrderNotOpen } from '../exchange/errors.ts';
import type { Entry } from '../ledger/entry.ts';
import type { Account } from '../model/account.ts';
import type { Order } from '../model/order.ts';
import type { Status } from '../model/outcome.ts';
import type { CancelSignal } from '../model/signal.ts';
import { deny, type Outcome, type Plan } from './action.ts';
import { type Beside, contradictedCancel, joinOutcomes, type TargetOutcome } from './cancel-outcomes.ts';
import { mayStillArrive, placedByEvidence } from './cancel-target.ts';
import { mostBelieved } from './close-ended.ts';
import { type CancelledName, findCancelContradictions } from './find-contradictions.ts';
import { describeRequest, evidenceOf } from './plan-order.ts';
import type { ExecuteServices } from './services.ts';
import { settleEntry, unlessMoved } from './settle-entry.ts';

/** One order to cancel: how the exchange knows it, and the entry that placed it, if one did. */
interface Target {
  readonly request: PreparedRequest<Order>;
  readonly name: CancelledName;
  readonly placedBy: Entry | null;
}

/**
 * Finds the one order an alert names and builds the request that cancels it.
 *
 * @param withdrawn the signal of that order, if it was still waiting and was ended for this
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
      const request = client.prepare(cancelOrder, { market, orderId });
      return ready(services, 'rejected', [{ request, name: nameOf(market, orderId, placedBy), placedBy }]);
    }
    case 'clientOrderId': {
      const { clientOrderId } = target;
      const request = client.prepare(cancelOrder, { market, clientOrderId });
      const name = { market, orderId: null, clientOrderId };
      const open = await services.ledger.openOrders(account.name, market, mostBelieved);
      const placedBy = open.find((entry) => entry.clientOrderId === clientOrderId) ?? null;
      return ready(services, 'rejected', [{ request, name, placedBy }]);
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
        return { verdict: 'ended', outcome: endedLike(placedBy, target.signalId) };
      if (!mayExist(placedBy.status))
        return deny(
          'cancel_target',
          'a signal whose order was sent',
          placedBy.status,
          `signal "${target.signalId}" ended as ${placedBy.status}: there is no order to cancel`,
        );
      return ready(services, 'rejected', [targetOf(client, placedBy, market)]);
    }
  }
}

function withdrawnOutcome(withdrawn: readonly string[]): Outcome {
  const note = `signal "${withdrawn.join('", "')}" was withdrawn before it was sent`;
  return { status: 'cancelled', note, evidence: { withdrawn } };
}

/** What was withdrawn before it was sent, or only rehearsed, leaves nothing for the exchange to cancel. */
function endedLike({ status }: Entry, signalId: string): Outcome {
  const end = status === 'dry_run' ? 'was only rehearsed' : 'was cancelled before';
  return { status, note: `signal "${signalId}" ${end}: nothing was sent`, evidence: { signalId } };
}

function mayExist(status: Status): boolean {
  return status === 'placed' || status === 'unknown' || status === 'sending';
}

/** The client order id names the order even when the response that held the exchange's own id was lost. */
export function targetOf(client: ExchangeClient, entry: Entry, market: string): Target {
  const { orderId, clientOrderId } = entry;
  const request =
    orderId !== null
      ? client.prepare(cancelOrder, { market, orderId })
      : client.prepare(cancelOrder, { market, clientOrderId: clientOrderId ?? '' });
  return { request, name: nameOf(market, orderId, entry), placedBy: entry };
}

/** Every name of the order that is known: a response may hold both ids, whichever was sent. */
function nameOf(market: string, orderId: number | null, placedBy: Entry | null): CancelledName {
  return { market, orderId, clientOrderId: placedBy?.clientOrderId ?? null };
}

const nothingBeside: Beside = { leftOut: 0, withdrawn: [] };

/** @param goneStatus what it means when the exchange holds no such open order */
export function ready(
  services: ExecuteServices,
  goneStatus: Status,
  targets: readonly Target[],
  beside: Beside = nothingBeside,
): Plan {
  const placedBy = targets.flatMap((target) => target.placedBy ?? []);
  return {
    verdict: 'ready',
    action: {
      isOrder: false,
      ...(placedBy.length === 0 ? {} : { evidence: placedByEvidence(placedBy) }),
      requests: targets.map(({ request }) => describeRequest(request)),
      send: (options) => cancelTargets(services, goneStatus, { targets, beside }, options),
    },
  };
}

/** All cancellations of one signal together take no longer than this many requests may: a function's time is limited. */
const actionTimeouts = 2;

async function cancelTargets(
  services: ExecuteServices,
  goneStatus: Status,
  { targets, beside }: { readonly targets: readonly Target[]; readonly beside: Beside },
  options: SendOptions,
): Promise<Outcome> {
  const outcomes: TargetOutcome[] = [];
  const deadlineMs = services.clock.nowMs() + actionTimeouts * services.exchangeTimeoutMs;
  for (const target of targets) {
    const leftMs = deadlineMs - services.clock.nowMs();
    const timeoutMs = Math.min(services.exchangeTimeoutMs, leftMs);
    // With no time left the request is not sent, and says so.
    outcomes.push(await cancelTarget(services, goneStatus, target, { ...options, timeoutMs }));
  }
  return joinOutcomes(outcomes, beside);
}

async function cancelTarget(
  services: ExecuteServices,
  goneStatus: Status,
  target: Target,
  options: SendOptions,
): Promise<TargetOutcome> {
  try {
    const order = await target.request.send(options);
    const contradictions = findCancelContradictions(target.name, order);
    if (contradictions.length > 0) return contradictedCancel(order, contradictions);
    await noteGone(services, target, order);
    return {
      status: 'cancelled',
      wasGone: false,
      note: `order ${order.orderId} is cancelled`,
      evidence: { order: toJson(order) },
    };
  } catch (error) {
    if (!(error instanceof ExchangeError)) throw error;
    return await failedCancel(services, goneStatus, target, error);
  }
}

/**
 * Whether the ledger can note it or not, the cancellation happened and the other ones must go on.
 *
 * @param order as it answered, which proves that it was there; null when it did not
 */
async function noteGone(services: ExecuteServices, { placedBy }: Target, order: Order | null): Promise<void> {
  if (placedBy === null) return;
  await closePlacedBy(services, placedBy, order).catch((error: unknown) => {
    services.log.error('an order that is gone could not be marked as closed', {
      account: placedBy.account,
      signalId: placedBy.signalId,
      reason: describeError(error),
    });
  });
}

async function closePlacedBy(services: ExecuteServices, placedBy: Entry, order: Order | null): Promise<void> {
  if (order !== null && placedBy.status === 'unknown') {
    const { orderId } = order;
    const note = `its order ${orderId} answered to a cancellation: it was there, and is cancelled`;
    const evidence = toJson({ order });
    const outcome: Outcome = { status: 'placed', note, evidence, orderId, orderOpen: false };
    await unlessMoved(() => settleEntry(services, placedBy, outcome));
  }
  await services.ledger.closeOrder(placedBy);
}

async function failedCancel(
  services: ExecuteServices,
  goneStatus: Status,
  target: Target,
  error: ExchangeError,
): Promise<TargetOutcome> {
  const isGone = isOrderNotOpen(error);
  // An order whose response was lost may still be on its way in: "not found" today does not close it.
  if (isGone && target.placedBy?.status === 'placed') await noteGone(services, target, null);
  // After a lost response, "not found" cannot tell our own cancellation from a fill that came first.
  const isLost = error.attempts.some(({ failure }) => failure.kind === 'ambiguous');
  if (isGone && target.placedBy !== null && mayStillArrive(target.placedBy, services.clock.nowMs()))
    return { status: 'unknown', wasGone: false, note: goneNotes.early, evidence: evidenceOf(error) };
  const refused = isGone ? goneStatus : statusOfRefusal(error);
  return {
    status: isLost ? 'unknown' : refused,
    wasGone: isGone && !isLost,
    note: isGone ? goneNotes[isLost ? 'afterLostResponse' : 'plain'] : error.message,
    // People are told by it that nothing is left to cancel.
    evidence: evidenceOf(error, isGone && !isLost ? { wasGone: true } : {}),
  };
}

const goneNotes = {
  early: 'the order is not there, but was sent a moment ago without a response: it may still arrive',
  plain: 'the order is not open: it was filled, cancelled before, or never placed',
  afterLostResponse:
    'the order is no longer open, but a response was lost: it was cancelled, or filled before that',
};

function statusOfRefusal({ failure }: ExchangeError): Status {
  return failure.kind === 'rejected' ? 'rejected' : 'not_sent';
}
