import { type Decimal, parseDecimal, zero } from '../base/decimal.ts';
import { longestOrderLagMs } from '../exchange/lag.ts';
import { type CancelReports, findCancelledFill } from '../ledger/cancel-reports.ts';
import type { Entry } from '../ledger/entry.ts';
import { finalReport, stepFacts } from '../ledger/order-facts.ts';
import { hasFilled, isStillOpen, orderOf } from '../model/execution.ts';
import { isOrderEnd, type Side } from '../model/order.ts';
import type { OrderReport } from '../model/step-facts.ts';
import { type EntryExits, exitsOf } from './exits.ts';
import type { SeenPosition } from './seen-position.ts';

/** The exits that the exchange placed, or may have placed, when an entry filled. */
export interface Claim extends EntryExits {
  /** Whether the entry is known to have filled, with nothing left to fill. */
  readonly isFilled: boolean;
  /** Whether an earlier close has ended them. */
  readonly hasEnded: boolean;
  /** Until then, lists need not show them; null: they must, or there are none. */
  readonly awaitedUntilMs: number | null;
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

/** What was read beside the entries. */
export interface Findings {
  readonly reports: CancelReports;
  /** The signals whose exits earlier closes have ended. */
  readonly endedBefore: ReadonlySet<string>;
  readonly nowMs: number;
}

/** Null when the entry has no exits, or those of another position. */
export function claimOf(entry: Entry, closed: Closed, findings: Findings): Claim | null {
  const { signalId, steps, status } = entry;
  const reporting = steps.findLast(({ facts }) => facts?.report !== undefined)?.facts;
  if (reporting === undefined && status !== 'placed') return null;
  const exits = exitsOf(entry);
  const { position, closingSide } = closed;
  if (exits === null || (closingSide !== null && exits.side !== closingSide)) return null;
  if (position.side !== null && exits.positionSide !== position.side) return null;
  const end = entryEndOf(entry, reporting === undefined ? null : finalReport(reporting), findings);
  const isKnown = exits.ids.length > 0;
  if (!isKnown && end.isUnfilled) return null;
  const hasEnded = findings.endedBefore.has(signalId);
  const awaitedUntilMs = isKnown || hasEnded ? null : listedByMs(end, closed, findings.nowMs);
  return { ...exits, isFilled: end.isFilled, hasEnded, awaitedUntilMs };
}

/** How the order of an entry ended, as far as the ledger knows. */
interface EntryEnd {
  readonly isFilled: boolean;
  /** It has ended without a fill. */
  readonly isUnfilled: boolean;
  /** It has a fill, and may have ended at any time since. */
  readonly isPartial: boolean;
  /** On the exchange's clock; null when nobody said. */
  readonly endedAtMs: number | null;
  /** When a cancellation of this relay was answered, on its own clock; null: none has found a fill. */
  readonly cancelledAtMs: number | null;
}

function entryEndOf(entry: Entry, report: OrderReport | null, { reports }: Findings): EntryEnd {
  const own = orderOf(entry.execution, 'order');
  // An order that its fills alone have proved was never reported; it is not known to have ended.
  const { proved } = stepFacts(entry, 'placed');
  const hasReportedFill = parseDecimal(report?.filled ?? proved?.filled ?? '0').gt(zero);
  const hasEndedAtOnce = hasReportedFill && (report === null || isOrderEnd(report.status));
  const hasFollowedFill = own !== null && hasFilled(own);
  const hasFollowedEnd = own !== null && !isStillOpen(own.status);
  const cancelled = findCancelledFill(entry, reports);
  const hasFill = hasReportedFill || hasFollowedFill;
  const isCancelledUnfilled = cancelled?.filled?.eq(zero) === true;
  return {
    isFilled: hasEndedAtOnce || own?.status === 'filled',
    // While it is followed, a list may still show a fill of it.
    isUnfilled:
      !hasFill && ((hasFollowedEnd && entry.execution?.isFollowed === false) || isCancelledUnfilled),
    isPartial: hasFill && !hasEndedAtOnce && !hasFollowedEnd,
    endedAtMs: hasEndedAtOnce ? (report?.endedAtMs ?? report?.createdAtMs ?? null) : (own?.endedAtMs ?? null),
    cancelledAtMs: cancelled === null || isCancelledUnfilled ? null : cancelled.atMs,
  };
}

/** From this time on, lists show the exits of the entry. Without its end, the last change of the position tells of its fill. */
function listedByMs(end: EntryEnd, { modifiedAtMs, atMs }: Closed, nowMs: number): number {
  if (end.endedAtMs === null && end.cancelledAtMs !== null) return end.cancelledAtMs + longestOrderLagMs;
  const placedAtMs = end.endedAtMs ?? (end.isPartial ? atMs : (modifiedAtMs ?? atMs));
  return nowMs + longestOrderLagMs - Math.max(0, atMs - placedAtMs);
}
