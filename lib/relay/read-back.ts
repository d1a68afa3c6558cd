import { type Json, toJson } from '../base/json.ts';
import type { ExchangeClient, SendOptions } from '../exchange/client.ts';
import { cancelAll } from '../exchange/endpoints/cancel-all.ts';
import { ExchangeError } from '../exchange/errors.ts';
import { listOpenOrders } from '../exchange/list-open-orders.ts';
import { tradingGrounds } from '../model/account.ts';
import type { CancelScope } from '../model/signal.ts';
import type { Outcome } from './action.ts';
import { leftOpenAlarm } from './cancel-outcomes.ts';
import type { ReadBack, Target } from './plan-cancel.ts';
import type { ExecuteServices } from './services.ts';

/** What a `cancel_all` has cancelled, and in which scope. */
interface Cancelled {
  readonly market: string;
  readonly scope: CancelScope;
  readonly targets: readonly Target[];
}

/**
 * Reads the open orders of the market after a `cancel_all`, and reports those that should be gone. With the scope
 * `market` they are cancelled by one more request, which also finds orders that came in between; while the list cannot
 * be read, that request is sent in any case and the outcome is unknown.
 *
 * Without a list of the exchange, or with an unknown outcome, which a lookup settles, nothing is read.
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
    if (cancelled.scope !== 'own' && left?.length !== 0) {
      await cancelRest(client, cancelled.market, limits);
      left = await listLeft(client, cancelled, confirmed, limits);
    }
    return left === null ? reportUnread(outcome, cancelled.scope) : report(outcome, left);
  };
}

function deadlinesOf({ notAfterMs, endByMs }: SendOptions): SendOptions {
  return {
    ...(notAfterMs === undefined ? {} : { notAfterMs }),
    ...(endByMs === undefined ? {} : { endByMs }),
  };
}

/** The ids of the orders that are still open and should not be; null when they cannot be listed. */
async function listLeft(
  client: ExchangeClient,
  { market, scope, targets }: Cancelled,
  confirmed: ReadonlySet<number>,
  options: SendOptions,
): Promise<readonly number[] | null> {
  try {
    const { orders, isWhole } = await listOpenOrders(client, market, options);
    if (!isWhole) return null;
    const own = new Set(targets.map(({ name }) => name.orderId));
    const names = new Set(targets.map(({ name }) => name.clientOrderId));
    return (
      orders
        .filter(
          ({ orderId, clientOrderId }) => scope !== 'own' || own.has(orderId) || names.has(clientOrderId),
        )
        .map(({ orderId }) => orderId)
        // A list may lag behind a cancellation that the exchange has confirmed.
        .filter((orderId) => !confirmed.has(orderId))
    );
  } catch (error) {
    if (error instanceof ExchangeError) return null;
    throw error;
  }
}

async function cancelRest(client: ExchangeClient, market: string, options: SendOptions): Promise<void> {
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
  return typeof evidence === 'object' && evidence !== null && !Array.isArray(evidence)
    ? evidence
    : { evidence };
}
