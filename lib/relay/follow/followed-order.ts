import {
  type BookedDeals,
  bookDeals,
  type FillableSize,
  type FollowedDeal,
} from '../../account/booked-deals.ts';
import { type Decimal, formatDecimal, parseDecimal, zero } from '../../base/decimal.ts';
import { longestLagMs } from '../../exchange/lag.ts';
import {
  type FollowedStatus,
  isStillOpen,
  type OrderExecution,
  type OrderRole,
} from '../../model/execution.ts';
import { isOrderEnd, type OrderStatus } from '../../model/order.ts';

/**
 * An order as a list of open or of ended orders shows it.
 *
 * @see DECISIONS 148
 */
export interface ListedState {
  readonly status: OrderStatus;
  readonly endReason?: string | undefined;
  /** In base units. */
  readonly filled: Decimal;
  /** Null while it is open. */
  readonly endedAtMs: number | null;
}

/** What a process knows of one order that it follows, from all that it has read. */
export interface KnownOrder {
  /** The newest report; one of an end is never replaced by one of an open order. Null: no list has shown it. */
  report: ListedState | null;
  /** Whether the lists that were read last show the order. */
  isListed: boolean;
  /** By the id of the deal. */
  readonly deals: Map<number, FollowedDeal>;
  /** The fills that are stored, as far as this process knows. */
  readonly stored: Set<number>;
  /** Whether it has read which are. */
  isStoredKnown: boolean;
  /** Since when no list shows it although no end is known; null: a list shows it. */
  missingSinceMs: number | null;
  /** When it was last asked for alone, with all its fills; null: never. */
  askedAtMs: number | null;
  /** Whether every record of that answer could be read. */
  isAnswerWhole: boolean;
  /** Since when the lists leave something open about it; null: nothing is. */
  unexplainedSinceMs: number | null;
  /** How often it was asked for alone since then. */
  tries: number;
}

export function createKnownOrder(): KnownOrder {
  return {
    report: null,
    isListed: false,
    deals: new Map(),
    stored: new Set(),
    isStoredKnown: false,
    missingSinceMs: null,
    askedAtMs: null,
    isAnswerWhole: false,
    unexplainedSinceMs: null,
    tries: 0,
  };
}

/** Keeps a report, unless an end is already known. */
export function takeReport(known: KnownOrder, report: ListedState): void {
  known.isListed = true;
  known.missingSinceMs = null;
  if (known.report === null || !isOrderEnd(known.report.status) || isOrderEnd(report.status))
    known.report = report;
}

/** The order that is judged. */
export interface FollowedName {
  readonly role: OrderRole;
  readonly orderId: number;
  /** In base units; null when it is not known. */
  readonly amount: Decimal | null;
  /** The trigger price of a stop-loss, or the limit price of a take-profit. */
  readonly price?: string | undefined;
  /** Whether it is an exit that may be for a part of its order alone. */
  readonly isPart?: boolean;
  /** Whether it is an exit that no list of orders shows while it is open: that none shows it proves no end. */
  readonly isHidden?: boolean;
}

/** What is known of an order, and whether more can become known. */
export interface Judgement {
  /** Null: nothing is known yet. */
  readonly order: OrderExecution | null;
  /** Whether it has ended and all its fills are known. */
  readonly isWhole: boolean;
  /** Whether it must be asked for alone, because the lists of the account leave something open. */
  readonly isUnexplained: boolean;
  /** The fills that count. */
  readonly booked: BookedDeals;
}

/** An order whose fills never add up is no longer asked for after this time. */
const giveUpAfterMs = 24 * 3_600_000;

/**
 * Judges what became of an order. A state that was told before is never undone: an order that has ended stays ended, and
 * fills are only added.
 *
 * The amount filled is that of the deals, never that of the order: the deals alone have prices and fees. Until both are
 * equal, fills are missing from the list of deals, or are older than what was read of it.
 *
 * @param before what was told; null: nothing yet
 */
