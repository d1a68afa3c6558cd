import { type Decimal, formatDecimal, parseDecimal, zero } from '../../lib/base/decimal.ts';
import type { Entry } from '../../lib/ledger/entry.ts';
import { followedAs, type OrderRecord, orderRecordOf } from '../../lib/ledger/order-record.ts';
import {
  type Execution,
  type FollowedStatus,
  isStillOpen,
  type OrderExecution,
  type OrderRole,
} from '../../lib/model/execution.ts';
import { currenciesInName } from '../../lib/model/market.ts';
import type { Cell } from './print.ts';
import { formatLocal } from './time-zone.ts';

/** Digits after the point of an average price; it rarely comes out even. */
const averagePlaces = 8;

/** The average price of its fills; null while nothing filled. */
export function averageOf({ filled, filledNotional }: OrderExecution): Decimal | null {
  const amount = parseDecimal(filled);
  return amount.gt(zero) ? parseDecimal(filledNotional).div(amount).round(averagePlaces) : null;
}

/** `0.198 USDT`; empty while none were paid. */
export function describeFees({ fees }: OrderExecution): string {
  return Object.entries(fees)
    .map(([asset, fee]) => `${fee} ${asset}`)
    .join(' and ');
}

/** A short text for a table: `0.004 at 49500`. */
export function summariseFills(entry: Entry): Cell {
  const order = followedAs(orderRecordOf(entry), 'order');
  if (order === null) return '–';
  const average = averageOf(order);
  if (average !== null) {
    const text = `${order.filled} at ${formatDecimal(average)}`;
    return isStillOpen(order.status) ? `${text} so far` : text;
  }
  return isStillOpen(order.status) ? 'nothing yet' : 'nothing';
}

/**
 * What became of the orders of an entry, as fields for a person; none when it placed no order.
 *
 * @param protects the signals that keep its protection, oldest first
 */
export function describeExecution(
  entry: Entry,
  protects: readonly Entry[],
  timeZone: string,
): readonly (readonly [string, Cell | string | null])[] {
  const { execution } = entry;
  const record = orderRecordOf(entry);
  if (record?.status !== 'placed' || record.asked === null) return [];
  const { asked: signal, followed: own } = record;
  if (execution === null || own === null) return [['filled', 'not known yet: nothing has been read of it']];
  const asked = signal.size.unit === 'base' ? signal.size.quantity : null;
  return [
    ['filled', describeFilled(own, signal.market, asked)],
    ['order state', describeState(own, timeZone)],
    ...(signal.stopLoss === undefined
      ? []
      : [['stop-loss', describeExit(record, protects, 'stop_loss', timeZone)] as const]),
    ...(signal.takeProfit === undefined
      ? []
      : [['take-profit', describeExit(record, protects, 'take_profit', timeZone)] as const]),
    ...(execution.unprotectedSinceMs === undefined
      ? []
      : [
          [
            'unprotected',
            {
              text: `since ${formatLocal(execution.unprotectedSinceMs, timeZone)}: its own stop-loss is not on the exchange; ${adviseOn(execution)}`,
              style: 'alarm',
            },
          ] as const,
        ]),
  ];
}

function adviseOn({ unprotectedAtMs }: Execution): string {
  return unprotectedAtMs === undefined
    ? 'if nothing else protects the position a minute later, an alarm says what to do'
    : 'the alarm in the log says what to do, unless the position is closed meanwhile';
}

function describeFilled(order: OrderExecution, market: string, asked: string | null): string {
  const average = averageOf(order);
  if (average === null) return asked === null ? 'nothing' : `nothing of ${asked}`;
  const amount = asked === null || asked === order.filled ? order.filled : `${order.filled} of ${asked}`;
  const worth = `${order.filledNotional} ${currenciesInName(market).quote}`;
  const fees = describeFees(order);
  return `${amount} at ${formatDecimal(average)} on average (${worth})${fees === '' ? '' : `, fees ${fees}`}`;
}

function describeExit(
  record: OrderRecord,
  protects: readonly Entry[],
  role: OrderRole,
  timeZone: string,
): Cell {
  const order = followedAs(record, role);
  if (order !== null)
    return `order ${order.orderId} at ${order.price ?? '–'}: ${describeProgress(order, timeZone)}`;
  const own = protects.flatMap((entry) => orderRecordOf(entry) ?? []);
  const latest = own.findLast(({ protects: kept, status }) => kept?.role === role && status === 'placed');
  if (latest !== undefined) {
    const { orderId, followed } = latest;
    const state = followed === null ? 'placed' : describeProgress(followed, timeZone);
    return `order ${orderId} of the relay itself, below: ${state}`;
  }
  const isFilled = parseDecimal(record.followed?.filled ?? '0').gt(zero);
  const isOfRelay = record.spot !== null;
  if (isFilled) return isOfRelay ? 'not placed by the relay yet' : 'not seen on the exchange yet';
  return `to come: the ${isOfRelay ? 'relay' : 'exchange'} places it when the order fills`;
}

function describeProgress(order: OrderExecution, timeZone: string): string {
  const average = averageOf(order);
  const fees = describeFees(order);
  const filled =
    average === null
      ? ''
      : `, ${order.filled} filled at ${formatDecimal(average)} on average${fees === '' ? '' : `, fees ${fees}`}`;
  return `${describeState(order, timeZone)}${filled}`;
}

const stateWords: Readonly<Record<FollowedStatus, string>> = {
  open: 'open',
  partially_filled: 'open, filled in part',
  filled: 'filled',
  cancelled: 'cancelled',
  gone: "not open, and the exchange's lists do not say how it ended",
};

function describeState({ status, endReason, endedAtMs }: OrderExecution, timeZone: string): string {
  const reason = endReason === undefined ? '' : ` (${endReason})`;
  const time = endedAtMs === null ? '' : ` at ${formatLocal(endedAtMs, timeZone)}`;
  return `${stateWords[status]}${reason}${time}`;
}
