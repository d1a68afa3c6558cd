import { type Decimal, zero } from '../base/decimal.ts';
import { decimalIn } from '../base/json.ts';
import { longestOrderLagMs } from '../exchange/lag.ts';
import type { Entry } from '../ledger/entry.ts';
import type { OrderRecord } from '../ledger/order-record.ts';
import { hasFilled, isStillOpen } from '../model/execution.ts';
import { isOrderEnd, type Side } from '../model/order.ts';
import { type EntryExits, exitsOf } from './exits.ts';
import type { SeenPosition } from './seen-position.ts';

/** The exits that the exchange placed, or may have placed, when an entry filled. */
export interface Claim extends EntryExits {
  /** How much its order was for, in base units; null when nothing says it. */
  readonly asked: Decimal | null;
  /** Whether the entry is known to have filled, with nothing left to fill. */
  readonly isFilled: boolean;
  /** Whether an earlier close has ended them. */
  readonly hasEnded: boolean;
  /** Until then, lists need not show them; null: they must, or there are none. */
  readonly awaitedUntilMs: number | null;
  /** Until then, that no list shows any proves nothing. */
  readonly doubtedUntilMs: number | null;
  /** Until then a close waits for a list to show them, where following cancels what comes later; null: it does not wait. */
  readonly soughtUntilMs: number | null;
  /** Whether it is known that the exchange has made none: it makes none at all, or the relay had to place them itself. */
  readonly isMissing: boolean;
}

/** A position that an order closes, or reduces. */
export interface ReducedPosition {
  readonly account: string;
  readonly market: string;
  /** Before it was closed. */
  readonly position: SeenPosition;
  /** When it had changed last, on the exchange's clock; null when that is not known. */
  readonly modifiedAtMs: number | null;
  /** The ids of the exits that the list of positions showed beside it. */
  readonly attached: readonly number[];
  /** By how much the order is to reduce it. */
  readonly amount: Decimal;
  /** Whether it is a further try of a close: what it leaves of its amount is a rest of that. Absent: no. */
  readonly isFurtherTry?: boolean;
  /** Whether the relay tries again what the order leaves. Absent: no. */
  readonly isTriedAgain?: boolean;
}

/** A position, and what closed it. */
export interface Closed extends ReducedPosition {
  /** Of the orders that close it; null when it was flat already: orders of either side could open one. */
  readonly closingSide: Side | null;
  /** The order that closed it; null when nothing was left to close. */
  readonly orderId: number | null;
  /** When that was placed, on the exchange's clock as far as it said. Compared with the times of fills. */
  readonly atMs: number;
}

/** The signals whose exits an earlier close has ended. */
export function endedExitsIn({ steps }: Entry): readonly string[] {
  return steps.at(-1)?.facts?.exitsEndedFor ?? [];
}

/** What was read beside the orders. */
export interface Findings {
  /** The signals whose exits earlier closes have ended. */
  readonly endedBefore: ReadonlySet<string>;
  readonly nowMs: number;
  /** How long after its end the exchange may still make the exits of an entry, in ms; zero: it makes none. */
  readonly exitsListedAfterMs: number;
  /** By signal: when the relay has first placed itself what the exchange had not made, on its own clock. */
  readonly keptSinceMs: ReadonlyMap<string, number>;
}

