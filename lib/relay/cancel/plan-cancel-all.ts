import type { ExchangeClient } from '../../exchange/client.ts';
import { ExchangeError } from '../../exchange/errors.ts';
import { longestLagMs } from '../../exchange/lag.ts';
import { legsOf, listGroups, noGroups } from '../../exchange/list-groups.ts';
import { listOpenOrders } from '../../exchange/list-open-orders.ts';
import type { Entry } from '../../ledger/entry.ts';
import { mostBelieved } from '../../ledger/ledger.ts';
import { type Account, findRehearsalReason } from '../../model/account.ts';
import type { ConditionalOrder, Order } from '../../model/order.ts';
import { mayOpen } from '../../signals/may-open.ts';
import { deny, type Plan } from '../execute/action.ts';
import type { ExecuteServices } from '../services.ts';
import { groupToCancel, orderToCancel } from './ask-to-cancel.ts';
import { type CancellableOrder, ready, targetOf } from './plan-cancel.ts';
import { createReadBack } from './read-back.ts';
import { type CancelAllEntry, findUnclosed, withProtectionKept } from './unclosed.ts';

/** Orders to cancel, newest first, and how many more may be open but are left out for lack of time. */
interface Chosen {
  readonly targets: readonly CancellableOrder[];
  readonly leftOut: number;
}

/** What is open in the market at the exchange. */
interface Listed {
  readonly open: readonly Order[];
  /** Pairs, and orders with a planned stop-loss or take-profit. Of the scope `market` only. */
  readonly groups: readonly ConditionalOrder[];
}

/** The most orders to cancel one by one when no list shows which of them are open. */
const mostGuessed = 100;
/** The most entries one run closes, because its time is short; the next run closes the rest. */
const mostClosed = 200;

/**
 * Builds the requests that cancel the open orders of the market: those of this account's signals, or with the scope
 * `market` all of them. Where the exchange lists open orders, what is still open afterwards is read back and reported. What
 * protects a position that the order before it in its alert should have closed, and has not, stays.
 *
 * @param withdrawn ids of the waiting signals that this cancellation withdrew
 * @see DECISIONS 93
 */
export async function planCancelAll(
  services: ExecuteServices,
  account: Account,
  entry: CancelAllEntry,
  withdrawn: readonly string[],
): Promise<Plan> {
  const { signal } = entry;
  const { market, scope: asked = 'own' } = signal;
  const client = await services.exchangeFor(account.name);
  if (asked !== 'own' && client.dialect !== 'live') return denyMarketScope(client.dialect);
  const left = await findUnclosed(services, client, account, entry);
  if (left.kind === 'waits') return { verdict: 'waiting', reason: left.reason, mayPassSoon: true };
  const unclosed = left.kind === 'perhaps' ? left : null;
  const scope = unclosed === null ? asked : 'own';
  // Orders on spot have no stop-loss and no take-profit.
  const hasGroups = scope !== 'own' && account.markets[market]?.tradesOn !== 'spot';
  const openOrders = await services.ledger.openOrders(account.name, market, mostBelieved);
  const isMeant = (order: Entry) =>
    unclosed === null || (order.signal !== null && mayOpen(order.signal, account));
  // As the exits that the exchange makes from an entry, which carry no name of this relay.
  const believed = openOrders.filter(
    (order) => isMeant(order) && (scope !== 'own' || order.signal?.action !== 'protect'),
  );
  // An order may be open although the ledger counts it as ended. An account that only rehearses has no orders at the
  // exchange.
  const mayBeOpen =
    believed.length > 0 || findRehearsalReason(account.mode, services.isPaperExchange) === null;
  const listed = mayBeOpen ? await listSafely(services, client, market, hasGroups) : null;
  const open = listed?.open ?? null;
  const own =
    open === null
      ? { entries: believed.slice(0, mostGuessed), leftOut: Math.max(0, believed.length - mostGuessed) }
      : { entries: await chooseListed(services, account.name, believed, open, isMeant), leftOut: 0 };
  const chosen: Chosen = {
    // Newest first: time may run out, and the oldest orders have most likely been filled.
    targets: own.entries.map((entry) => targetOf(client, entry, market)),
    leftOut: own.leftOut,
  };
  const pairs = (listed?.groups ?? []).filter(({ kind }) => kind === 'oco');
  const inPairs = new Set(pairs.flatMap(legsOf).map(({ orderId }) => orderId));
  const alone = (open ?? []).filter(({ orderId }) => !inPairs.has(orderId));
  const all = scope !== 'own' ? withForeign(client, market, chosen, alone) : chosen;
  // An order with a planned stop-loss is cancelled by itself, so that the response proves what was cancelled.
  const groups = pairs.map((pair) => groupToCancel(client, market, pair));
  const plan = ready(
    services,
    'cancelled',
    all.targets,
    { leftOut: all.leftOut, withdrawn },
    createReadBack(services, client, { market, scope, targets: all.targets, hasGroups }),
    groups,
  );
  return unclosed === null ? plan : withProtectionKept(plan, unclosed);
}

