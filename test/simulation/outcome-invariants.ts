import type { Entry } from '../../lib/ledger/entry.ts';
import { leavesProtection } from '../../lib/ledger/order-facts.ts';
import { isFinal, type Status } from '../../lib/model/outcome.ts';
import { type CancelTarget, placesOrder, type Signal } from '../../lib/model/signal.ts';
import type { ExchangeState, PaperOrder } from '../../lib/paper/engine/exchange-state.ts';
import { mayOpen } from '../../lib/signals/may-open.ts';
import { keyText, type RaisedAlarm } from './history.ts';
import type { Facts, Violation } from './invariants.ts';
import { longestListLagMs } from './network.ts';
import { handPrefix, matchOrders, type OwnOrders } from './own-orders.ts';

/** Finds signals whose outcome is not what the ledger says, and signals with more than one order. */
export function findWrongOutcomes(facts: Facts): readonly Violation[] {
  const orders = matchOrders(facts.exchange, facts.entries);
  return [
    ...findDoubles(orders),
    ...findLost(facts),
    ...facts.entries.flatMap((entry) => findDisagreement(facts, orders, entry)),
    ...findStrangers(facts, orders),
  ];
}

function findDoubles(orders: OwnOrders): readonly Violation[] {
  return orders.findTwins().map(([content, same]) => ({
    invariant: 'I1',
    harm: 'duplicated',
    text: `${same.length} orders of ${content}: ${same.map(({ orderId }) => orderId).join(', ')}`,
  }));
}

function findLost(facts: Facts): readonly Violation[] {
  const byKey = new Map(facts.entries.map((entry) => [keyText(entry), entry]));
  return [
    ...facts.history.responses
      .filter(({ httpStatus }) => httpStatus < 300)
      .flatMap(({ alert, body }) => acknowledgedIds(body).map((id) => ({ alert, id })))
      .filter(({ alert, id }) => !byKey.has(`${alert.account} ${id}`))
      .map(({ alert, id }) => lost(`${alert.name} was acknowledged as ${id}, which is not in the ledger`)),
    ...facts.entries.flatMap((entry) => findUnsettled(facts, entry)),
    ...facts.entries.flatMap((entry) => findLateAlarm(facts, entry)),
  ];
}

function lost(text: string): Violation {
  return { invariant: 'I2', harm: 'lost', text };
}

interface AcknowledgedSignal {
  readonly signalId: string;
}

function acknowledgedIds(body: string): readonly string[] {
  const response = JSON.parse(body) as
    | AcknowledgedSignal
    | { readonly signals: readonly AcknowledgedSignal[] };
  const signals = 'signals' in response ? response.signals : [response];
  return signals.map(({ signalId }) => signalId);
}

function findUnsettled({ history, dialect }: Facts, entry: Entry): readonly Violation[] {
  const { status } = entry;
  if (isFinal(status)) return [];
  if (status !== 'unknown') return [lost(`${keyText(entry)} is left ${status}`)];
  if (!history.hasAlarm(entry))
    return [silent('I2', `${keyText(entry)} is unknown, and no alarm was raised`)];
  // The live dialect lists every order, so lookups settle every outcome there.
  return dialect === 'live' ? [lost(`${keyText(entry)} stays unknown although it can be looked up`)] : [];
}

/** The alarm comes before the write: of a write whose response was lost nobody knows that it succeeded. */
function findLateAlarm({ history }: Facts, entry: Entry): readonly Violation[] {
  if (!history.timeline.some(({ actor }) => actor.startsWith('relay#'))) return [];
  const seen = history.statuses.get(keyText(entry)) ?? [];
  return seen.flatMap(({ status, atMs }, index) => {
    if (status !== 'unknown') return [];
    // What became durable at one moment was written one after the other before it.
    const sinceMs = seen.slice(0, index).findLast((before) => before.atMs < atMs)?.atMs ?? atMs;
    const isTold = history.alarms.some(
      (alarm) => isAbout(alarm.facts, entry) && alarm.atMs >= sinceMs && alarm.atMs <= atMs,
    );
    return isTold ? [] : [silent('I2', `${keyText(entry)} became unknown before an alarm was raised`)];
  });
}

function isAbout(facts: RaisedAlarm['facts'], { account, signalId }: Entry): boolean {
  return facts['account'] === account && facts['signalId'] === signalId;
}

function silent(invariant: 'I2' | 'I3', text: string): Violation {
  return { invariant, harm: 'silent', text };
}

