import { type Decimal, formatDecimal, parseDecimal, zero } from '../../lib/base/decimal.ts';
import { describeSafely } from '../../lib/base/describe-error.ts';
import type { Log } from '../../lib/base/log.ts';
import type { Entry } from '../../lib/ledger/entry.ts';
import type { Executions } from '../../lib/ledger/executions.ts';
import type { Ledger } from '../../lib/ledger/ledger.ts';
import { followedAs, orderRecordOf } from '../../lib/ledger/order-record.ts';
import {
  type Execution,
  type Fill,
  isStillOpen,
  type OrderExecution,
  type OrderRole,
} from '../../lib/model/execution.ts';
import { endingOf } from '../../lib/reports/entry-ending.ts';
import { formatProfit } from '../../lib/reports/format-profit.ts';

/** Logs what became of placed orders as it is stored: each fill, each stop-loss and take-profit, and how it ended. */
export function tellExecutions(
  executions: Executions,
  { ledger, log }: { readonly ledger: Pick<Ledger, 'read'>; readonly log: Log },
): Executions {
  return {
    ...executions,
    async record(key, execution, fills) {
      // What is told must not keep anything from being stored, nor from being followed further.
      const before = await ledger.read(key).catch(() => null);
      const isStored = await executions.record(key, execution, fills);
      if (isStored && before !== null) tell(log, before, execution, fills);
      return isStored;
    },
  };
}

function tell(log: Log, before: Entry, execution: Execution, fills: readonly Fill[]): void {
  const { account, signalId } = before;
  try {
    for (const message of describeChange(before, execution, fills)) log.info(message, { account, signalId });
  } catch (error) {
    log.warn('what became of an order is stored, and could not be told here', {
      account,
      signalId,
      reason: describeSafely(error),
    });
  }
}

/** One line for each thing that has happened to the orders of an entry. */
function describeChange(before: Entry, execution: Execution, fills: readonly Fill[]): readonly string[] {
  const record = orderRecordOf(before);
  const market = record?.market ?? '';
  const after: Entry = { ...before, execution };
  return execution.orders.flatMap((order) => {
    const own = fills.filter(({ orderId }) => orderId === order.orderId);
    const told = own.length === 0 ? [] : [describeFills(after, order, market, own)];
    return [...told, ...describeState(followedAs(record, order.role), execution, order, market)];
  });
}

function describeFills(after: Entry, order: OrderExecution, market: string, fills: readonly Fill[]): string {
  const [{ side }] = fills as [Fill];
  const amount = sumOf(fills.map((fill) => fill.amount));
  const price = sumOf(fills.map(({ notional }) => notional)).div(amount);
  const trade = `${formatDecimal(amount)} ${market} at ${formatDecimal(price.round(pricePlaces))} (${side}), fee ${describeFee(fills)}`;
  const head = order.role === 'order' ? 'filled' : describeExitFill(after, order);
  return order.status === 'partially_filled' ? `${head} in part: ${trade}` : `${head} ${trade}`;
}

/** Digits after the point of an average price; it rarely comes out even. */
const pricePlaces = 8;

function describeExitFill(after: Entry, { role, status }: OrderExecution): string {
  if (status === 'partially_filled') return `${exitNames[role]} filled`;
  const ending = endingOf(after);
  const isWhole = ending?.state === 'stopped_out' || ending?.state === 'target';
  const profit = isWhole && ending.profit !== null ? ` ${formatProfit(ending.profit)} ${ending.quote}` : '';
  return `${role === 'stop_loss' ? 'stopped out' : 'target reached'}${profit}:`;
}

const exitNames: Readonly<Record<OrderRole, string>> = {
  order: 'order',
  stop_loss: 'stop-loss',
  take_profit: 'take-profit',
};

function describeFee(fills: readonly Fill[]): string {
  const byAsset = Map.groupBy(fills, ({ feeAsset }) => feeAsset);
  return [...byAsset]
    .map(([asset, paid]) => `${formatDecimal(sumOf(paid.map(({ fee }) => fee)))} ${asset}`)
    .join(' and ');
}

function sumOf(amounts: readonly string[]): Decimal {
  return amounts.reduce((sum, amount) => sum.plus(parseDecimal(amount)), zero);
}

/** An exit that stands now, and an order that has ended without being filled whole. */
function describeState(
  known: OrderExecution | null,
  { orders }: Execution,
  { role, orderId, status, price, filled }: OrderExecution,
  market: string,
): readonly string[] {
  const name = `${exitNames[role]} of ${market}${price === undefined ? '' : ` at ${price}`}`;
  if (known === null && role !== 'order' && isStillOpen(status)) return [`${name} stands`];
  const wasOpen = known === null || isStillOpen(known.status);
  if (!wasOpen || isStillOpen(status) || status === 'filled') return [];
  // One exit ends the other.
  const isReplaced = role !== 'order' && orders.some((other) => other.role !== role && hasFilledExit(other));
  if (isReplaced) return [];
  return [
    status === 'cancelled'
      ? `${name} cancelled, ${filled} filled`
      : `${name} is not open any more, ${filled} filled: the exchange does not say how order ${orderId} ended`,
  ];
}

function hasFilledExit({ role, filled }: OrderExecution): boolean {
  return role !== 'order' && parseDecimal(filled).gt(zero);
}
