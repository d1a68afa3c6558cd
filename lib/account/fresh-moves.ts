import { type Decimal, maximum, parseDecimal, sumOf, zero } from '../base/decimal.ts';
import type { ExchangeClient, SendOptions } from '../exchange/client.ts';
import { executedHistory } from '../exchange/endpoints/executed-history.ts';
import { ifRead } from '../exchange/errors.ts';
import type { Entry } from '../ledger/entry.ts';
import { filledBy, listRecords, type OrderRecord } from '../ledger/order-record.ts';
import { isStillOpen, mayStillBeOpen } from '../model/execution.ts';
import type { Deal } from '../model/holdings.ts';
import type { LastOrder } from './trust-reading.ts';

/** Enough for half a minute: the newest deals come first. */
const mostDeals = 50;

/**
 * What resting orders and exits of this relay have filled in a market that the ledger does not tell yet: following reads it
 * seconds later, and the list of positions may be older.
 *
 * Deals by others are left out: a robot that trades beside would hold every alert back. Where the deals cannot be read, nothing
 * is found.
 *
 * @param entries of the account, oldest first
 */
export async function findFreshMoves(
  client: ExchangeClient,
  market: string,
  entries: readonly Entry[],
  nowMs: number,
  limits: SendOptions,
): Promise<readonly LastOrder[]> {
  const resting = listRecords(entries.filter(({ signal }) => signal?.market === market)).flatMap(ordersOf);
  if (resting.length === 0) return [];
  const page = await ifRead(client.call(executedHistory, { market, limit: mostDeals }, limits));
  const deals = page?.records ?? [];
  return resting.flatMap(({ signalId, orderId, filled }): readonly LastOrder[] => {
    const own = deals.filter((deal) => deal.orderId === orderId);
    if (!sumOf(own.map(({ amount }) => amount)).gt(filled)) return [];
    const lastMs = Math.max(...own.map(({ atMs }) => atMs));
    // A clock that is behind the exchange's must not make the fill seem younger with each reading.
    return [{ signalId, answeredAtMs: Math.min(lastMs, nowMs), endedAtMs: lastMs, expected: null }];
  });
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
  /** What the ledger knows of its fills, in base units. */
  readonly filled: Decimal;
}

/** The orders of a signal that may rest: its own, and its exits. */
function ordersOf(record: OrderRecord): readonly RestingOrder[] {
  const { signalId, status, spot, orderId, state, exits, attached } = record;
  if (spot !== null) return [];
  const rests = status === 'placed' && mayStillBeOpen(state);
  const own = rests && orderId !== null ? [{ signalId, orderId, filled: filledBy(record) }] : [];
  const made = exits.flatMap(({ order }) =>
    order !== null && isStillOpen(order.status)
      ? [{ signalId, orderId: order.orderId, filled: parseDecimal(order.filled) }]
      : [],
  );
  const hidden = (attached?.exits ?? []).map((exit) => ({ signalId, orderId: exit.orderId, filled: zero }));
  return [...own, ...made, ...hidden];
}
