import type { Entry, EntryKey } from '../../lib/ledger/entry.ts';
import type { OrderState } from '../../lib/paper/server/state.ts';
import type { PlannedOrder, PlannedSignal } from './alerts.ts';
import type { Facts } from './facts.ts';
import { pricedAmountOf } from './plan-alerts.ts';
import type { SentAlert } from './sender.ts';

/** A broken promise. */
export interface Violation {
  readonly wrong: Wrong;
  /** One sentence. */
  readonly what: string;
  /** Everything that is known about it, line by line. */
  readonly details: readonly string[];
}

export type Wrong =
  /** The relay acknowledged it, and its ledger does not have it. */
  | 'lost'
  /** More than one order, or the possibility of it. */
  | 'duplicated'
  /** Neither an outcome nor an alarm. */
  | 'silent'
  /** The owner was not told of it. */
  | 'untold'
  /** The owner was told of it again without need. */
  | 'retold'
  /** Ledger, exchange and senders contradict each other. */
  | 'disagreement'
  /** A secret in a log or store that must not contain it. */
  | 'leak'
  /** The relay ended by itself. */
  | 'breakdown';

/** The facts, with lookups between alerts, entries and orders. */
export interface Evidence extends Facts {
  /** The orders that creates made, without the stop-losses and take-profits that they placed. */
  readonly created: readonly OrderState[];
  alertOf(entry: Entry): SentAlert | null;
  entriesOf(alert: SentAlert): readonly Entry[];
  entryOf(key: EntryKey): Entry | null;
  ordersOf(entry: Entry): readonly OrderState[];
  /** The entry that an order's client order id names. */
  entryOfOrder(order: OrderState): Entry | null;
  /** The alert that asked for an order of this content, whatever its id. */
  alertOfContent(content: string): SentAlert | null;
}

export function gatherEvidence(facts: Facts): Evidence {
  const byId = new Map(facts.exchange.orders.map((order) => [order.orderId, order]));
  const created = facts.exchange.acceptedOrderIds.flatMap((orderId) => byId.get(orderId) ?? []);
  const alerts = new Map(facts.alerts.map((alert) => [bytesOf(alert), alert]));
  const entriesByBytes = Map.groupBy(facts.entries, bytesOf);
  const entries = new Map(facts.entries.map((entry) => [nameOf(entry), entry]));
  const ordersByName = Map.groupBy(created, ({ clientOrderId }) => clientOrderId);
  const entriesByOrderName = new Map(facts.entries.map((entry) => [entry.clientOrderId, entry]));
  const alertsByContent = new Map(
    facts.alerts.flatMap((alert) =>
      alert.signals.filter(isOrder).map((signal) => [contentOf(signal), alert]),
    ),
  );
  return {
    ...facts,
    created,
    alertOf: (entry) => alerts.get(bytesOf(entry)) ?? null,
    entriesOf: (alert) => entriesByBytes.get(bytesOf(alert)) ?? [],
    entryOf: (key) => entries.get(nameOf(key)) ?? null,
    ordersOf: ({ clientOrderId }) => (clientOrderId === null ? [] : (ordersByName.get(clientOrderId) ?? [])),
    entryOfOrder: ({ clientOrderId }) => entriesByOrderName.get(clientOrderId) ?? null,
    alertOfContent: (content) => alertsByContent.get(content) ?? null,
  };
}

/** A unique name of a signal. */
export function nameOf({ account, signalId }: EntryKey): string {
  return `${account}/${signalId}`;
}

function bytesOf({ account, fingerprint }: Pick<Entry, 'account' | 'fingerprint'>): string {
  return `${account}/${fingerprint}`;
}

function isOrder(signal: PlannedSignal): signal is PlannedOrder {
  return signal.action === 'order';
}

/** The content of an order without its ids; no two planned orders have the same. */
export function contentOf(order: PlannedOrder | OrderState): string {
  const price = 'limitPrice' in order ? order.limitPrice : order.price;
  // A guarded market order has a limit price that the relay computes; its amount is its own.
  const isPriced = order.amount === pricedAmountOf(order.market);
  return `${order.side} ${order.amount} ${order.market} ${isPriced ? `at ${price}` : 'at market'}`;
}

/** Whether any response to the alert had an HTTP status of this class: 2 for 2xx. */
export function hadResponse({ deliveries }: SentAlert, hundreds: number): boolean {
  return deliveries.some(({ httpStatus }) => Math.floor((httpStatus ?? 0) / 100) === hundreds);
}
