import { formatDecimal, parseDecimal } from '../../lib/base/decimal.ts';
import type { Entry } from '../../lib/ledger/entry.ts';
import { orderRecordOf } from '../../lib/ledger/order-record.ts';
import {
  type OrderSignal,
  type PositionSignal,
  type ProtectSignal,
  placesOrder,
} from '../../lib/model/signal.ts';
import type { ExchangeState, PaperOrder } from '../../lib/paper/engine/exchange-state.ts';

/** The client order ids of orders that the owner placed on the exchange's own page. */
export const handPrefix = 'by-hand-';

/**
 * What identifies the order of a signal, whatever ids it carries: its limit price, or its amount in base units; all
 * limit prices and all such amounts differ. An order that has neither, because the relay or the exchange computes its
 * amount, is identified by its client order id; so is that of a strategy that holds a position, because it may want the
 * same amount again, that of an alert without id and time, because a later one has the same bytes, and that which protects
 * a position: it has the amount or the price of another one.
 */
type Identity = 'price' | 'amount' | 'id';

function identityOf(signal: OrderSignal | PositionSignal | ProtectSignal, entry: Entry): Identity {
  const { signalId } = entry;
  if (signal.action !== 'order' || signal.requirePosition !== undefined) return 'id';
  if (signal.timeMs === null && signalId.startsWith('h-')) return 'id';
  if ('limitPrice' in signal && signal.limitPrice !== null) return 'price';
  // The exchange cuts the amount of a reduce-only order to the position, and the relay that of a sale on spot by the fee.
  const record = orderRecordOf(entry);
  const mayBeCut =
    signal.reduceOnly === true ||
    record?.wasReducing === true ||
    (signal.side === 'sell' && record?.spot != null);
  return signal.size.unit === 'base' && !mayBeCut ? 'amount' : 'id';
}

/** The orders of the exchange by the signals that placed them. */
export interface OwnOrders {
  /** Every order that a request created, but those that the owner placed. */
  readonly accepted: readonly PaperOrder[];
  /** The orders of a signal; none for a cancellation. */
  of(entry: Entry): readonly PaperOrder[];
  /** Orders of the same content, or with the same client order id. */
  findTwins(): readonly (readonly [content: string, orders: readonly PaperOrder[]])[];
  /** The accepted orders that none of the entries placed. */
  placedByNone(entries: readonly Entry[]): readonly PaperOrder[];
}

export function matchOrders(exchange: ExchangeState, entries: readonly Entry[]): OwnOrders {
  const accepted = exchange.acceptedOrderIds
    .flatMap((id) => exchange.orders.get(id) ?? [])
    .filter(({ clientOrderId }) => !clientOrderId.startsWith(handPrefix));
  const known = new Map(entries.map((entry) => [idText(entry), entry]));
  const contents = new Map(accepted.map((order) => [order, contentsOf(order, known.get(idText(order)))]));
  const byContent = new Map<string, PaperOrder[]>();
  for (const [order, texts] of contents)
    for (const text of texts) byContent.set(text, [...(byContent.get(text) ?? []), order]);
  const byId = Map.groupBy(accepted, idText);
  return {
    accepted,
    of: (entry) => byContent.get(contentOfEntry(entry) ?? '') ?? [],
    findTwins: () => [...byContent, ...byId].filter(([, same]) => same.length > 1),
    placedByNone(chosen) {
      const placed = new Set(chosen.map(contentOfEntry));
      return accepted.filter((order) => contents.get(order)?.some((text) => placed.has(text)) !== true);
    },
  };
}

function contentOfEntry(entry: Entry): string | null {
  const { signal } = entry;
  if (signal === null || !placesOrder(signal)) return null;
  if (signal.action !== 'order') return idText(entry);
  switch (identityOf(signal, entry)) {
    case 'price':
      return `${signal.market} at ${plain('limitPrice' in signal ? signal.limitPrice : null)}`;
    case 'amount':
      return `${signal.market} of ${plain(signal.size.unit === 'base' ? signal.size.quantity : null)}`;
    case 'id':
      return idText(entry);
  }
}

function plain(text: string | null): string {
  return text === null ? '' : formatDecimal(parseDecimal(text));
}

/**
 * The contents of an order.
 *
 * @param entry of its client order id; without one, it may be the order of a signal with any identity
 */
function contentsOf(order: PaperOrder, entry: Entry | undefined): readonly string[] {
  const { market, price, amount } = order;
  const texts: Readonly<Record<Identity, string>> = {
    price: price === null ? `${market} without a price` : `${market} at ${formatDecimal(price)}`,
    amount: `${market} of ${formatDecimal(amount)}`,
    id: idText(order),
  };
  const signal = entry?.signal ?? null;
  return entry !== undefined && signal !== null && placesOrder(signal)
    ? [texts[identityOf(signal, entry)]]
    : Object.values(texts);
}

function idText({ account, clientOrderId }: Pick<PaperOrder | Entry, 'account' | 'clientOrderId'>): string {
  return `${account} ${clientOrderId}`;
}
