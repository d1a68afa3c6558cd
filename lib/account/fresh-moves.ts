import { type Decimal, formatDecimal, maximum, parseDecimal, sumOf, zero } from '../base/decimal.ts';
import type { ExchangeClient, SendOptions } from '../exchange/client.ts';
import { executedHistory } from '../exchange/endpoints/executed-history.ts';
import { ifRead } from '../exchange/errors.ts';
import { listOpenOrders } from '../exchange/list-open-orders.ts';
import { replacedIn } from '../ledger/cancel-reports.ts';
import type { Entry } from '../ledger/entry.ts';
import { filledBy, listRecords, type OrderRecord } from '../ledger/order-record.ts';
import { isStillOpen, mayStillBeOpen } from '../model/execution.ts';
import type { Deal } from '../model/holdings.ts';
import type { Order } from '../model/order.ts';
import type { LastOrder } from './trust-reading.ts';

/** Enough for half a minute: the newest deals come first. */
const mostDeals = 50;

/** What an order has filled, or may have; `endedAtMs` is null where no deal tells when. */
export interface FreshMove extends LastOrder {
  /** Whether the order is there to reduce a position alone. */
  readonly reduces: boolean;
}

/**
 * What resting orders and exits of this relay have filled in a market, or may have, that the ledger does not tell yet: following
 * reads it seconds later, and the list of positions may be older. An order that the list of open orders does not show any more
 * may have filled, although no deal of it is listed yet.
 *
 * Deals by others are left out: a robot that trades beside would hold every alert back. Where a list cannot be read, it tells
 * nothing.
 *
 * @param entries of the account, oldest first
 */
export async function findFreshMoves(
  { ledger }: { readonly ledger: object },
  client: ExchangeClient,
  market: string,
  entries: readonly Entry[],
  nowMs: number,
  limits: SendOptions,
): Promise<readonly FreshMove[]> {
  const records = listRecords(entries.filter(({ signal }) => signal?.market === market));
  const ended = replacedIn(entries);
  const resting = records.flatMap(ordersOf).filter(({ orderId }) => !ended.has(orderId));
  if (resting.length === 0) return [];
  const [page, open] = await Promise.all([
    ifRead(client.call(executedHistory, { market, limit: mostDeals }, limits)),
    // The documented dialect lists no orders of other kinds, so that one is missing there proves nothing.
    client.dialect === 'live' ? ifRead(listOpenOrders(client, market, limits)) : null,
  ]);
  const dealsOf = Map.groupBy(page?.records ?? [], ({ orderId }) => orderId ?? null);
  const dealt = resting.map((order) => {
    const deals = dealsOf.get(order.orderId) ?? [];
    return { ...order, deals, dealt: sumOf(deals.map(({ amount }) => amount)) };
  });
  const since = missedSince(ledger);
  return dealt.flatMap((order): readonly FreshMove[] => {
    const { signalId, orderId, filled, reduces, deals } = order;
    if (open?.isWhole !== true || !isMissed(order, dealt, open.orders)) since.delete(orderId);
    else {
      const answeredAtMs = since.get(orderId) ?? nowMs;
      since.set(orderId, answeredAtMs);
      return [{ signalId, answeredAtMs, endedAtMs: null, expected: null, reduces }];
    }
    if (!order.dealt.gt(filled)) return [];
    const lastMs = Math.max(...deals.map(({ atMs }) => atMs));
    // A clock that is behind the exchange's must not make the fill seem younger with each reading.
    return [{ signalId, answeredAtMs: Math.min(lastMs, nowMs), endedAtMs: lastMs, expected: null, reduces }];
  });
}

/** By the store of a process: since when it misses an order, by its id. */
const missed = new WeakMap<object, Map<number, number>>();
const mostMissed = 1000;

function missedSince(ledger: object): Map<number, number> {
  const known = missed.get(ledger);
  // One that is forgotten is waited for anew.
  const since = known === undefined || known.size > mostMissed ? new Map<number, number>() : known;
  missed.set(ledger, since);
  return since;
}