export function judgeOrder(
  name: FollowedName,
  before: OrderExecution | null,
  known: KnownOrder,
  nowMs: number,
): Judgement {
  const { report } = known;
  const booked = bookDeals(sizeOf(name, known), known.deals.values(), known.stored);
  const { sum } = booked;
  const areDealsWhole = report !== null && sum.eq(report.filled);
  const isAsked = known.askedAtMs === nowMs;
  const told = before === null ? zero : parseDecimal(before.filled);
  const isNews = sum.gt(told) && (areDealsWhole || isAsked);
  const end = judgeEnd(name, before, known, isNews ? sum : told, nowMs);
  const figures = isNews ? figuresOf(booked) : (before ?? noFigures);
  const isKnown = before !== null || end.status !== null || isNews;
  const status = end.status ?? before?.status ?? 'partially_filled';
  const hadEnded = before !== null && !isStillOpen(before.status);
  const isTimeKnown =
    isStillOpen(status) || (status !== 'filled' && (areDealsWhole || (hadEnded && !isNews)));
  const { filledAtMs } = figures;
  const order: OrderExecution | null = isKnown
    ? {
        role: name.role,
        orderId: name.orderId,
        status,
        ...(end.endReason === undefined ? {} : { endReason: end.endReason }),
        endedAtMs: end.endedAtMs,
        ...(filledAtMs === undefined || !isTimeKnown ? {} : { filledAtMs }),
        filled: figures.filled,
        filledNotional: figures.filledNotional,
        fees: figures.fees,
        ...(name.price === undefined ? {} : { price: name.price }),
        ...(name.isPart === true && name.amount !== null ? { amount: formatDecimal(name.amount) } : {}),
      }
    : null;
  const hasEnded = order !== null && !isStillOpen(order.status);
  const isExplained = hasEnded
    ? isFilledUp(order, name, known) || areDealsWhole
    : known.isListed && areDealsWhole;
  const isOld = hasEnded && nowMs - (order.endedAtMs ?? nowMs) >= giveUpAfterMs && known.tries > 2;
  const isWhole = hasEnded && (isExplained || isOld);
  return { order, isWhole, isUnexplained: !isExplained && !isOld, booked };
}

/** The report of an order that no list shows any more is that of an earlier time. */
function sizeOf({ amount }: FollowedName, { report, isListed }: KnownOrder): FillableSize {
  const hasEnded = report !== null && isOrderEnd(report.status);
  return { amount, reported: hasEnded || isListed ? (report?.filled ?? null) : null, hasEnded };
}

interface End {
  /** Null: as before. */
  readonly status: FollowedStatus | null;
  readonly endReason?: string | undefined;
  readonly endedAtMs: number | null;
}

function judgeEnd(
  { amount, isHidden }: FollowedName,
  before: OrderExecution | null,
  known: KnownOrder,
  filled: Decimal,
  nowMs: number,
): End {
  const { report } = known;
  const wasGone = before?.status === 'gone';
  if (before !== null && !isStillOpen(before.status) && !wasGone) return before;
  if (report !== null && isOrderEnd(report.status)) return report;
  if (wasGone) return before;
  if (report !== null && known.isListed) {
    const isPart = report.filled.gt(zero) || filled.gt(zero);
    return { status: isPart ? 'partially_filled' : 'open', endedAtMs: null };
  }
  if (amount !== null && filled.gte(amount)) return { status: 'filled', endedAtMs: lastDealMs(known) };
  const hasGone = isHidden !== true && isGone(known, nowMs);
  return hasGone ? { status: 'gone', endedAtMs: null } : { status: null, endedAtMs: null };
}

/**
 * No list has shown it for longer than any list lags, and it was asked for alone after that time. A record that cannot be
 * read may be the order.
 */
function isGone({ missingSinceMs, askedAtMs, isAnswerWhole }: KnownOrder, nowMs: number): boolean {
  const isLongMissing = missingSinceMs !== null && nowMs - missingSinceMs >= longestLagMs;
  return isLongMissing && askedAtMs === nowMs && isAnswerWhole;
}

/**
 * Whether an order without a report needs none: it is gone, or its fills are all that was asked for. When it was filled, a process
 * that has not read those fills itself asks once.
 */
function isFilledUp(
  { status, filled, endedAtMs }: OrderExecution,
  { amount }: FollowedName,
  { report, askedAtMs }: KnownOrder,
) {
  if (report !== null && isOrderEnd(report.status)) return false;
  if (status !== 'filled') return status === 'gone';
  return amount !== null && parseDecimal(filled).gte(amount) && (endedAtMs !== null || askedAtMs !== null);
}

function lastDealMs({ deals }: KnownOrder): number | null {
  return deals.size === 0 ? null : Math.max(...[...deals.values()].map(({ atMs }) => atMs));
}

type Figures = Pick<OrderExecution, 'filledAtMs' | 'filled' | 'filledNotional' | 'fees'>;

const noFigures: Figures = { filled: '0', filledNotional: '0', fees: {} };

/** Of several fills of one millisecond a list of positions may show the first alone, with the time of all. */
function lastFillOf(deals: BookedDeals['deals']): Pick<Figures, 'filledAtMs'> {
  const filledAtMs = Math.max(...deals.map(({ atMs }) => atMs));
  return deals.filter(({ atMs }) => atMs === filledAtMs).length === 1 ? { filledAtMs } : {};
}

function figuresOf({ deals }: BookedDeals): Figures {
  const fees = new Map<string, Decimal>();
  let filled = zero;
  let notional = zero;
  for (const deal of deals) {
    filled = filled.plus(deal.amount);
    notional = notional.plus(deal.notional);
    fees.set(deal.feeAsset, (fees.get(deal.feeAsset) ?? zero).plus(deal.fee));
  }
  return {
    ...lastFillOf(deals),
    filled: formatDecimal(filled),
    filledNotional: formatDecimal(notional),
    fees: Object.fromEntries([...fees].sort().map(([asset, fee]) => [asset, formatDecimal(fee)])),
  };
}
