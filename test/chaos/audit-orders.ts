import { parseDecimal } from '../../lib/base/decimal.ts';
import type { Entry } from '../../lib/ledger/entry.ts';
import { isOrderEnd } from '../../lib/model/order.ts';
import type { Status } from '../../lib/model/outcome.ts';
import { placesOrder } from '../../lib/model/signal.ts';
import type { OrderState } from '../../lib/paper/server/state.ts';
import { isProtective } from './audit-protection.ts';
import { describeOrder, logAlert, logEntry } from './describe.ts';
import { contentOf, type Evidence, hadResponse, type Violation } from './evidence.ts';
import { grounds, tradingAccounts } from './relay-config.ts';
import type { SentAlert } from './sender.ts';

/** Compares the exchange's orders with the ledger and the alerts, in both directions. */
export function checkOrders(evidence: Evidence): readonly Violation[] {
  return [
    ...evidence.entries.flatMap((entry) => checkEntry(evidence, entry)),
    ...evidence.created.flatMap((order) => checkOrder(evidence, order)),
    ...findTwins(evidence.created.filter((order) => !isSizedElsewhere(evidence, order))),
    ...checkCount(evidence),
  ];
}

function checkEntry(evidence: Evidence, entry: Entry): readonly Violation[] {
  const orders = evidence.ordersOf(entry);
  const details = () => logEntry(evidence, entry);
  if (orders.length > 1)
    return [{ wrong: 'duplicated', what: `one signal led to ${orders.length} orders`, details: details() }];
  const [order = null] = orders;
  const contradictions =
    entry.signal !== null && placesOrder(entry.signal)
      ? contradict(evidence, entry, order)
      : contradictCancel(evidence, entry);
  return contradictions.map((what) => ({ wrong: 'disagreement', what, details: details() }));
}

/** Whether the status means that the order exists; statuses that are not listed allow both. */
const promisesOrder: Partial<Readonly<Record<Status, boolean>>> = {
  placed: true,
  accepted: false,
  denied: false,
  dry_run: false,
  rejected: false,
  not_sent: false,
  satisfied: false,
  not_placed: false,
};

function contradict(evidence: Evidence, entry: Entry, order: OrderState | null): readonly string[] {
  const { status, orderId, orderOpen, lookup } = entry;
  const promised = isWithdrawn(entry) ? false : promisesOrder[status];
  if (promised === true && order === null) return ['a placed order is not at the exchange'];
  if (order === null) return [];
  const wasMissedInQuiet = (lookup?.firstNotFoundAtMs ?? 0) >= evidence.quietSinceMs;
  const isOpen = !isOrderEnd(order.status);
  return [
    ...(promised === false ? [`the ledger says ${status}, but the exchange has the order`] : []),
    ...(promised === true && orderId !== order.orderId
      ? ['ledger and exchange have different order ids']
      : []),
    ...(status === 'unknown' && wasMissedInQuiet ? ['a lookup did not find an order that exists'] : []),
    ...(status === 'placed' && !orderOpen && isOpen ? ['the ledger counts an open order as closed'] : []),
    ...(status === 'placed' && isMarketOrder(entry) && isOpen ? ['a market order rests'] : []),
    ...(tradingAccounts[entry.account] === order.account ? [] : ['the order is in a wrong account']),
  ];
}

function isMarketOrder({ signal }: Entry): boolean {
  return signal?.action === 'order' && signal.orderType === 'market';
}

/** Whether a cancellation withdrew the order before it was sent. */
function isWithdrawn({ signal, status, steps }: Entry): boolean {
  return (
    signal?.action === 'order' && status === 'cancelled' && !steps.some((step) => step.status === 'sending')
  );
}