/** Whether an order has ended, or filled further, and the listed deals do not tell all that it may have filled. */
function isMissed(
  { signalId, orderId, amount, filled, dealt, isHidden, isExit }: DealtOrder,
  others: readonly DealtOrder[],
  open: readonly Order[],
): boolean {
  const known = dealt.gt(filled) ? dealt : filled;
  const listed = open.find((order) => order.orderId === orderId);
  if (listed !== undefined) return listed.filled.gt(known);
  // The exchange cancels an exit whose partner has filled.
  const hasPartner = others.some(
    (other) => isExit && other.isExit && other.signalId === signalId && other.dealt.gt(other.filled),
  );
  return !isHidden && !hasPartner && (amount === null || known.lt(amount));
}

/**
 * Whether deals that the ledger does not know, as of orders by hand, have closed what an order left open. False where they
 * cannot be read.
 *
 * @param entries of the account and of the side of the position
 */
export async function wasClosedSince(
  client: ExchangeClient,
  market: string,
  { left = zero, endedAtMs }: LastOrder,
  entries: readonly Entry[],
  limits: SendOptions,
): Promise<boolean> {
  const known = filledByOrder(entries);
  const page = await ifRead(client.call(executedHistory, { market, limit: mostDeals }, limits));
  const ofOrders = Map.groupBy(page?.records ?? [], ({ orderId }) => orderId ?? null);
  const unknown = [...ofOrders].map(([orderId, deals]) => {
    const filled = known.get(orderId ?? Number.NaN);
    if (filled === undefined) return sumOf(deals.filter(({ atMs }) => atMs >= (endedAtMs ?? 0)).map(signed));
    const more = maximum(sumOf(deals.map(({ amount }) => amount)).minus(filled), zero);
    return deals[0]?.side === 'sell' ? more.neg() : more;
  });
  return left.plus(sumOf(unknown)).eq(zero);
}

const signed = ({ side, amount }: Pick<Deal, 'side' | 'amount'>) => (side === 'buy' ? amount : amount.neg());

/** What is known of the fills of orders and of their exits, by their ids, in base units. */
function filledByOrder(entries: readonly Entry[]): ReadonlyMap<number, Decimal> {
  return new Map(
    listRecords(entries).flatMap((record) => {
      const exits = record.exits.flatMap(({ order }) => order ?? []);
      const made = exits.map(({ orderId, filled }) => [orderId, parseDecimal(filled)] as const);
      return record.orderId === null ? made : [[record.orderId, filledBy(record)] as const, ...made];
    }),
  );
}

interface RestingOrder {
  readonly signalId: string;
  readonly orderId: number;
  /** In base units; null when it is not known. */
  readonly amount: Decimal | null;
  /** What the ledger knows of its fills, in base units. */
  readonly filled: Decimal;
  readonly isExit: boolean;
  /** Whether it is there to reduce a position alone: the exchange ends it where nothing is left. */
  readonly reduces: boolean;
  /** Whether no list of orders shows it while it is open. */
  readonly isHidden: boolean;
}

interface DealtOrder extends RestingOrder {
  /** What the listed deals have filled of it, in base units. */
  readonly dealt: Decimal;
}

/** The orders of a signal that may rest: its own, and its exits. */
function ordersOf(record: OrderRecord): readonly RestingOrder[] {
  const { signalId, status, spot, orderId, amount, state, exits, exitsEnded, attached, cancelled } = record;
  if (spot !== null) return [];
  const rests = status === 'placed' && mayStillBeOpen(state) && cancelled === null;
  const filled = filledBy(record);
  const reduces = record.protects !== null || record.asked?.reduceOnly === true;
  const own =
    rests && orderId !== null
      ? [{ signalId, orderId, amount, filled, isExit: false, reduces, isHidden: false }]
      : [];
  const made = exits.flatMap(({ order }) => {
    if (order === null || !isStillOpen(order.status)) return [];
    const ofOrder = {
      amount: parseDecimal(order.amount ?? formatDecimal(filled)),
      filled: parseDecimal(order.filled),
    };
    return [
      { signalId, orderId: order.orderId, ...ofOrder, isExit: true, reduces: true, isHidden: exitsEnded },
    ];
  });
  const hidden = (attached?.exits ?? []).map((exit) => ({
    ...{ signalId, orderId: exit.orderId, amount: null, filled: zero },
    ...{ isExit: true, reduces: true, isHidden: true },
  }));
  return [...own, ...made, ...hidden];
}
