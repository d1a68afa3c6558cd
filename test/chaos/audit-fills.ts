import { type Decimal, formatDecimal, parseDecimal, zero } from '../../lib/base/decimal.ts';
import type { Fill } from '../../lib/model/execution.ts';
import { paperAccounts } from '../../lib/paper/engine/accounts.ts';
import type { OrderState, PaperState } from '../../lib/paper/server/state.ts';
import type { Report } from '../../lib/reports/read-report.ts';
import type { Evidence, Violation } from './evidence.ts';
import { grounds } from './relay-config.ts';

/** What the ledger says of fills after a run, and what its reports make of them. */
export interface FollowedFills {
  readonly fills: readonly Fill[];
  /** By account of the exchange, market by market. */
  readonly reports: Readonly<Record<string, Report>>;
}

/** The exchange rounds base prices to eight places; the report rounds once. */
const mostRounding = parseDecimal('0.0001');

/**
 * Checks that the ledger knows every fill and invents none, and that the report's fees, turnover and profit are those of
 * the exchange's own books.
 */
export function checkFills({ exchange, followed }: Evidence): readonly Violation[] {
  if (followed === null) return [];
  return [
    ...findFillGaps(exchange.orders, followed.fills),
    ...checkFees(exchange, followed),
    ...Object.entries(followed.reports).flatMap(([account, report]) => [
      ...checkTurnover(exchange.orders, account, report),
      ...checkProfit(exchange, account, report),
    ]),
  ];
}

/** One violation for each order whose fills the ledger does not have exactly as the exchange does. */
export function findFillGaps(orders: readonly OrderState[], fills: readonly Fill[]): readonly Violation[] {
  const byOrder = Map.groupBy(fills, ({ orderId }) => orderId);
  const known = new Set(orders.map(({ orderId }) => orderId));
  const invented = [...byOrder.keys()].filter((orderId) => !known.has(orderId));
  return [
    ...orders.flatMap((order) => compareOrder(order, byOrder.get(order.orderId) ?? [])),
    ...invented.map((orderId) => disagree(`the ledger has fills of order ${orderId}, which does not exist`)),
  ];
}

function compareOrder(order: OrderState, fills: readonly Fill[]): readonly Violation[] {
  const deals = new Set(fills.map(({ dealId }) => dealId));
  const stored = [sum(fills, 'amount'), sum(fills, 'notional'), sum(fills, 'fee')].map(formatDecimal);
  const booked = [order.filled, order.filledNotional, order.fee];
  if (deals.size === fills.length && stored.every((text, index) => text === booked[index])) return [];
  const what = `order ${order.orderId} of ${order.account} filled ${booked.join(', ')} (amount, notional, fee), and the ledger has ${stored.join(', ')} in ${fills.length} fills`;
  return [disagree(what)];
}

function sum(fills: readonly Fill[], field: 'amount' | 'notional' | 'fee'): Decimal {
  return fills.reduce((total, fill) => total.plus(parseDecimal(fill[field])), zero);
}

function checkFees({ fees }: Pick<PaperState, 'fees'>, { reports }: FollowedFills): readonly Violation[] {
  const reported = new Map<string, Decimal>();
  for (const { totals } of Object.values(reports))
    for (const row of totals)
      for (const [asset, fee] of Object.entries(row.fees))
        reported.set(asset, (reported.get(asset) ?? zero).plus(fee));
  return [...new Set([...Object.keys(fees), ...reported.keys()])].flatMap((asset) => {
    const [charged, shown] = [fees[asset] ?? '0', formatDecimal(reported.get(asset) ?? zero)];
    if (charged === shown) return [];
    return [disagree(`the exchange charged fees of ${charged} ${asset}, and the reports have ${shown}`)];
  });
}

function checkTurnover(
  orders: readonly OrderState[],
  account: string,
  { totals }: Report,
): readonly Violation[] {
  const traded = orders
    .filter((order) => order.account === account)
    .reduce((total, { filledNotional }) => total.plus(parseDecimal(filledNotional)), zero);
  const reported = totals.reduce((total, { turnover }) => total.plus(turnover), zero);
  if (traded.eq(reported)) return [];
  const what = `account ${account} traded ${formatDecimal(traded)} USDT, and its report has ${formatDecimal(reported)}`;
  return [disagree(what)];
}

/** Only realised profit and fees change the collateral balance. */
function checkProfit(
  { accounts }: Pick<PaperState, 'accounts'>,
  account: string,
  { rows }: Report,
): readonly Violation[] {
  const { available, reserved } = accounts[account]?.collateral['USDT'] ?? { available: '0', reserved: '0' };
  const before = paperAccounts.find(({ name }) => name === account)?.collateral['USDT'] ?? '0';
  const change = parseDecimal(available).plus(parseDecimal(reserved)).minus(parseDecimal(before));
  const reported = rows
    .filter(({ group }) => grounds[group] !== 'spot')
    .reduce((total, { profit }) => total.plus(profit.net), zero);
  if (change.minus(reported).abs().lte(mostRounding)) return [];
  const what = `the collateral of account ${account} changed by ${formatDecimal(change)} USDT, and its report has a net profit of ${formatDecimal(reported)}`;
  return [disagree(what)];
}

function disagree(what: string): Violation {
  return { wrong: 'disagreement', what, details: [] };
}