/** Null when the order has no exits, or those of another position. */
export function claimOf(record: OrderRecord, closed: Closed, findings: Findings): Claim | null {
  const { endedBefore, nowMs, exitsListedAfterMs, keptSinceMs } = findings;
  if (record.lastReport === null && record.status !== 'placed') return null;
  const own = exitsOf(record);
  const { position, closingSide } = closed;
  if (own === null) return null;
  const exits = { ...own, asked: record.amount };
  const { positionSide } = exits;
  if (position.side !== null && positionSide !== 'BOTH' && positionSide !== position.side) return null;
  const end = endOf(record);
  const isKnown = exits.ids.length > 0;
  if (!isKnown && end.isUnfilled) return null;
  const hasEnded = endedBefore.has(record.signalId);
  const isWhole = isKnown && exits.awaited.length === 0;
  const isOver = isWhole && record.exits.every(({ order }) => order !== null && !isStillOpen(order.status));
  // What the position was before it was turned by hand may have left exits. Those that are known would open it again.
  if (closingSide !== null && exits.side !== closingSide)
    return position.side === null && isKnown && !isOver && !hasEnded
      ? { ...exits, ...nothingAwaited, awaited: [], isFilled: end.isFilled, hasEnded }
      : null;
  if (hasEnded || isOver) return { ...exits, ...nothingAwaited, isFilled: end.isFilled, hasEnded };
  // Those that a list has shown are awaited, too: the next one may lag further behind.
  const awaitedUntilMs = listedByMs(end, closed, nowMs, longestOrderLagMs);
  const keptAtMs = keptSinceMs.get(record.signalId);
  // The exchange makes both exits at once. Whatever the relay has placed before the end tells nothing of what that made.
  const isKept =
    keptAtMs !== undefined && end.endedAtMs !== null && keptAtMs - end.endedAtMs >= exitsListedAfterMs;
  const isMissing = !isKnown && (exitsListedAfterMs === 0 || isKept);
  const unlistedUntilMs = isMissing ? null : listedByMs(end, closed, nowMs, exitsListedAfterMs);
  const doubtedUntilMs = isKnown ? awaitedUntilMs : unlistedUntilMs;
  const soughtUntilMs = isMissing ? null : listedByMs(end, closed, nowMs, longestSoughtMs);
  const until = { awaitedUntilMs, doubtedUntilMs, soughtUntilMs };
  return { ...exits, ...until, isFilled: end.isFilled, hasEnded, isMissing };
}

/** Mostly the exchange lists the exits of an entry within that time. All that comes after a close in its market waits for it. */
const longestSoughtMs = 5_000;

const nothingAwaited = {
  awaitedUntilMs: null,
  doubtedUntilMs: null,
  soughtUntilMs: null,
  isMissing: false,
} as const;

/** How an order ended, as far as the ledger knows. */
function endOf({ lastReport: report, proved, followed, isFollowed, cancelled }: OrderRecord) {
  // An order that its fills alone have proved was never reported; it is not known to have ended.
  const hasReportedFill = (decimalIn(report?.filled) ?? proved ?? zero).gt(zero);
  const hasEndedAtOnce = hasReportedFill && (report === null || isOrderEnd(report.status));
  const hasFollowedEnd = followed !== null && !isStillOpen(followed.status);
  const hasFill = hasReportedFill || (followed !== null && hasFilled(followed));
  const isCancelledUnfilled = cancelled?.filled?.eq(zero) === true;
  return {
    isFilled: hasEndedAtOnce || followed?.status === 'filled',
    // While it is followed, a list may still show a fill of it.
    isUnfilled: !hasFill && ((hasFollowedEnd && isFollowed === false) || isCancelledUnfilled),
    /** It has a fill, and may have ended at any time since. */
    isPartial: hasFill && !hasEndedAtOnce && !hasFollowedEnd,
    /** On the exchange's clock; null when nobody said. */
    endedAtMs: (hasEndedAtOnce ? (report?.endedAtMs ?? report?.createdAtMs) : followed?.endedAtMs) ?? null,
    /** When a cancellation of this relay was answered, on its own clock; null: none has found a fill. */
    cancelledAtMs: isCancelledUnfilled ? null : (cancelled?.atMs ?? null),
  };
}

/**
 * From this time on, lists show the exits of the entry. Without its end, the last change of the position tells of its fill.
 *
 * @param lagMs how long after its end that may take
 */
function listedByMs(
  end: ReturnType<typeof endOf>,
  { modifiedAtMs, atMs }: Closed,
  nowMs: number,
  lagMs: number,
): number {
  if (end.endedAtMs === null && end.cancelledAtMs !== null) return end.cancelledAtMs + lagMs;
  const placedAtMs = end.endedAtMs ?? (end.isPartial ? atMs : (modifiedAtMs ?? atMs));
  return nowMs + lagMs - Math.max(0, atMs - placedAtMs);
}
