import { type Alarm, joinAlarms } from '../../base/alarms.ts';
import { formatDecimal } from '../../base/decimal.ts';
import { type Json, toJson } from '../../base/json.ts';
import type { ExchangeClient, PreparedRequest, SendOptions } from '../../exchange/client.ts';
import { ExchangeError, type Failure, ifRead, wasTurnedAway } from '../../exchange/errors.ts';
import { type FoundOrder, findOrder } from '../../exchange/find-order.ts';
import { isOrderEnd, type Order, type OrderRequest } from '../../model/order.ts';
import type { Status } from '../../model/outcome.ts';
import type { OrderSignal } from '../../model/signal.ts';
import { reportOf, type StepFacts } from '../../model/step-facts.ts';
import { describeOrder, mustNotRest } from '../../orders/order-kinds.ts';
import { prepareOrder } from '../../orders/order-types.ts';
import { endResting, refusesIoc, withoutIoc } from '../cancel/end-resting.ts';
import {
  findOrderContradictions,
  findProtectionGaps,
  isCut,
  type ReportedOrder,
} from '../cancel/find-contradictions.ts';
import { foundOutcome } from '../settle/found-outcome.ts';
import type { Outcome } from './action.ts';
import { judgeTrigger } from './judge-trigger.ts';

/** A requested order and its signal. */
export interface Asked {
  readonly signal: OrderSignal;
  readonly order: OrderRequest;
}

/** The request without key, nonce and signature, as dry runs store it. */
export function describeRequest({ method, path, fields }: PreparedRequest<unknown>): Json {
  return { method, path, fields };
}

/**
 * Sends the order, and cancels what rests of an order that must not rest.
 *
 * An exchange that refuses "immediate or cancel" has placed nothing. The order is then sent once more without the flag.
 */
export async function placeOrder(
  client: ExchangeClient,
  request: PreparedRequest<Order>,
  asked: Asked,
  options: SendOptions,
): Promise<Outcome> {
  const sending = withTimeToCancel(asked, options);
  const first = await sendOrder(client, request, asked, sending);
  if (first.refusedIoc !== true || (await options.isStillOwn?.()) === false)
    return await endRest(client, asked, first.outcome, options);
  const order = withoutIoc(asked.order);
  const plain = { ...asked, order };
  const { outcome } = await sendOrder(client, prepareOrder(client, order), plain, sending);
  const plainly =
    outcome.status === 'not_sent'
      ? 'and a plain limit order could not be sent'
      : 'so a plain limit order was sent';
  const note = `the exchange refuses "immediate or cancel" here, ${plainly}: ${outcome.note}`;
  return await endRest(client, plain, { ...outcome, note }, options);
}

/** Of an order that must not rest, the creates leave half a timeout for the cancellation of its rest. */
function withTimeToCancel({ signal }: Asked, options: SendOptions): SendOptions {
  const { timeoutMs, endByMs } = options;
  if (!mustNotRest(signal) || timeoutMs === undefined || endByMs === undefined) return options;
  return { ...options, endByMs: endByMs - timeoutMs / 2 };
}

/** The outcome of sending an order. `refusedIoc`: nothing was placed, because of the flag alone. */
interface Sent {
  readonly outcome: Outcome;
  readonly refusedIoc?: boolean;
}

/**
 * HTTP 429 does not prove that the exchange dropped the order. Such an order is never sent again: it may trigger and fill
 * before any list shows it, and the exchange refuses a second order with the same client order id only while the first
 * one is open. It is looked up once, at once; what that does not find is unknown.
 */
async function sendOrder(
  client: ExchangeClient,
  request: PreparedRequest<Order>,
  asked: Asked,
  options: SendOptions,
): Promise<Sent> {
  try {
    return { outcome: placed(await request.send(options), asked) };
  } catch (error) {
    if (!(error instanceof ExchangeError)) throw error;
    // A lookup may be later than the order may be.
    const { notAfterMs: _, ...limits } = options;
    const place = wasTurnedAway(error) ? await ifRead(findOrder(client, asked.order, limits)) : null;
    if (place?.kind === 'found') return { outcome: foundOrder(place, asked) };
    return { outcome: failedOrder(error), refusedIoc: refusesIoc(asked.order, error) };
  }
}

/**
 * Cancels what rests of an order that must not rest. While that is not proven the outcome is unknown, and the lookups
 * cancel it.
 */
async function endRest(
  client: ExchangeClient,
  { signal, order }: Asked,
  outcome: Outcome,
  { timeoutMs, endByMs }: SendOptions,
): Promise<Outcome> {
  const { status, orderId, orderOpen } = outcome;
  if (status !== 'placed' || orderOpen !== true || orderId === undefined || !mustNotRest(signal))
    return outcome;
  const ended = await endResting(
    client,
    { market: order.market, orderId },
    { ...(timeoutMs === undefined ? {} : { timeoutMs }), ...(endByMs === undefined ? {} : { endByMs }) },
  );
  if (!ended.isEnded) {
    const note = `${outcome.note}; its rest must not stay open and could not be cancelled (${ended.reason}); the relay tries again`;
    return { ...outcome, status: 'unknown', note };
  }
  const filled = ended.order === null ? '' : ` (${formatDecimal(ended.order.filled)} filled)`;
  return {
    ...outcome,
    note: `${outcome.note}; what did not fill at once was cancelled${filled}`,
    evidence: toJson({ placed: outcome.evidence, ended: ended.order }),
    facts: { ...outcome.facts, ended: ended.order === null ? null : reportOf(ended.order) },
    orderOpen: false,
  };
}