function disagree(entry: Entry, text: string): readonly Violation[] {
  return [silent('I3', `${keyText(entry)} is ${entry.status}, but ${text}`)];
}

function findDisagreement(facts: Facts, orders: OwnOrders, entry: Entry): readonly Violation[] {
  const { exchange } = facts;
  if (entry.signal !== null && placesOrder(entry.signal))
    return findOrderDisagreement(exchange, entry, orders.of(entry));
  if (entry.status !== 'cancelled') return [];
  return [...targetsOf(facts, entry).flatMap(orders.of), ...foreignTargetsOf(facts, entry)]
    .filter(({ orderId }) => exchange.open.has(orderId))
    .flatMap(({ orderId }) => disagree(entry, `order ${orderId} is open`));
}

/** The orders of the owner that a `cancel_all` of the whole market ends: those that no list can have missed. */
function foreignTargetsOf({ exchange, history }: Facts, entry: Entry): readonly PaperOrder[] {
  const { signal, account } = entry;
  if (signal?.action !== 'cancel_all' || signal.scope !== 'market' || leavesProtection(entry)) return [];
  const storedAtMs = history.statuses.get(keyText(entry))?.[0]?.atMs ?? 0;
  return [...exchange.orders.values()].filter(
    (order) =>
      order.clientOrderId.startsWith(handPrefix) &&
      order.account === account &&
      order.market === signal.market &&
      order.createdAtMs < storedAtMs - longestListLagMs,
  );
}

function findOrderDisagreement(
  { open }: ExchangeState,
  entry: Entry,
  orders: readonly PaperOrder[],
): readonly Violation[] {
  const { status, orderId, orderOpen, clientOrderId } = entry;
  const [order] = orders;
  if (status === 'unknown') return [];
  // An operator may have settled it by cancelling its order.
  if (status === 'cancelled' && order !== undefined && !open.has(order.orderId)) return [];
  if (status !== 'placed') return order === undefined ? [] : disagree(entry, `order ${order.orderId} exists`);
  if (order === undefined) return disagree(entry, 'the exchange has no such order');
  if (order.orderId !== orderId)
    return disagree(entry, `its order id is ${orderId}, and the order has ${order.orderId}`);
  if (order.clientOrderId !== clientOrderId)
    return disagree(entry, `its order has client order id ${order.clientOrderId}, not ${clientOrderId}`);
  if (!orderOpen && open.has(order.orderId))
    return disagree(entry, 'it counts as ended, and its order is open');
  return [];
}

function targetsOf({ entries, history, settings }: Facts, entry: Entry): readonly Entry[] {
  const { signal, account } = entry;
  if (signal?.action === 'cancel_all') {
    // The signals that were stored before it in its market, whether or not the ledger counted them as open.
    const placeOf = (other: Entry) => history.stored.get(keyText(other)) ?? Number.POSITIVE_INFINITY;
    const configured = settings.accounts[account];
    const isKept = (target: Signal) =>
      leavesProtection(entry) && configured !== undefined && !mayOpen(target, configured);
    return entries.filter(
      (target) =>
        target.account === account &&
        target.signal?.market === signal.market &&
        !isKept(target.signal) &&
        // What protects a position stays, as the exits that the exchange has made.
        (signal.scope === 'market' || target.signal.action !== 'protect') &&
        placeOf(target) < placeOf(entry),
    );
  }
  if (signal?.action !== 'cancel') return [];
  return entries.filter((target) => target.account === account && isTarget(signal.target, target));
}

/** Whether the target of a cancellation is the order of the entry. */
export function isTarget(target: CancelTarget, { signalId, clientOrderId, orderId }: Entry): boolean {
  switch (target.by) {
    case 'signalId':
      return target.signalId === signalId;
    case 'clientOrderId':
      return target.clientOrderId === clientOrderId;
    case 'orderId':
      return target.orderId === orderId;
  }
}

const mayHaveOrder: ReadonlySet<Status> = new Set(['placed', 'cancelled', 'unknown']);

/** Finds orders at the exchange that no ledger entry accounts for. */
function findStrangers({ entries }: Facts, orders: OwnOrders): readonly Violation[] {
  return orders
    .placedByNone(entries.filter(({ status }) => mayHaveOrder.has(status)))
    .map(({ orderId, market, clientOrderId }) =>
      silent('I3', `order ${orderId} (${clientOrderId} in ${market}) is placed by no entry`),
    );
}
