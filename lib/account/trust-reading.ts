import { type Decimal, parseDecimal, zero } from '../base/decimal.ts';
import { longestPositionLagMs } from '../exchange/lag.ts';
import { type CancelReports, cancelReportsIn, findCancelledFill } from '../ledger/cancel-reports.ts';
import type { Entry } from '../ledger/entry.ts';
import { finalReport, stepFacts } from '../ledger/order-facts.ts';
import { hasFilled, orderOf } from '../model/execution.ts';
import { isOrderEnd } from '../model/order.ts';
import { placesOrder } from '../model/signal.ts';
import type { StepFacts } from '../model/step-facts.ts';
import type { SeenPosition } from './seen-position.ts';

/**
 * The last order of this relay in a market that may have changed the position.
 *
 * @see DECISIONS 152
 */
export interface LastOrder {
  readonly signalId: string;
  /** When its response, or what became of it later, was stored. */
  readonly answeredAtMs: number;
  /** When it ended, on the exchange's clock; null while it may still fill, or when nobody said. */
  readonly endedAtMs: number | null;
  /** What the position must be after it; null when nobody read the position before it, or when it may still fill. */
  readonly expected: SeenPosition | null;
}

/**
 * The last order of this relay in a market, and what is known of fills after its answer: of orders that had rested, and of
 * exits.
 *
 * @param entries of an account, oldest first
 */
export function findLastMoves(entries: readonly Entry[], market: string): readonly LastOrder[] {
  const ofMarket = entries.filter(({ signal }) => signal?.market === market);
  const reports = cancelReportsIn(ofMarket);
  const moved = ofMarket.filter(
    (entry) => mayHaveMoved(entry) && !restsUnfilled(entry) && !wasCancelledUnfilled(entry, reports),
  );
  // The sort is stable: of two orders of one millisecond, the one that was stored later comes last.
  const sent = moved.toSorted((one, other) => sentOrCreatedAtMs(one) - sentOrCreatedAtMs(other)).at(-1);
  const last = sent === undefined ? [] : [describeSent(sent)];
  const later = ofMarket
    .flatMap((entry) => [...findFollowedFill(entry), ...findFillInCancel(entry, reports)])
    .filter(({ answeredAtMs }) => last.every((order) => answeredAtMs > order.answeredAtMs));
  return [...last, ...later];
}

function wasCancelledUnfilled({ orderId }: Entry, { ended }: CancelReports): boolean {
  return orderId !== null && ended.get(orderId)?.filled.eq(zero) === true;
}

/**
 * Whether its response said that it rests and that nothing of it was filled. A fill after the response is as new to the
 * list as that of an order which has rested for hours.
 */
function restsUnfilled(entry: Entry): boolean {
  const order = finalReport(stepFacts(entry, 'placed'));
  return order !== null && !isOrderEnd(order.status) && parseDecimal(order.filled).eq(zero);
}

function describeSent(entry: Entry): LastOrder {
  const { signalId, updatedAtMs, steps } = entry;
  const facts = stepFacts(entry, 'placed');
  const order = signedFill(facts) === null ? null : finalReport(facts);
  return {
    signalId,
    answeredAtMs: steps.at(-1)?.atMs ?? updatedAtMs,
    // What had to be cancelled may have filled after it was created.
    endedAtMs: order?.endedAtMs ?? (facts.ended === undefined ? (order?.createdAtMs ?? null) : null),
    expected: expectedAfter(entry),
  };
}

/** A fill of an order that had rested, or of an exit, which the follower has stored. */
function findFollowedFill(entry: Entry): readonly LastOrder[] {
  const { execution, signalId } = entry;
  const isReported = signedFill(stepFacts(entry, 'placed')) !== null;
  const filled = (execution?.orders ?? []).filter(
    (order) => !(order.role === 'order' && isReported) && hasFilled(order),
  );
  if (execution === null || filled.length === 0) return [];
  const ends = filled.map(({ endedAtMs }) => endedAtMs);
  const endedAtMs = ends.every((end) => end !== null) ? Math.max(...ends) : null;
  // The follower also reads what has nothing to do with the fill, long after it.
  const latestMs = endedAtMs === null ? execution.readAtMs : endedAtMs + longestPositionLagMs;
  return [{ signalId, answeredAtMs: Math.min(execution.readAtMs, latestMs), endedAtMs, expected: null }];
}

/** A fill that a cancellation came too late for, and that nothing else has told yet. */
function findFillInCancel(entry: Entry, reports: CancelReports): readonly LastOrder[] {
  const found = findCancelledFill(entry, reports);
  if (found === null) return [];
  const own = orderOf(entry.execution, 'order');
  const followed = own === null ? zero : parseDecimal(own.filled);
  const reported = parseDecimal(finalReport(stepFacts(entry, 'placed'))?.filled ?? '0');
  if (found.filled?.lte(followed) || found.filled?.lte(reported)) return [];
  return [{ signalId: entry.signalId, answeredAtMs: found.atMs, endedAtMs: null, expected: null }];
}

/** Whether its order reached the exchange and was accepted there. One that was cancelled after that may have filled in part. */
function mayHaveMoved({ status, signal, steps }: Entry): boolean {
  if (signal === null || !placesOrder(signal)) return false;
  // It only cancelled orders.
  if (signal.action === 'protect' && stepFacts({ steps }, 'sending').protective === undefined) return false;
  return status === 'placed' || (status === 'cancelled' && steps.some((step) => step.status === 'sending'));
}

function sentOrCreatedAtMs({ steps, createdAtMs }: Entry): number {
  return steps.findLast(({ status }) => status === 'sending')?.atMs ?? createdAtMs;
}

function expectedAfter(entry: Entry): SeenPosition | null {
  const before = stepFacts(entry, 'sending').position;
  const filled = before === undefined ? null : signedFill(stepFacts(entry, 'placed'));
  if (before === undefined || filled === null) return null;
  return { amount: parseDecimal(before.amount).plus(filled), side: before.side ?? null };
}

/** Above zero for a buy, in base units; null while the order may still fill, or when nobody reported it. */
function signedFill(facts: StepFacts): Decimal | null {
  const order = finalReport(facts);
  if (order === null || !isOrderEnd(order.status)) return null;
  const amount = parseDecimal(order.filled);
  return order.side === 'buy' ? amount : amount.times('-1');
}

/** A reading of the positions, and when it began. */
export interface DatedPosition {
  readonly position: SeenPosition;
  readonly readAtMs: number;
  /** When the position changed last, on the exchange's clock; null when there is none. */
  readonly modifiedAtMs: number | null;
}

/** The times of orders and positions may come from several servers of the exchange. */
const clockToleranceMs = 1000;

/**
 * Whether a reading shows what the last order did: it is what that order must have made of the position, the position has
 * changed since the order ended, or the reading began long enough after its answer.
 */
export function isTrusted(
  { position, readAtMs, modifiedAtMs }: DatedPosition,
  { answeredAtMs, expected, endedAtMs }: LastOrder,
): boolean {
  if (readAtMs - answeredAtMs > longestPositionLagMs) return true;
  if (endedAtMs !== null && modifiedAtMs !== null) {
    if (modifiedAtMs >= endedAtMs) return true;
    // As large as expected by chance: another order, which nobody has followed yet, was filled before.
    if (endedAtMs - modifiedAtMs > clockToleranceMs) return false;
  }
  return expected !== null && expected.side === position.side && expected.amount.eq(position.amount);
}
