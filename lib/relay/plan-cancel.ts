import { type Json, toJson } from '../base/json.ts';
import type { ExchangeClient, PreparedRequest } from '../exchange/client.ts';
import { cancelOrder } from '../exchange/endpoints/cancel-order.ts';
import { ExchangeError } from '../exchange/errors.ts';
import type { Entry } from '../ledger/entry.ts';
import type { Account } from '../model/account.ts';
import type { Order } from '../model/order.ts';
import type { Status } from '../model/outcome.ts';
import type { CancelAllSignal, CancelSignal, Signal } from '../model/signal.ts';
import { deny, type Ending, type Plan, sendOptionsOf } from './action.ts';
import { describeRequest, evidenceOf } from './plan-order.ts';
import type { ExecuteServices } from './services.ts';

/** One order to cancel: how the exchange knows it, and the entry that placed it, if one did. */
interface Target {
  readonly request: PreparedRequest<Order>;
  readonly placedBy: Entry | null;
}

/** What became of one target. */
interface TargetEnding {
  readonly status: Status;
  readonly note: string;
  readonly evidence: Json;
}

/** Finds the one order an alert names and builds the request that cancels it. */
export async function planCancel(
  services: ExecuteServices,
  account: Account,
  signal: CancelSignal,
): Promise<Plan> {
  const client = await services.exchangeFor(account.name);
  const { market, target } = signal;
  switch (target.by) {
    case 'orderId':
      return ready(services, signal, [
        { request: client.prepare(cancelOrder, { market, orderId: target.orderId }), placedBy: null },
      ]);
    case 'clientOrderId':
      return ready(services, signal, [
        {
          request: client.prepare(cancelOrder, { market, clientOrderId: target.clientOrderId }),
          placedBy: null,
        },
      ]);
    case 'signalId': {
      const placedBy = await services.ledger.read({ account: account.name, signalId: target.signalId });
      if (placedBy === null || placedBy.signal?.market !== market || placedBy.clientOrderId === null)
        return deny(
          'cancel_target',
          `an order signal of ${market}`,
          target.signalId,
          `the ledger knows no order signal "${target.signalId}" of ${market}; nothing was cancelled`,
        );
      if (!mayExist(placedBy.status))
        return deny(
          'cancel_target',
          'a signal whose order was sent',
          placedBy.status,
          `signal "${target.signalId}" ended as ${placedBy.status}: there is no order to cancel`,
        );
      return ready(services, signal, [targetOf(client, placedBy, market)]);
    }
  }
}

/** Builds the requests that cancel every order the ledger knows as open in the market. */
export async function planCancelAll(
  services: ExecuteServices,
  account: Account,
  signal: CancelAllSignal,
): Promise<Plan> {
  const client = await services.exchangeFor(account.name);
  const open = await services.ledger.openOrders(account.name, signal.market);
  return ready(
    services,
    signal,
    open.map((entry) => targetOf(client, entry, signal.market)),
  );
}

function mayExist(status: Status): boolean {
  return status === 'placed' || status === 'unknown' || status === 'sending';
}

/** The client order id names the order even when the answer that held the exchange's own id was lost. */
function targetOf(client: ExchangeClient, entry: Entry, market: string): Target {
  const request =
    entry.orderId !== null
      ? client.prepare(cancelOrder, { market, orderId: entry.orderId })
      : client.prepare(cancelOrder, { market, clientOrderId: entry.clientOrderId ?? '' });
  return { request, placedBy: entry };
}

function ready(services: ExecuteServices, signal: Signal, targets: readonly Target[]): Plan {
  return {
    verdict: 'ready',
    action: {
      isOrder: false,
      requests: targets.map(({ request }) => describeRequest(request)),
      send: () => cancelTargets(services, signal, targets),
    },
  };
}

async function cancelTargets(
  services: ExecuteServices,
  signal: Signal,
  targets: readonly Target[],
): Promise<Ending> {
  const endings: TargetEnding[] = [];
  for (const target of targets) endings.push(await cancelTarget(services, signal, target));
  const [only] = endings;
  if (only !== undefined && endings.length === 1) return only;
  const worst = worstFirst.find((status) => endings.some((ending) => ending.status === status));
  return {
    status: worst ?? 'cancelled',
    note: summarise(endings),
    evidence: { orders: endings.map((ending) => ({ ...ending })) },
  };
}

/** Several cancellations in one signal end as the one that needs most attention. */
const worstFirst: readonly Status[] = ['unknown', 'rejected', 'not_sent', 'cancelled'];

function summarise(endings: readonly TargetEnding[]): string {
  if (endings.length === 0) return 'nothing was open in this market, as far as the ledger knows';
  const counts = worstFirst
    .map((status) => ({ status, count: endings.filter((ending) => ending.status === status).length }))
    .filter(({ count }) => count > 0);
  return `of ${endings.length} orders: ${counts.map(({ status, count }) => `${count} ${status}`).join(', ')}`;
}

async function cancelTarget(
  services: ExecuteServices,
  signal: Signal,
  target: Target,
): Promise<TargetEnding> {
  try {
    const order = await target.request.send(sendOptionsOf(services, signal));
    if (target.placedBy !== null) await services.ledger.closeOrder(target.placedBy);
    return {
      status: 'cancelled',
      note: `order ${order.orderId} is cancelled`,
      evidence: { order: toJson(order) },
    };
  } catch (error) {
    if (!(error instanceof ExchangeError)) throw error;
    return await failedCancel(services, target, error);
  }
}

async function failedCancel(
  services: ExecuteServices,
  target: Target,
  error: ExchangeError,
): Promise<TargetEnding> {
  const notOpen = isNotOpen(error);
  // An order whose answer was lost may still be on its way in: "not found" today does not close it.
  if (notOpen && target.placedBy?.status === 'placed') await services.ledger.closeOrder(target.placedBy);
  const status = cancelStatusOf(error);
  const note = notOpen ? notOpenNotes[status === 'unknown' ? 'afterLostAnswer' : 'plain'] : error.message;
  return { status, note, evidence: evidenceOf(error) };
}

const notOpenNotes = {
  plain: 'the order is not open: it was filled, cancelled before, or never placed',
  afterLostAnswer:
    'the order is no longer open, but an answer was lost: it was cancelled, or filled before that',
};

/** After a lost answer a refusal cannot tell our own cancellation from a fill that came first. */
function cancelStatusOf({ failure, attempts }: ExchangeError): Status {
  if (attempts.some(({ failure: earlier }) => earlier.kind === 'ambiguous')) return 'unknown';
  return failure.kind === 'rejected' ? 'rejected' : 'not_sent';
}

/**
 * Whether the exchange says that there is no such open order.
 *
 * Code 2 alone is ambiguous (a disabled key has it too); only together with `orderId` it means "not found".
 */
function isNotOpen({ failure }: ExchangeError): boolean {
  return failure.kind === 'rejected' && failure.exchangeCode === 2 && failure.errors['orderId'] !== undefined;
}
