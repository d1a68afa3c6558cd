import type { Entry } from '../../lib/ledger/entry.ts';
import { isOrderEnd } from '../../lib/model/order.ts';
import type { Status } from '../../lib/model/outcome.ts';
import type { OrderState } from '../../lib/paper/state.ts';
import { contentOf, type Evidence, type Violation, wasAnswered } from './evidence.ts';
import { tradingAccounts } from './relay-config.ts';
import { describeOrder, logAlert, logEntry } from './story.ts';

/** The exchange's orders, held against the ledger and the alerts, from both ends. */
export function checkOrders(evidence: Evidence): readonly Violation[] {
  return [
    ...evidence.entries.flatMap((entry) => checkEntry(evidence, entry)),
    ...evidence.created.flatMap((order) => checkOrder(evidence, order)),
    ...findTwins(evidence.created),
    ...checkCount(evidence),
  ];
}

function checkEntry(evidence: Evidence, entry: Entry): readonly Violation[] {
  const orders = evidence.ordersOf(entry);
  const story = () => logEntry(evidence, entry);
  if (orders.length > 1)
    return [{ wrong: 'duplicated', what: `one signal made ${orders.length} orders`, story: story() }];
  const [order = null] = orders;
  const contradictions =
    entry.signal?.action === 'order' ? contradict(evidence, entry, order) : contradictCancel(evidence, entry);
  return contradictions.map((what) => ({ wrong: 'disagreement', what, story: story() }));
}

/** What a signal's status says of its order; the others leave it open. */
const promisesOrder: Partial<Readonly<Record<Status, boolean>>> = {
  placed: true,
  accepted: false,
  denied: false,
  dry_run: false,
  rejected: false,
  not_sent: false,
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
    ...(promised === false ? [`the ledger says ${status}, and the exchange holds the order`] : []),
    ...(promised === true && orderId !== order.orderId
      ? ['ledger and exchange number the order differently']
      : []),
    ...(status === 'unknown' && wasMissedInQuiet
      ? ['an order was looked for and missed, and it is there']
      : []),
    ...(status === 'placed' && !orderOpen && isOpen ? ['the ledger holds an open order for closed'] : []),
    ...(tradingAccounts[entry.account] === order.account ? [] : ['the order is in a wrong account']),
  ];
}

/** An order that a cancellation ended before it was sent. */
function isWithdrawn({ signal, status, steps }: Entry): boolean {
  return (
    signal?.action === 'order' && status === 'cancelled' && !steps.some((step) => step.status === 'sending')
  );
}

/** A cancellation that is confirmed must be true at the exchange. */
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
  const alert = evidence.alertOfContent(contentOf(order));
  const found = (what: string): Violation => ({
    wrong: 'disagreement',
    what,
    story: [
      describeOrder(order),
      ...(alert === null ? [] : logAlert(alert)),
      ...(entry === null ? [] : logEntry(evidence, entry)),
    ],
  });
  if (alert === null) return [found('the exchange holds an order that nobody wanted')];
  const isRefused = alert.flaw !== null || wasAnswered(alert, 4);
  return [
    ...(isRefused ? [found('the exchange holds an order of a refused alert')] : []),
    ...(entry === null ? [found('the exchange holds an order that the ledger does not know')] : []),
    ...(entry !== null && entry.fingerprint !== alert.fingerprint
      ? [found('the exchange holds an order under the name of another signal')]
      : []),
  ];
}

/** By content, so that a second order under another name is found too. */
function findTwins(created: readonly OrderState[]): readonly Violation[] {
  return [...Map.groupBy(created, contentOf).values()]
    .filter(({ length }) => length > 1)
    .map((twins) => ({
      wrong: 'duplicated',
      what: `the same order is at the exchange ${twins.length} times`,
      story: twins.map(describeOrder),
    }));
}

/** What makes orders and what counts them must agree, or the rest of this audit proves nothing. */
function checkCount({ created, exchange }: Evidence): readonly Violation[] {
  if (created.length === exchange.acceptedCreates) return [];
  const what = `the exchange accepted ${exchange.acceptedCreates} creates and shows ${created.length} orders of them`;
  return [{ wrong: 'disagreement', what, story: [] }];
}