function foundOrder(found: FoundOrder, { order, signal }: Asked): Outcome {
  return contradictedOutcome({ order, signal }, found.order) ?? foundOutcome(found, signal);
}

function placed(order: Order, asked: Asked): Outcome {
  const contradicted = contradictedOutcome(asked, order);
  if (contradicted !== null) return contradicted;
  const trigger = judgeTrigger(asked.signal, order);
  const protection = alarmOfOtherProtection(order, asked.order);
  const alarm = joinAlarms([alarmOfMissingId(order, asked.order), trigger.alarm, protection]);
  const note = `${describeOrder(asked.order, asked.signal.orderType)}, ${describeState(order)} as order ${order.orderId}`;
  return {
    status: 'placed',
    note: [note, cutNote(order, asked.order), trigger.note, protection?.message]
      .filter((text) => typeof text === 'string')
      .join('; '),
    evidence: toJson({ order, alarm: alarm?.message }),
    facts: { report: reportOf(order) },
    orderId: order.orderId,
    orderOpen: !isOrderEnd(order.status),
    ...(alarm === undefined ? {} : { alarm }),
  };
}

function cutNote(order: Order, asked: OrderRequest): string | null {
  return isCut(asked, order)
    ? `cut to ${formatDecimal(order.amount)} by the exchange, the size of the position`
    : null;
}

/** The state of the order in the exchange's response: it may have filled, or ended, at once. */
function describeState({ status, endReason, filled }: Order): string {
  switch (status) {
    case 'open':
      return 'held by the exchange';
    case 'partially_filled':
      return `held by the exchange, ${formatDecimal(filled)} of it filled at once,`;
    case 'filled':
      return 'filled at once by the exchange';
    case 'cancelled':
      return `accepted by the exchange and ended at once (${endReason ?? status}, ${formatDecimal(filled)} of it filled)`;
  }
}

/**
 * A response that reports another order proves nothing about the requested one. It raises an alarm, and
 * lookups search for the requested order by its own client order id.
 *
 * @returns null when the reported order is the requested one
 */
function contradictedOutcome({ order: asked, signal }: Asked, answered: ReportedOrder): Outcome | null {
  const contradictions = findOrderContradictions(asked, answered);
  if (contradictions.length === 0) return null;
  const message = `the response to ${describeOrder(asked, signal.orderType)} reports another order (${contradictions.join(', ')}): check the account at once`;
  return {
    status: 'unknown',
    note: message,
    evidence: toJson({ asked, answered, contradictions, alarm: message }),
    orderOpen: true,
    alarm: { name: 'order_contradicted', message },
  };
}

/** An exchange of another dialect ignores the client order id, and then no lookup could find the order. */
function alarmOfMissingId(order: Order, asked: OrderRequest): Alarm | undefined {
  if (order.clientOrderId === asked.clientOrderId) return undefined;
  const message = `the exchange reports client order id "${order.clientOrderId}" instead of "${asked.clientOrderId}": check that relay.config.ts names the dialect of this exchange`;
  return { name: 'order_contradicted', message };
}

/** The order itself is the requested one, so it stays placed. */
function alarmOfOtherProtection(order: Order, asked: OrderRequest): Alarm | undefined {
  const gaps = findProtectionGaps(asked, order);
  if (gaps.length === 0) return undefined;
  const message = `the response to order ${order.orderId} reports another protection (${gaps.join(', ')}): check the order and its position at once`;
  return { name: 'order_contradicted', message };
}

/** The status of an order whose request failed, by the kind of failure. */
const orderStatusOfFailure: Readonly<Record<Failure['kind'], Status>> = {
  not_sent: 'not_sent',
  rate_limited: 'unknown',
  rejected: 'rejected',
  ambiguous: 'unknown',
};

function failedOrder(error: ExchangeError): Outcome {
  const status = orderStatusOfFailure[error.failure.kind];
  return {
    status,
    note: error.message,
    evidence: describeAttempts(error),
    facts: refusalFacts(error),
    // An order that may exist counts as open, so that a cancellation includes it.
    orderOpen: status === 'unknown',
  };
}

function refusalFacts({ failure }: ExchangeError): StepFacts {
  return failure.kind === 'rejected' && failure.exchangeCode !== null
    ? { refusedCode: failure.exchangeCode }
    : {};
}

/** Every attempt with its failure, the action of the error catalogue, and the given findings. */
export function describeAttempts(error: ExchangeError, findings: Readonly<Record<string, Json>> = {}): Json {
  return toJson({ failure: error.failure, attempts: error.attempts, action: error.row.action, ...findings });
}
