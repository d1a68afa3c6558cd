import type { ExchangeClient } from '../exchange/client.ts';
import { ExchangeError } from '../exchange/errors.ts';
import { listOpenOrders } from '../exchange/list-open-orders.ts';
import type { Entry } from '../ledger/entry.ts';
import { type Account, findRehearsalReason } from '../model/account.ts';
import type { Order } from '../model/order.ts';
import type { CancelAllSignal } from '../model/signal.ts';
import type { Plan } from './action.ts';
import { closeMissing, mostBelieved, wasPlacedLongAgo } from './close-ended.ts';
import { ready, targetOf } from './plan-cancel.ts';
import type { ExecuteServices } from './services.ts';

/** Orders to cancel, newest first, and how many more may be open but are left out for lack of time. */
interface Chosen {
  readonly entries: readonly Entry[];
  readonly leftOut: number;
}

/** The most orders to cancel one by one when no list shows which of them are open. */
const mostGuessed = 100;

/**
 * Builds the requests that cancel every open order of this account in the market.
 *
 * @param withdrawn ids of the waiting signals that this cancellation withdrew
 */
export async function planCancelAll(
  services: ExecuteServices,
  account: Account,
  { market }: CancelAllSignal,
  withdrawn: readonly string[],
): Promise<Plan> {
  const client = await services.exchangeFor(account.name);
  const believed = await services.ledger.openOrders(account.name, market, mostBelieved);
  // An order may be open although the ledger counts it as ended. An account that only rehearses has no orders at the
  // exchange.
  const mayBeOpen =
    believed.length > 0 || findRehearsalReason(account.mode, services.isPaperExchange) === null;
  const open = mayBeOpen ? await listSafely(services, client, market) : null;
  const { entries, leftOut } =
    open === null
      ? { entries: believed.slice(0, mostGuessed), leftOut: Math.max(0, believed.length - mostGuessed) }
      : await chooseListed(services, account.name, believed, open);
  return ready(
    services,
    'cancelled',
    // Newest first: time may run out, and the oldest orders have most likely been filled.
    entries.map((entry) => targetOf(client, entry, market)),
    { leftOut, withdrawn },
  );
}

/** @returns null when the list is incomplete or cannot be read; the ledger's open orders are used instead */
async function listSafely(
  services: ExecuteServices,
  client: ExchangeClient,
  market: string,
): Promise<readonly Order[] | null> {
  if (client.dialect !== 'live') return null;
  try {
    const { orders, isWhole } = await listOpenOrders(client, market, {
      timeoutMs: services.exchangeTimeoutMs / 2,
    });
    return isWhole ? orders : null;
  } catch (error) {
    if (error instanceof ExchangeError) return null;
    throw error;
  }
}

/** Picks this relay's own among the listed open orders, and adds those too young for a list that lags. */
async function chooseListed(
  services: ExecuteServices,
  account: string,
  believed: readonly Entry[],
  open: readonly Order[],
): Promise<Chosen> {
  const own = new Map<string, Entry>();
  const named = new Map(believed.map((entry) => [entry.clientOrderId, entry]));
  for (const { market, orderId, clientOrderId } of open) {
    const entry = named.get(clientOrderId) ?? (await services.ledger.findOrder(account, market, orderId));
    if (entry !== null) own.set(entry.signalId, entry);
  }
  const missing = believed.filter(({ signalId }) => !own.has(signalId));
  for (const entry of missing)
    if (!wasPlacedLongAgo(entry, services.clock.nowMs())) own.set(entry.signalId, entry);
  await closeMissing(services, missing);
  const entries = [...own.values()].sort((one, other) => other.createdAtMs - one.createdAtMs);
  return { entries, leftOut: 0 };
}
