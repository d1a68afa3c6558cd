import { type Decimal, formatDecimal, parseDecimal, zero } from '../base/decimal.ts';
import type { Entry } from '../ledger/entry.ts';
import type { ExecutionChange } from '../ledger/ledger-change.ts';
import { followedAs, type OrderRecord, orderRecordOf } from '../ledger/order-record.ts';
import { isStillOpen, type OrderExecution, type OrderRole, orderRoles } from '../model/execution.ts';
import type { Side } from '../model/order.ts';
import { endingOf } from '../reports/entry-ending.ts';
import { formatProfit } from '../reports/format-profit.ts';
import { createNews, type News, onceKey } from './news.ts';
import type { NoticeCategory } from './notice-settings.ts';

/** Digits after the point of an average price; it rarely comes out even. */
const pricePlaces = 8;

const roleNames: Readonly<Record<OrderRole, string>> = {
  order: 'order',
  stop_loss: 'stop-loss',
  take_profit: 'take-profit',
};

/** The fills, and the exits and ends, that a change has added. */
export function tellExecution(change: ExecutionChange): readonly News[] {
  const { entry, before, atMs } = change;
  const [then, now] = [orderRecordOf({ ...entry, execution: before }), orderRecordOf(entry)];
  if (now === null) return [];
  return orderRoles.flatMap((role) => {
    const order = followedAs(now, role);
    if (order === null) return [];
    const was = followedAs(then, role);
    const told = [describeFill(entry, now, order, was), describeState(now, order, was)];
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

/** What was filled since then; null when nothing was. */
function describeFill(
  entry: Entry,
  { market, side, strategy }: OrderRecord,
  order: OrderExecution,
  was: OrderExecution | null,
): Told | null {
  const amount = grown(order.filled, was?.filled);
  if (!amount.gt(zero)) return null;
  const notional = grown(order.filledNotional, was?.filledNotional);
  const price = notional.div(amount).round(pricePlaces);
  const done = sideOf(order.role, side);
  const verb = done === null ? 'filled' : done === 'buy' ? 'bought' : 'sold';
  const trade = `${verb} ${formatDecimal(amount)} ${market} at ${formatDecimal(price)}`;
  const part = isStillOpen(order.status) ? ' (in part)' : '';
  const by = strategy === undefined ? '' : ` [${strategy}]`;
  const head = order.role === 'order' ? '' : `${roleNames[order.role]} filled: `;
  return { category: 'filled', headline: `${head}${trade}${part}${describeProfit(entry, order)}${by}` };
}

function grown(now: string, then: string | undefined): Decimal {
  return parseDecimal(now).minus(parseDecimal(then ?? '0'));
}

/** The side on which an order trades; an exit trades against its entry. */
function sideOf(role: OrderRole, side: Side | null): Side | null {
  if (role === 'order' || side === null) return side;
  return side === 'buy' ? 'sell' : 'buy';
}

/** Of an exit that closed all of its entry; empty otherwise, and when the profit is not known. */
function describeProfit(entry: Entry, { role, status }: OrderExecution): string {
  if (role === 'order' || isStillOpen(status)) return '';
  const ending = endingOf(entry);
  const isWhole = ending?.state === 'stopped_out' || ending?.state === 'target';
  return isWhole && ending.profit !== null ? `, profit ${formatProfit(ending.profit)} ${ending.quote}` : '';
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
