import { type Decimal, formatDecimal, parseDecimal, zero } from '../base/decimal.ts';
import type { Entry, EntryKey } from '../ledger/entry.ts';
import type { ExecutionChange } from '../ledger/ledger-change.ts';
import { followedAs, type OrderRecord, orderRecordOf } from '../ledger/order-record.ts';
import { isStillOpen, type OrderExecution, type OrderRole, orderRoles } from '../model/execution.ts';
import { currenciesInName } from '../model/market.ts';
import type { Side } from '../model/order.ts';
import { endingOf } from '../reports/entry-ending.ts';
import { formatProfit } from '../reports/format-profit.ts';
import { profitOfKept } from '../reports/kept-profit.ts';
import { createNews, type News, onceKey } from './news.ts';
import type { NoticeCategory } from './notice-settings.ts';

/** Digits after the point of an average price; it rarely comes out even. */
const pricePlaces = 8;

const roleNames: Readonly<Record<OrderRole, string>> = {
  order: 'order',
  stop_loss: 'stop-loss',
  take_profit: 'take-profit',
};

/** The entry that a stop-loss or take-profit of the relay has protected, if it has ended with a fill; null otherwise. */
export function openerKeyOf({ entry, before }: ExecutionChange): EntryKey | null {
  const record = orderRecordOf(entry);
  const order = followedAs(record, 'order');
  if (record === null || record.protects === null || order === null || isStillOpen(order.status)) return null;
  const was = followedAs(orderRecordOf({ ...entry, execution: before }), 'order');
  if (!grown(order.filled, was?.filled).gt(zero)) return null;
  return { account: entry.account, signalId: record.protects.of };
}

/**
 * The fills, and the exits and ends, that a change has added.
 *
 * @param opener the entry of {@link openerKeyOf}; null: the profit of what protected it is not told
 */
export function tellExecution(change: ExecutionChange, opener: Entry | null): readonly News[] {
  const { entry, before, atMs } = change;
  const [then, now] = [orderRecordOf({ ...entry, execution: before }), orderRecordOf(entry)];
  if (now === null) return [];
  return orderRoles.flatMap((role) => {
    const order = followedAs(now, role);
    if (order === null) return [];
    const was = followedAs(then, role);
    const told = [describeFill({ entry, record: now, opener }, order, was), describeState(now, order, was)];
    return told
      .filter((one) => one !== null)
      .map(({ category, headline }) =>
        createNews({
          key: onceKey(change, `${role} ${category} ${headline}`),
          category,
          account: entry.account,
          atMs,
          headline,
          detail: '',
          isSingle: false,
        }),
      );
  });
}

interface Told {
  readonly category: NoticeCategory;
  readonly headline: string;
}

/** The signal of an order. */
interface Teller {
  readonly entry: Entry;
  readonly record: OrderRecord;
  /** The entry that the order protected; null for any other order, and when it is not known. */
  readonly opener: Entry | null;
}

/** What was filled since then; null when nothing was. */
function describeFill(teller: Teller, order: OrderExecution, was: OrderExecution | null): Told | null {
  const { market, side, strategy } = teller.record;
  const amount = grown(order.filled, was?.filled);
  if (!amount.gt(zero)) return null;
  const notional = grown(order.filledNotional, was?.filledNotional);
  const price = notional.div(amount).round(pricePlaces);
  const done = sideOf(order.role, side);
  const verb = done === null ? 'filled' : done === 'buy' ? 'bought' : 'sold';
  const trade = `${verb} ${formatDecimal(amount)} ${market} at ${formatDecimal(price)}`;
  const part = isStillOpen(order.status) ? ' (in part)' : '';
  const by = strategy === undefined ? '' : ` [${strategy}]`;
  const what = nameOf(teller, order);
  const head = what === null ? '' : `${what} filled: `;
  return { category: 'filled', headline: `${head}${trade}${part}${describeProfit(teller, order)}${by}` };
}

/** `stop-loss`, `take-profit 2 of my-entry-1`, `close`; null for an order that is told by its trade alone. */
function nameOf({ entry, record }: Teller, { role }: OrderExecution): string | null {
  if (role !== 'order') return roleNames[role];
  if (entry.signal?.action === 'close') return 'close';
  if (record.protects === null) return null;
  const { role: kept, part, of } = record.protects;
  return `${roleNames[kept]}${part === undefined ? '' : ` ${part}`} of ${of}`;
}

function grown(now: string, then: string | undefined): Decimal {
  return parseDecimal(now).minus(parseDecimal(then ?? '0'));
}

/** The side on which an order trades; an exit trades against its entry. */
function sideOf(role: OrderRole, side: Side | null): Side | null {
  if (role === 'order' || side === null) return side;
  return side === 'buy' ? 'sell' : 'buy';
}

/**
 * Of an exit that the exchange made and that closed all of its entry, or of what the relay placed to protect one; empty
 * otherwise, and when the profit is not known.
 */
function describeProfit({ entry, record, opener }: Teller, order: OrderExecution): string {
  if (isStillOpen(order.status)) return '';
  const profit = order.role === 'order' ? profitAgainst(opener, order) : profitOfExit(entry);
  return profit === null ? '' : `, profit ${formatProfit(profit)} ${currenciesInName(record.market).quote}`;
}

function profitOfExit(entry: Entry): Decimal | null {
  const ending = endingOf(entry);
  return ending?.state === 'stopped_out' || ending?.state === 'target' ? ending.profit : null;
}

/** Null also for what an alert asked for the whole position: that may come from several entries. */
function profitAgainst(opener: Entry | null, order: OrderExecution): Decimal | null {
  const record = opener === null ? null : orderRecordOf(opener);
  return record === null ? null : profitOfKept(record, order);
}

/** An exit that stands now, and an order that has ended without being filled whole; null for anything else. */
function describeState(
  record: OrderRecord,
  { role, orderId, status, price, filled }: OrderExecution,
  was: OrderExecution | null,
): Told | null {
  const name = `${roleNames[role]} of ${record.market}${price === undefined ? '' : ` at ${price}`}`;
  const category = role === 'order' ? 'filled' : 'protection';
  if (was === null && role !== 'order' && isStillOpen(status))
    return { category, headline: `${name} stands` };
  if ((was !== null && !isStillOpen(was.status)) || isStillOpen(status) || status === 'filled') return null;
  // One exit ends the other.
  if (role !== 'order' && record.exits.some((exit) => exit.role !== role && hasFilled(exit.order)))
    return null;
  const how =
    status === 'gone'
      ? `is not open any more, ${filled} filled: the exchange does not say how order ${orderId} ended`
      : `cancelled, ${filled} filled`;
  return { category, headline: `${name} ${how}` };
}

function hasFilled(order: OrderExecution | null): boolean {
  return order !== null && parseDecimal(order.filled).gt(zero);
}
