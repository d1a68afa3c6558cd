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

/** Orders to cancel, newest first, and how many more there may be that nobody has the time to ask for. */
interface Chosen {
  readonly entries: readonly Entry[];
  readonly leftOut: number;
}

/** As many as are asked for one by one where the exchange has no list of what is open. */
const mostGuessed = 100;

/**
 * Builds the requests that cancel every order of this account that is open in the market.
 *
 * @param withdrawn signals that were still waiting and were ended for this
 */
export async function planCancelAll(
  services: ExecuteServices,
  account: Account,
  { market }: CancelAllSignal,
  withdrawn: readonly string[],
): Promise<Plan> {
  const client = await services.exchangeFor(account.name);
  const believed = await services.ledger.openOrders(account.name, market, mostBelieved);
  // What the ledger takes for ended may be open all the same; an account that only rehearses has nothing at the exchange.
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
    // Newest first: what was placed long ago has most likely been filled, and time may run out.
    entries.map((entry) => targetOf(client, entry, market)),
    { leftOut, withdrawn },
  );
}

/** @returns null where the exchange lists too little, or nothing now: then the ledger's belief has to do */
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

/** Of what the exchange holds open, the account's own; and what is too young to show in a list that lags. */
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