/** Finds cancellations that the ledger counts as done, but whose orders are not cancelled at the exchange. */
function contradictCancel(evidence: Evidence, { account, signal, status }: Entry): readonly string[] {
  if (signal?.action !== 'cancel' || signal.target.by !== 'signalId' || status !== 'cancelled') return [];
  const target = evidence.entryOf({ account, signalId: signal.target.signalId });
  const [order] = target === null ? [] : evidence.ordersOf(target);
  if (order?.status === 'cancelled') return [];
  if (order === undefined && target !== null && isWithdrawn(target)) return [];
  return [
    `the ledger says cancelled; at the exchange: ${order === undefined ? 'no such order' : describeOrder(order)}`,
  ];
}

function checkOrder(evidence: Evidence, order: OrderState): readonly Violation[] {
  const entry = evidence.entryOfOrder(order);
  // An order that was cut may look like one that another alert asked for.
  const cut = entry === null ? null : alertOfCut(evidence, entry, order);
  const alert = cut ?? evidence.alertOfContent(contentOf(order));
  const found = (what: string): Violation => ({
    wrong: 'disagreement',
    what,
    details: [
      describeOrder(order),
      ...(alert === null ? [] : logAlert(alert)),
      ...(entry === null ? [] : logEntry(evidence, entry)),
    ],
  });
  // Of these the ledger has the entry, and the order has its client order id.
  if (isProtective(entry)) return [];
  if (entry !== null && isClose(entry))
    return order.reduceOnly ? [] : [found('the order of a close could open a position')];
  if (alert === null) return [found('the exchange has an order that no alert asked for')];
  const isRefused = alert.flaw !== null || hadResponse(alert, 4);
  return [
    ...(isRefused ? [found('the exchange has an order of a refused alert')] : []),
    ...(entry === null ? [found('the exchange has an order that the ledger does not know')] : []),
    ...(entry !== null && entry.fingerprint !== alert.fingerprint
      ? [found('the exchange has an order with the client order id of another signal')]
      : []),
  ];
}

/**
 * The alert that asked for an order which the exchange has cut, because it only reduces, to the size of the position; or the
 * relay, because a stop-loss on spot had sold a part of it.
 */
function alertOfCut(evidence: Evidence, entry: Entry, order: OrderState): SentAlert | null {
  const alert = evidence.alertOf(entry);
  const isCut = alert?.signals.some(
    (signal) =>
      signal.action === 'order' &&
      (isSpotSale(order) || (signal.reduceOnly && order.reduceOnly)) &&
      contentOf({ ...signal, amount: order.amount }) === contentOf(order) &&
      parseDecimal(order.amount).lt(parseDecimal(signal.amount)),
  );
  return isCut === true ? alert : null;
}

function isSpotSale({ market, side }: OrderState): boolean {
  return grounds[market] === 'spot' && side === 'sell';
}

/** Whether relay or exchange chose the amount, so that two orders may be alike; of each there is one by its client order id. */
function isSizedElsewhere(evidence: Evidence, order: OrderState): boolean {
  const entry = evidence.entryOfOrder(order);
  if (entry === null) return false;
  return isProtective(entry) || isClose(entry) || alertOfCut(evidence, entry, order) !== null;
}

function isClose(entry: Entry | null): boolean {
  return entry?.signal?.action === 'close';
}

/** Finds duplicate orders by content, so that one with another client order id is found too. */
function findTwins(created: readonly OrderState[]): readonly Violation[] {
  return [...Map.groupBy(created, contentOf).values()]
    .filter(({ length }) => length > 1)
    .map((twins) => ({
      wrong: 'duplicated',
      what: `the exchange has the same order ${twins.length} times`,
      details: twins.map(describeOrder),
    }));
}

/** The exchange's count of creates must match its orders, or the rest of this audit proves nothing. */
function checkCount({ created, exchange }: Evidence): readonly Violation[] {
  if (created.length === exchange.acceptedCreates) return [];
  const what = `the exchange accepted ${exchange.acceptedCreates} creates, but lists ${created.length} orders`;
  return [{ wrong: 'disagreement', what, details: [] }];
}
