import { type Decimal, parseDecimal, zero } from '../base/decimal.ts';
import { isOfSignal } from '../model/execution.ts';
import { currenciesInName } from '../model/market.ts';
import type { BookedDeal } from './book-deals.ts';
import { type Durations, measureDurations } from './durations.ts';
import type { SignalFacts } from './signal-facts.ts';

export const groupings = ['strategy', 'market', 'account', 'day'] as const;
export type Grouping = (typeof groupings)[number];

/**
 * The figures of one group and one quote currency. Signals belong to it by the time of their alert, deals by their own.
 * Money is in the quote currency.
 */
export interface ReportRow {
  /**
   * A strategy, a market, an account or a day; empty for a signal that names no strategy. Beside the strategies, deals of
   * no signal are a group of their own, `by hand`.
   */
  readonly group: string;
  readonly quote: string;
  readonly signals: SignalCounts;
  /** From the stored alert to the order that was sent. */
  readonly alertToOrder: Durations | null;
  /** From the order that was sent to its first fill, which the exchange dates. */
  readonly orderToFill: Durations | null;
  readonly deals: number;
  /** Amount times price of all deals. */
  readonly turnover: Decimal;
  readonly slippage: SlippageTotal;
  /** As they were paid, by asset. */
  readonly fees: Readonly<Record<string, Decimal>>;
  readonly profit: ProfitTotal;
  readonly trades: TradeCounts;
}

/** Signals that ask for an order; cancellations and refused alerts are not counted. */
export interface SignalCounts {
  readonly received: number;
  /** The exchange accepted the order. */
  readonly placed: number;
  readonly filledWhole: number;
  readonly filledInPart: number;
}

/** How much worse than their reference prices the orders were filled; below zero: better. */
export interface SlippageTotal {
  /** Filled orders of signals with a reference price. */
  readonly compared: number;
  /** All filled orders of signals, without stop-losses and take-profits. */
  readonly orders: number;
  readonly money: Decimal;
  /** Basis points of what the deals would have been worth at their reference prices; null when none is compared. */
  readonly basisPoints: Decimal | null;
}

export interface ProfitTotal {
  /** Realised at average cost, before fees. */
  readonly gross: Decimal;
  /** The fees of all deals; one in the base currency at the price of its deal. Those in a third currency are left out. */
  readonly fees: Decimal;
  /** Gross less fees. */
  readonly net: Decimal;
}

/** Orders that closed a position or a part of one. */
export interface TradeCounts {
  readonly closed: number;
  /** Those whose deals made more than their fees. */
  readonly won: number;
}

/** Adds signals and deals up. */
export interface ReportBuilder {
  addSignal(facts: SignalFacts, firstFillAtMs: number | null): void;
  addDeal(deal: BookedDeal): void;
  /** By group and quote currency, in this order. */
  rows(): readonly ReportRow[];
  /** All groups together, by quote currency. */
  totals(): readonly ReportRow[];
}

/** @param dayOf the day of a time, for example `2026-11-22`, in the time zone of the report */
export function createReportBuilder(by: Grouping, dayOf: (timeMs: number) => string): ReportBuilder {
  const rows = new Map<string, RowBuilder>();
  const totals = new Map<string, RowBuilder>();

  function placesOf(group: string, market: string, isByHand = false): readonly RowBuilder[] {
    const { quote } = currenciesInName(market);
    // A strategy may have the same name.
    const key = JSON.stringify([group, quote, isByHand]);
    const row = rows.get(key) ?? createRow(group, quote);
    const total = totals.get(quote) ?? createRow('', quote);
    rows.set(key, row);
    totals.set(quote, total);
    return [row, total];
  }

  return {
    addSignal(facts, firstFillAtMs) {
      const group = groupOf(by, { ...facts, atMs: facts.createdAtMs }, dayOf);
      for (const row of placesOf(group, facts.market)) countSignal(row, facts, firstFillAtMs);
    },
    addDeal(deal) {
      const { account, market, atMs } = deal.fill;
      const isByHand = by === 'strategy' && !isOfSignal(deal.fill);
      const strategy = isByHand ? byHand : (deal.facts?.strategy ?? null);
      const group = groupOf(by, { account, market, atMs, strategy }, dayOf);
      for (const row of placesOf(group, market, isByHand)) countDeal(row, deal);
    },
    rows: () => [...rows.values()].map(finishRow).sort(byGroupAndQuote),
    totals: () => [...totals.values()].map(finishRow).sort(byGroupAndQuote),
  };
}

/** The group of the deals of no signal; nobody traded them for a strategy. */
const byHand = 'by hand';

