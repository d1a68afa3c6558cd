import { formatDecimal, zero } from '../../lib/base/decimal.ts';
import { legsOf, nameGroup } from '../../lib/exchange/list-groups.ts';
import { quoteInName } from '../../lib/model/market.ts';
import { type ConditionalOrder, type Order, oppositeOf } from '../../lib/model/order.ts';
import type { Cell } from './print.ts';
import { shortenId } from './short-id.ts';
import { renderStacked } from './stacked-table.ts';
import { type Column, renderOneLineRows } from './table.ts';
import type { Screen } from './terminal.ts';
import { formatLocal, nameOffset } from './time-zone.ts';

/** The open orders of an account at the exchange. */
export interface OpenAtExchange {
  /** Linked orders: OTO and OCO. */
  readonly groups: readonly ConditionalOrder[];
  /** Orders of all kinds, including those of the groups; null in a dialect that has no such list. */
  readonly open: readonly Order[] | null;
  /** The signals of this relay whose orders, stop-losses or take-profits they are, by order id; absent: not read. */
  readonly signals?: ReadonlyMap<number, string>;
}

const right = { align: 'right' } as const;

/** A table of the open orders: first single orders, then groups. Too long a line becomes two. */
export function renderOrders({ groups, open, signals }: OpenAtExchange, screen: Screen): string {
  const grouped = new Set(groups.flatMap(legsOf).map(({ orderId }) => orderId));
  const alone = (open ?? []).filter(({ orderId }) => !grouped.has(orderId));
  const rows = [
    ...alone.map((order) => ['', ...orderRow(order.type.replaceAll('_', '-'), order, screen)]),
    ...groups.flatMap((group) => groupRows(group, screen)),
  ].map((cells) => [...cells, shortenId(signals?.get(Number(cells[orderColumn])) ?? '')]);
  const columns: readonly Column[] = [
    { title: 'group' },
    { title: 'kind' },
    { title: 'order', ...right },
    { title: 'market' },
    { title: 'side' },
    { title: 'filled', ...right },
    { title: 'remaining', ...right },
    { title: 'trigger', ...right },
    { title: 'price', ...right },
    { title: 'status' },
    { title: `since (${nameZone(alone, groups, screen)})` },
    { title: 'signal' },
  ];
  const first = groups.length === 0 ? 1 : 0;
  const whole = renderOneLineRows(
    columns.slice(first),
    rows.map((cells) => ({ cells: cells.slice(first), note: null })),
    screen,
  );
  return [whole ?? renderNarrow(columns, rows, screen), ...listExplanations(groups)].join('\n');
}

const orderColumn = 2;
const firstLine = [1, 3, 4, 5, 6, 7, 8];
const secondLine = [2, 0, 11, 9, 10];
/** The time of a running order matters least. */
const cutColumns: ReadonlySet<number> = new Set([9, 10]);

function renderNarrow(
  columns: readonly Column[],
  rows: readonly (readonly Cell[])[],
  screen: Screen,
): string {
  const pick = (indices: readonly number[]) =>
    indices.flatMap((index) => {
      const column = columns[index];
      return column === undefined ? [] : [{ ...column, cuts: cutColumns.has(index) }];
    });
  return renderStacked(
    pick(firstLine),
    pick(secondLine),
    rows.map((cells) => ({
      first: firstLine.map((index) => cells[index] ?? ''),
      second: secondLine.map((index) => (cells[index] === '' ? '–' : (cells[index] ?? '–'))),
    })),
    screen,
  );
}

/** The offset from UTC, or the name of the time zone if the offset differs between the orders. */
function nameZone(
  alone: readonly Order[],
  groups: readonly ConditionalOrder[],
  { timeZone }: Screen,
): string {
  const names = new Set(
    [...alone, ...groups.flatMap(legsOf)].map(({ createdAtMs }) => nameOffset(createdAtMs, timeZone)),
  );
  return names.size === 1 ? [...names].join('') : timeZone;
}

function listExplanations(groups: readonly ConditionalOrder[]): readonly string[] {
  const kinds = new Set(groups.map(({ kind }) => kind));
  const lines = [
    ...(kinds.has('oto')
      ? ['OTO (one triggers the other): stop-loss and take-profit are placed when the entry is filled.']
      : []),
    ...(kinds.has('oco')
      ? ['OCO (one cancels the other): when one is filled, the exchange cancels the other.']
      : []),
  ];
  return lines.length === 0 ? [] : ['', ...lines];
}

/** Each order names its group; what is only planned has none yet. */
function groupRows(group: ConditionalOrder, screen: Screen): readonly (readonly Cell[])[] {
  const count = legsOf(group).length;
  return legRows(group, screen).map((cells, index) => [index < count ? nameGroup(group) : '', ...cells]);
}

function legRows(group: ConditionalOrder, screen: Screen): readonly (readonly Cell[])[] {
  if (group.kind === 'oco')
    return [orderRow('stop loss', group.stopLoss, screen), orderRow('take profit', group.takeProfit, screen)];
  const { primary, stopLossPrice, takeProfitPrice } = group;
  return [
    orderRow('entry', primary, screen),
    ...(stopLossPrice === null ? [] : [laterRow('stop loss', primary, formatDecimal(stopLossPrice), '–')]),
    ...(takeProfitPrice === null
      ? []
      : [laterRow('take profit', primary, '–', formatDecimal(takeProfitPrice))]),
  ];
}

function orderRow(kind: string, order: Order, { timeZone }: Screen): readonly Cell[] {
  return [
    kind,
    String(order.orderId),
    order.market,
    order.side,
    formatDecimal(order.filled),
    describeRemaining(order),
    describeTrigger(order),
    // An order without a limit price is reported with the price 0.
    order.price.eq(zero) ? 'market' : formatDecimal(order.price),
    order.status.replaceAll('_', ' '),
    formatLocal(order.createdAtMs, timeZone).slice(0, -'.123'.length),
  ];
}

/**
 * A spot buy that waits without a limit price is sized in the quote currency. Only orders on the collateral account
 * have a position side.
 */
function describeRemaining({ side, market, positionSide, remaining, price }: Order): string {
  const isQuote = side === 'buy' && positionSide === undefined && price.eq(zero);
  const currency = isQuote ? ` ${quoteInName(market) ?? 'quote'}` : '';
  return `${formatDecimal(remaining)}${currency}`;
}

const conditionSigns: Readonly<Record<string, string>> = { gte: '≥ ', lte: '≤ ' };

function describeTrigger({ activationPrice, activationCondition, activated }: Order): string {
  if (activationPrice === undefined) return '–';
  const sign = conditionSigns[activationCondition ?? ''] ?? '';
  return `${sign}${formatDecimal(activationPrice)}${activated === true ? ' met' : ''}`;
}

/** A stop-loss or take-profit that does not exist yet: it is placed when the entry is filled. */
function laterRow(kind: string, entry: Order, trigger: string, price: string): readonly Cell[] {
  const { side, amount, market } = entry;
  const ownSide = oppositeOf(side);
  return [kind, '–', market, ownSide, '–', formatDecimal(amount), trigger, price, 'to come', ''];
}