function denyMarketScope(dialect: string): Plan {
  return deny(
    'scope_not_in_dialect',
    'scope "own"',
    'scope "market"',
    `in the dialect "${dialect}" the exchange does not list the open orders of a market, so nobody can tell which are left; remove "scope" to cancel the orders of this relay`,
  );
}

/** Adds the orders that this relay did not place. */
function withForeign(
  client: ExchangeClient,
  market: string,
  { targets, leftOut }: Chosen,
  open: readonly Order[],
): Chosen {
  const own = new Set(targets.map(({ name }) => name.orderId));
  const foreign = open
    .filter(({ orderId }) => !own.has(orderId))
    .map(
      ({ orderId }): CancellableOrder => ({
        ...orderToCancel(client, { market, orderId, clientOrderId: null }),
        placedBy: null,
      }),
    );
  return { targets: [...targets, ...foreign], leftOut };
}

/** @returns null when a list is incomplete or cannot be read; the ledger's open orders are used instead */
async function listSafely(
  services: ExecuteServices,
  client: ExchangeClient,
  market: string,
  hasGroups: boolean,
): Promise<Listed | null> {
  if (client.dialect !== 'live') return null;
  try {
    const timeoutMs = services.exchangeTimeoutMs / 2;
    // Slow lists of many pages must leave time for the cancellations.
    const notAfterMs = services.clock.nowMs() + timeoutMs;
    const limits = { timeoutMs, notAfterMs };
    const { groups, isWhole } = hasGroups ? await listGroups(client, market, limits) : noGroups;
    const open = await listOpenOrders(client, market, limits);
    return isWhole && open.isWhole ? { open: open.orders, groups } : null;
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
  isMeant: (order: Entry) => boolean,
): Promise<readonly Entry[]> {
  const own = new Map<string, Entry>();
  const named = new Map(believed.map((entry) => [entry.clientOrderId, entry]));
  for (const { market, orderId, clientOrderId } of open) {
    const entry = named.get(clientOrderId) ?? (await services.ledger.findOrder(account, market, orderId));
    if (entry !== null && entry.signal?.action !== 'protect' && isMeant(entry))
      own.set(entry.signalId, entry);
  }
  const longAgoMs = services.clock.nowMs() - longestLagMs;
  // The list must show what was placed that long ago, if it is open.
  const hasEnded = ({ status, updatedAtMs }: Entry) => status === 'placed' && updatedAtMs <= longAgoMs;
  const missing = believed.filter(({ signalId }) => !own.has(signalId));
  for (const entry of missing) if (!hasEnded(entry)) own.set(entry.signalId, entry);
  const ended = missing.filter(hasEnded).slice(0, mostClosed);
  await Promise.all(ended.map((entry) => services.ledger.closeOrder(entry)));
  return [...own.values()].sort((one, other) => other.createdAtMs - one.createdAtMs);
}
