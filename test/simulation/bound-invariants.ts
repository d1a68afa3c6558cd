import type { Decimal } from '../../lib/base/decimal.ts';
import type { Entry } from '../../lib/ledger/entry.ts';
import { orderSignalOf } from '../../lib/ledger/sent-order.ts';
import { isMarkedReducing } from '../../lib/model/order.ts';
import { isPositionSignal, placesOrder } from '../../lib/model/signal.ts';
import type { PaperOrder } from '../../lib/paper/engine/exchange-state.ts';
import { allowanceOf, boundAt, oppositePrices } from './book-prices.ts';
import { isCancel, keyText } from './history.ts';
import type { Facts, Violation } from './invariants.ts';
import { matchOrders, type OwnOrders } from './own-orders.ts';
import { describeSent, listSentOrders, type SentOrder } from './sent-orders.ts';

/**
 * Finds guarded market orders that could fill, or have filled, beyond their bound, and orders that rest although they were
 * to fill at once or not at all.
 */
export function findUnboundOrders(facts: Facts): readonly Violation[] {
  const orders = matchOrders(facts.exchange, facts.entries);
  return [
    ...listSentOrders(facts).flatMap((sent) => findBeyond(facts, orders, sent)),
    ...findResting(facts, orders),
    ...findMeddling(facts, orders),
  ];
}

function broken(text: string): Violation {
  return { invariant: 'I18', harm: 'other', text };
}

function findBeyond(facts: Facts, orders: OwnOrders, sent: SentOrder): readonly Violation[] {
  const rate = allowanceOf(sent);
  if (rate === null) return [];
  if (sent.price === null) return [broken(`${describeSent(sent)} was sent without its bound`)];
  const bounds = oppositePrices(facts.history, sent).map((opposite) => boundAt(opposite, rate, sent));
  const [bound] = bounds.toSorted((a, b) => (sent.side === 'buy' ? b.cmp(a) : a.cmp(b)));
  // What is priced on no reading is found as such.
  if (bound === undefined) return [];
  const isBeyond = (price: Decimal) => (sent.side === 'buy' ? price.gt(bound) : price.lt(bound));
  const ids = new Set(orders.of(sent.entry).map(({ orderId }) => orderId));
  const fills = facts.exchange.deals.filter(({ orderId, price }) => ids.has(orderId) && isBeyond(price));
  return [
    ...(isBeyond(sent.price)
      ? [broken(`${describeSent(sent)} was sent with ${sent.price.toFixed()}, beyond ${bound.toFixed()}`)]
      : []),
    ...fills.map(({ price }) =>
      broken(`${describeSent(sent)} filled at ${price.toFixed()}, beyond ${bound.toFixed()}`),
    ),
  ];
}

/** Finds such orders that were still open after the ledger had said that they are placed and ended. */
function findResting({ entries, exchange, history }: Facts, orders: OwnOrders): readonly Violation[] {
  return entries.filter(mayNotRest).flatMap((entry) => {
    const seen = history.statuses.get(keyText(entry)) ?? [];
    const placedAtMs = seen.find(({ status }) => status === 'placed')?.atMs ?? Number.POSITIVE_INFINITY;
    return orders
      .of(entry)
      .filter(({ orderId, updatedAtMs }) =>
        exchange.open.has(orderId) ? entry.status !== 'unknown' : updatedAtMs > placedAtMs,
      )
      .map(({ orderId }) =>
        broken(`order ${orderId} of ${keyText(entry)} rested, and was to fill at once or not at all`),
      );
  });
}

/**
 * Market orders, as those of position actions are, and limit orders that are immediate or cancel. What protects a position
 * is of the kind that was asked for.
 */
export function mayNotRest(entry: Pick<Entry, 'signal' | 'steps'>): boolean {
  const { signal } = entry;
  if (signal === null || !placesOrder(signal)) return false;
  if (isPositionSignal(signal)) return true;
  const asked = signal.action === 'protect' ? orderSignalOf(entry) : signal;
  return asked?.orderType === 'market' || (asked?.orderType === 'limit' && asked.ioc === true);
}

/** The fields of either dialect that name an order. */
interface CancelBody {
  readonly orderId?: number;
  readonly clientOrderId?: string;
  readonly client_order_id?: string;
}

/** Finds lookups that cancelled an order which may rest, and which protected no position. */
function findMeddling({ history, exchange, entries }: Facts, orders: OwnOrders): readonly Violation[] {
  // A lookup that knows an order from its fills only cancels it by its client order id.
  const mayEnd = new Set<number | string | null>(
    entries
      .filter(mayNotRest)
      .flatMap((entry) => [
        entry.clientOrderId,
        ...orders.of(entry).map((order: PaperOrder) => order.orderId),
      ]),
  );
  // The lookup of a close ends what protected the position. I19 says which of it may stay.
  const isExit = (order: number | string | null) => {
    const found = exchange.orders.get(Number(order));
    return found !== undefined && (found.parentId !== null || isMarkedReducing(found));
  };
  return history.sends
    .filter(({ path, invocation }) => isCancel(path) && invocation?.handlerName === 'reconcile')
    .map(({ body }) => JSON.parse(body) as CancelBody)
    .map(({ orderId, clientOrderId, client_order_id }) => orderId ?? clientOrderId ?? client_order_id ?? null)
    .filter((order) => !mayEnd.has(order) && !isExit(order))
    .map((order) => broken(`a lookup cancelled order ${order}, which may rest`));
}
