import type { Entry } from '../../lib/ledger/entry.ts';
import type { Execution, OrderExecution } from '../../lib/model/execution.ts';
import type { OrderState } from '../../lib/paper/server/state.ts';
import { contentOf, type Evidence, nameOf } from './evidence.ts';
import type { SentAlert } from './sender.ts';

/** What sender, ledger and exchange know about one signal, line by line. */
export function logEntry(evidence: Evidence, entry: Entry): readonly string[] {
  const alert = evidence.alertOf(entry);
  return [
    ...(alert === null ? [] : logAlert(alert)),
    ...describeEntry(entry),
    ...evidence.ordersOf(entry).map(describeOrder),
  ];
}

export function logAlert({ account, signals, flaw, deliveries }: SentAlert): readonly string[] {
  const wanted = signals.map((signal) =>
    signal.action === 'order' ? contentOf(signal) : `${signal.action} ${signal.target ?? signal.market}`,
  );
  return [
    `alert of ${account}${flaw === null ? '' : ` (${flaw})`}: ${wanted.join('; ')}`,
    ...deliveries.map(
      ({ atMs, httpStatus, signalIds, reason }) =>
        `  ${timeOf(atMs)}  posted: ${httpStatus ?? 'no response'} ${[...signalIds, reason].join(' ')}`,
    ),
  ];
}

function describeEntry(entry: Entry): readonly string[] {
  const { status, clientOrderId, orderId, orderOpen, steps, lookup, execution } = entry;
  return [
    `ledger ${nameOf(entry)}: ${status}, client order id ${clientOrderId}, order ${orderId}, open ${orderOpen}`,
    ...steps.map(
      ({ status: to, atMs, by, note }) =>
        `  ${timeOf(atMs)}  ${to}${by === undefined ? '' : ` (${by})`}: ${note}`,
    ),
    ...(lookup === null
      ? []
      : [`  looked up ${lookup.count} times, not found ${lookup.notFound} times: ${lookup.finding}`]),
    ...(execution === null ? [] : describeExecution(execution)),
  ];
}

/** What the follower believes of the orders, and since when: it decides whether the ledger counts them as open. */
function describeExecution({ revision, readAtMs, orders, isFollowed }: Execution): readonly string[] {
  const going = isFollowed ? 'still followed' : 'no longer followed';
  return [
    `  ${timeOf(readAtMs)}  read, change ${revision}, ${going}: ${orders.map(describeFollowed).join('; ')}`,
  ];
}

function describeFollowed({ role, orderId, status, endReason, endedAtMs, filled }: OrderExecution): string {
  const reason = endReason === undefined ? '' : ` (${endReason})`;
  const end = endedAtMs === null ? '' : ` at ${timeOf(endedAtMs)}`;
  return `${role} ${orderId} ${status}${reason}${end}, ${filled} filled`;
}

export function describeOrder(order: OrderState): string {
  const { orderId, clientOrderId, account, status, createdAtMs } = order;
  return `exchange ${timeOf(createdAtMs)}  order ${orderId} of ${account}, ${contentOf(order)}, ${status}, client order id ${clientOrderId}`;
}

function timeOf(atMs: number): string {
  return new Date(atMs).toISOString().slice(11, 23);
}
