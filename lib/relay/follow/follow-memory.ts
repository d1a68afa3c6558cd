import type { DealsState } from '../../account/account-deals.ts';
import { withAsset } from '../../account/doubled-deals.ts';
import type { ExchangeClient, SendOptions } from '../../exchange/client.ts';
import { farthestBackMs, longestLagMs } from '../../exchange/lag.ts';
import {
  type AccountDeal,
  type EndedOrder,
  type ListedWhole,
  listAccountDeals,
  listEndedOrders,
  readListedOrder,
} from '../../exchange/list-account.ts';
import { listOpenOrders } from '../../exchange/list-open-orders.ts';
import type { HiddenMarkets } from '../../exchange/listed.ts';
import type { Entry } from '../../ledger/entry.ts';
import type { Order } from '../../model/order.ts';
import { AskedActs } from '../protect/keep-protection.ts';
import type { Unnamed } from './followed-exits.ts';
import { createKnownOrder, type KnownOrder, type ListedState, takeReport } from './followed-order.ts';

/** The lists of an account, read one after the other: an order that ends in between is in two of them, not in none. */
export interface AccountReading {
  readonly open: readonly Order[];
  readonly ended: readonly EndedOrder[];
  readonly deals: readonly AccountDeal[];
  /** Where an order may be open that could not be read. */
  readonly hiddenOpen: HiddenMarkets;
}

/** An order of the exchange, by its market and id. */
export interface OrderPlaceName {
  readonly market: string;
  readonly orderId: number;
}

export interface GoneFills {
  /** In base units. */
  readonly filled: string;
  readonly sinceMs: number;
  isTold: boolean;
}

/**
 * What one process knows of the orders of one account. A process that begins anew asks for more orders alone, counts anew for
 * how long an order is missing and a position is calm, and may not know which entry had an exit of an entry that is done.
 */
export class AccountMemory {
  readonly #orders = new Map<string, KnownOrder>();
  /** Exits that entries have claimed which are no longer followed. */
  readonly claimed = new Set<number>();
  /** By signal: since when its position is seen as gone or covered. */
  readonly calmSinceMs = new Map<string, number>();
  /** By signal: of how much that it filled the position is gone, since when, and whether exits of it that nothing shows were told. */
  readonly gone = new Map<string, GoneFills>();
  /** When the account may be read again after a failure, and how long the last pause was. */
  pause = { untilMs: 0, lengthMs: 0 };
  /** Since when every reading has failed, and when the alarm was last raised; null: the last one succeeded. */
  failing: { readonly sinceMs: number; readonly alarmedAtMs: number | null } | null = null;
  /** Since and until when all deals of the account were read; null: not known here. */
  dealsState: DealsState | null = null;
  /** The deals of the last reading: those of signals, and those that are stored as of none. */
  settledDeals: ReadonlySet<string> = new Set();
  /** Which acts of protection were asked for. */
  readonly protection = new AskedActs();
  /** Which cancellations of sales were asked for. */
  readonly spentSales = new AskedActs();
  /** Where the relay only raises alarms: since when exits are seen that are more than what is left of their entries. */
  readonly tooLargeSinceMs = new Map<string, number>();
  /** Since when a stop-loss that an alert asked for the whole position is seen to be ended by another than the relay. */
  readonly unstoppedSinceMs = new Map<string, number>();
  /** Which cancellations were asked for of exits that only the list of positions has shown. */
  readonly hiddenExits = new AskedActs();
  /** The markets of which the lists of orders have not shown an exit by the time they must. */
  readonly hidesExits = new Set<string>();
  /** By id of such an exit: since when no reading shows its position. */
  readonly goneSinceMs = new Map<string, number>();
  /** By place of a position that an alert asked to protect: since when no reading shows it. */
  readonly placesGoneSinceMs = new Map<string, number>();
  #readAtMs: number | null = null;
  #readBeforeMs: number | null = null;

  /** What is known of an order. */
  knownOf(name: OrderPlaceName): KnownOrder {
    const key = orderKeyOf(name);
    const known = this.#orders.get(key) ?? createKnownOrder();
    this.#orders.set(key, known);
    return known;
  }