interface Grouped extends Pick<SignalFacts, 'account' | 'market' | 'strategy'> {
  readonly atMs: number;
}

function groupOf(by: Grouping, item: Grouped, dayOf: (timeMs: number) => string): string {
  const groups: Readonly<Record<Grouping, string>> = {
    strategy: item.strategy ?? '',
    market: item.market,
    account: item.account,
    day: dayOf(item.atMs),
  };
  return groups[by];
}

interface RowBuilder {
  readonly group: string;
  readonly quote: string;
  received: number;
  placed: number;
  filledWhole: number;
  filledInPart: number;
  readonly alertToOrderMs: number[];
  readonly orderToFillMs: number[];
  deals: number;
  turnover: Decimal;
  readonly orders: Set<string>;
  readonly compared: Set<string>;
  slippage: Decimal;
  referenceNotional: Decimal;
  readonly fees: Map<string, Decimal>;
  gross: Decimal;
  feesInQuote: Decimal;
  /** Order → what its deals made, after their fees. */
  readonly trades: Map<string, Decimal>;
}

function createRow(group: string, quote: string): RowBuilder {
  return {
    group,
    quote,
    received: 0,
    placed: 0,
    filledWhole: 0,
    filledInPart: 0,
    alertToOrderMs: [],
    orderToFillMs: [],
    deals: 0,
    turnover: zero,
    orders: new Set(),
    compared: new Set(),
    slippage: zero,
    referenceNotional: zero,
    fees: new Map(),
    gross: zero,
    feesInQuote: zero,
    trades: new Map(),
  };
}

function countSignal(
  row: RowBuilder,
  { isPlaced, filling, createdAtMs, sentAtMs }: SignalFacts,
  firstFillAtMs: number | null,
): void {
  row.received += 1;
  if (isPlaced) row.placed += 1;
  if (filling === 'whole') row.filledWhole += 1;
  if (filling === 'part') row.filledInPart += 1;
  if (sentAtMs === null) return;
  row.alertToOrderMs.push(sentAtMs - createdAtMs);
  if (firstFillAtMs !== null) row.orderToFillMs.push(firstFillAtMs - sentAtMs);
}

function countDeal(row: RowBuilder, deal: BookedDeal): void {
  const { account, market, orderId, role, feeAsset } = deal.fill;
  const order = JSON.stringify([account, market, orderId]);
  row.deals += 1;
  row.turnover = row.turnover.plus(deal.notional);
  row.fees.set(feeAsset, (row.fees.get(feeAsset) ?? zero).plus(deal.fee));
  row.gross = row.gross.plus(deal.profit);
  row.feesInQuote = row.feesInQuote.plus(deal.feeInQuote ?? zero);
  if (role === 'order') row.orders.add(order);
  if (deal.slippage !== null) {
    row.compared.add(order);
    row.slippage = row.slippage.plus(deal.slippage.money);
    row.referenceNotional = row.referenceNotional.plus(deal.slippage.referenceNotional);
  }
  if (deal.closed.gt(zero)) row.trades.set(order, (row.trades.get(order) ?? zero).plus(deal.net));
}

const basisPointsInOne = parseDecimal('10000');
/** Of basis points and of profits, which may be quotients; they are rounded once, after they were added up. */
const basisPointPlaces = 2;
const moneyPlaces = 8;
const halfUp = 1;

function finishRow(row: RowBuilder): ReportRow {
  const gross = row.gross.round(moneyPlaces, halfUp);
  return {
    group: row.group,
    quote: row.quote,
    signals: {
      received: row.received,
      placed: row.placed,
      filledWhole: row.filledWhole,
      filledInPart: row.filledInPart,
    },
    alertToOrder: measureDurations(row.alertToOrderMs),
    orderToFill: measureDurations(row.orderToFillMs),
    deals: row.deals,
    turnover: row.turnover,
    slippage: {
      compared: row.compared.size,
      orders: row.orders.size,
      money: row.slippage,
      basisPoints: row.referenceNotional.eq(zero)
        ? null
        : row.slippage.times(basisPointsInOne).div(row.referenceNotional).round(basisPointPlaces, halfUp),
    },
    fees: Object.fromEntries([...row.fees].sort(([one], [other]) => (one < other ? -1 : 1))),
    profit: { gross, fees: row.feesInQuote, net: gross.minus(row.feesInQuote) },
    trades: {
      closed: row.trades.size,
      won: [...row.trades.values()].filter((result) => result.gt(zero)).length,
    },
  };
}

function byGroupAndQuote(one: ReportRow, other: ReportRow): number {
  const [a, b] = one.group === other.group ? [one.quote, other.quote] : [one.group, other.group];
  return a < b ? -1 : 1;
}
