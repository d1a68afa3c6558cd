import { type Decimal, minimum, sumOf, zero } from '../../base/decimal.ts';
import type { Entry } from '../../ledger/entry.ts';
import { listRecords, type OrderRecord } from '../../ledger/order-record.ts';
import type { SpotBalance } from '../../model/holdings.ts';
import { currenciesInName } from '../../model/market.ts';
import { type Order, stopsLoss } from '../../model/order.ts';
import { asListed } from '../../protection/left-of.ts';
import { knownIds, leftForBuys } from '../../protection/other-stops.ts';
import { type Share, shareOut } from '../../protection/shares.ts';
import { marketsBeside, protectableIn } from '../../protection/spot-claims.ts';
import { sellable, spotLots } from '../../protection/spot-lots.ts';
import type { FollowedEntry } from './followed-entry.ts';
import type { Naked } from './uncovered.ts';

export type SpotBalances = Readonly<Record<string, SpotBalance>>;

/**
 * What of the spot buys nothing stops out. A stop-loss of this relay covers its own buy; stops by hand and those of
 * alerts cover whichever comes first. Stops by hand cover what is held beside the buys before that.
 *
 * @param balances null when they could not be read: what the relay knows to be left counts then
 * @param entries the followed ones, with what this reading has told of them, oldest first
 */
export function createUncoveredSpot(
  balances: SpotBalances | null,
  open: readonly Order[],
  entries: readonly Entry[],
) {
  // The fills of an order are listed later than what is left of it.
  const records = asListed(listRecords(entries), open);
  const grounds = new Map<string, SpotGround>();
  const leftOfOthers = new Map<string, Decimal>();
  return {
    /**
     * @param isHidden whether an order of its market may be open that could not be read
     * @returns null when it is not known whether what nothing stops out is still held
     */
    take({ market, entry }: FollowedEntry, isHidden: boolean): Naked | null {
      const ground = grounds.get(market) ?? groundIn(market, balances, open, records);
      grounds.set(market, ground);
      const share = ground.shares.find(({ record }) => record.signalId === entry.signalId);
      const position = share?.amount ?? zero;
      const stops = open.filter((order) => order.market === market && isStop(order));
      const own = stops.filter(({ orderId }) => isOf(records, orderId, entry.signalId));
      const others = stops.filter(
        ({ orderId }) => !records.some((record) => record.orderId === orderId && record.protects !== null),
      );
      const left = leftOfOthers.get(market) ?? coveredByOthers(others, ground, records);
      const bare = position.minus(remainingOf(own));
      const covered = bare.gt(zero) ? minimum(bare, left) : zero;
      leftOfOthers.set(market, left.minus(covered));
      // What is too little for an order cannot be protected.
      const uncovered = sellable(bare.minus(covered), share?.record.spot ?? null);
      if (balances === null && uncovered.gt(zero)) return null;
      const isGone = position.eq(zero);
      return { position, uncovered, isGone, isSure: !isHidden };
    },
  };
}

interface SpotGround {
  /** What each buy has left. */
  readonly shares: readonly Share[];
  /** What is held for the market and no order of others holds, in base units; null: not known. */
  readonly unheld: Decimal | null;
  /** All that is held for the market, what orders hold included. */
  readonly balance: Decimal;
}

function groundIn(
  market: string,
  balances: SpotBalances | null,
  open: readonly Order[],
  records: readonly OrderRecord[],
): SpotGround {
  const { available = zero, freeze = zero } = balances?.[currenciesInName(market).base] ?? {};
  const known = sumOf(spotLots(records, market).values());
  const held = heldByOwn(open, records, [market, ...marketsBeside(records, market)]);
  const free = [...held.values()].reduce((rest, amount) => rest.minus(amount), available.plus(freeze));
  const amount = balances === null ? known : protectableIn(market, { free, held }, records);
  const shares = shareOut(records, { market, side: null, amount, openedAtMs: null, isSpot: true });
  const ofStops = [...held.values()].reduce((sum, one) => sum.plus(one), available);
  return { shares, unheld: balances === null ? null : ofStops, balance: amount };
}

/**
 * How much of the buys these stops cover, in base units. While the balance is not known, nobody knows of a stop by hand whether it
 * covers any.
 */
function coveredByOthers(
  stops: readonly Order[],
  { shares, unheld, balance }: SpotGround,
  records: readonly OrderRecord[],
): Decimal {
  const known = knownIds(records);
  const ofAlerts = stops.filter((stop) => known.has(stop.orderId) || known.has(stop.clientOrderId));
  if (unheld === null) return remainingOf(ofAlerts);
  const byHand = remainingOf(stops.filter((stop) => !ofAlerts.includes(stop)));
  const ofBuys = sumOf(shares.map(({ amount }) => amount));
  return remainingOf(ofAlerts).plus(leftForBuys(byHand, ofBuys, minimum(balance, unheld.plus(byHand))));
}

/** What the relay's own stop-losses hold in each of these markets. */
function heldByOwn(
  open: readonly Order[],
  records: readonly OrderRecord[],
  markets: readonly string[],
): ReadonlyMap<string, Decimal> {
  const own = new Set(records.flatMap(({ protects, orderId }) => (protects === null ? [] : orderId)));
  return new Map(
    markets.map((name) => [
      name,
      remainingOf(open.filter((order) => order.market === name && own.has(order.orderId))),
    ]),
  );
}

function isOf(records: readonly OrderRecord[], orderId: number, signalId: string): boolean {
  return records.some((record) => record.orderId === orderId && record.protects?.of === signalId);
}

/** One that has triggered and rests in the book protects nothing any more. */
function isStop(order: Order): boolean {
  return order.activated !== true && sellsLoss(order);
}

/** Whether an order is one that stops out coins. */
export function sellsLoss(order: Order): boolean {
  // One that has a side is of a position.
  return order.positionSide === undefined && order.side === 'sell' && stopsLoss(order);
}

function remainingOf(orders: readonly Order[]): Decimal {
  return sumOf(orders.map(({ remaining }) => remaining));
}