  /** Forgets all orders but these. */
  keepOnly(names: readonly OrderPlaceName[]): void {
    const kept = new Set(names.map(orderKeyOf));
    for (const key of this.#orders.keys()) if (!kept.has(key)) this.#orders.delete(key);
  }

  /**
   * Reads the lists of the account from a while before the previous reading on; at first from before the oldest of the
   * entries on.
   *
   * @param dealsFromMs from when on deals are read if that is earlier
   * @throws ExchangeError when a list cannot be read
   */
  async read(
    client: ExchangeClient,
    entries: readonly Entry[],
    { nowMs, dealsFromMs }: { readonly nowMs: number; readonly dealsFromMs: number },
    options: SendOptions,
  ): Promise<AccountReading> {
    const oldestMs = Math.min(...entries.map(({ createdAtMs }) => createdAtMs));
    const sinceMs = Math.min(this.#readAtMs ?? oldestMs, nowMs) - longestLagMs;
    const fromMs = Math.max(sinceMs, nowMs - farthestBackMs);
    const open = await listOpenOrders(client, null, options);
    const ended = await listEndedOrders(client, fromMs, options);
    const deals = await listAccountDeals(client, Math.min(fromMs, dealsFromMs), options);
    // What could not be read must not hold back the rest: an order that no list shows is asked for alone.
    this.#readBeforeMs = this.#readAtMs;
    this.#readAtMs = nowMs;
    return { open: open.orders, ended, deals, hiddenOpen: open.hidden };
  }

  /** What was read counts for nothing: the next reading begins where this one began. */
  readAgain(): void {
    this.#readAtMs = this.#readBeforeMs;
  }

  /** Takes over what the lists say of an order. */
  take({ open, ended, deals }: AccountIndex, name: OrderPlaceName, nowMs: number): KnownOrder {
    const known = this.knownOf(name);
    known.isListed = false;
    const key = orderKeyOf(name);
    const openOrder = open.get(key);
    const endedOrder = ended.get(key);
    if (openOrder !== undefined) takeReport(known, reportOfOpen(openOrder));
    if (endedOrder !== undefined) takeReport(known, endedOrder);
    for (const deal of deals.get(key) ?? []) known.deals.set(deal.id, withAsset(deal, name.market));
    // A time in the future was noted before the clock was set back.
    if (!known.isListed) known.missingSinceMs = Math.min(known.missingSinceMs ?? nowMs, nowMs);
    return known;
  }

  /**
   * Asks for one order and all its fills.
   *
   * @throws ExchangeError when a list cannot be read
   */
  async ask(
    client: ExchangeClient,
    name: OrderPlaceName,
    nowMs: number,
    options: SendOptions,
  ): Promise<void> {
    const known = this.knownOf(name);
    known.tries += 1;
    const listed: ListedWhole = await readListedOrder(client, name, options);
    if (listed.open !== null) takeReport(known, reportOfOpen(listed.open));
    if (listed.ended !== null) takeReport(known, listed.ended);
    for (const deal of listed.deals) known.deals.set(deal.id, withAsset(deal, name.market));
    known.askedAtMs = nowMs;
    known.isAnswerWhole = listed.isWhole;
  }
}

/** A reading, by order. */
export interface AccountIndex {
  readonly open: ReadonlyMap<string, Order>;
  readonly ended: ReadonlyMap<string, EndedOrder>;
  readonly deals: ReadonlyMap<string, readonly AccountDeal[]>;
}

export function indexReading({ open, ended, deals }: AccountReading): AccountIndex {
  return {
    open: new Map(open.map((order) => [orderKeyOf(order), order])),
    ended: new Map(ended.map((order) => [orderKeyOf(order), order])),
    deals: Map.groupBy(deals, orderKeyOf),
  };
}

/** By this an order is found in an index. */
export function orderKeyOf({ market, orderId }: OrderPlaceName): string {
  return `${market} ${orderId}`;
}

function reportOfOpen({ status, filled }: Order): ListedState {
  return { status, filled, endedAtMs: null };
}

/** The orders of a reading that carry no client order id. An order that is in both lists has ended. */
export function listUnnamed({ open, ended }: AccountReading): readonly Unnamed[] {
  const orders = new Map([...open, ...ended].map((order) => [orderKeyOf(order), order]));
  return [...orders.values()].filter(({ clientOrderId }) => clientOrderId === '');
}

/** The order id of an entry whose own response never told it, if the lists show its client order id. */
export function findOrderId(
  { open, ended, deals }: AccountReading,
  clientOrderId: string | null,
): number | null {
  // An order that others placed has an empty one.
  if (clientOrderId === null) return null;
  const named = [...open, ...ended, ...deals].find((order) => order.clientOrderId === clientOrderId);
  return named?.orderId ?? null;
}
