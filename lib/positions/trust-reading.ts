import * as z from 'zod/mini';
import { type Decimal, parseDecimal, zero } from '../base/decimal.ts';
import { decimalIn, fieldsOf, type Json, numberIn } from '../base/json.ts';
import { longestPositionLagMs } from '../exchange/lag.ts';
import type { Entry } from '../ledger/entry.ts';
import { reportedOrderIn } from '../ledger/reported-order.ts';
import { placesOrder } from '../model/signal.ts';
import type { SeenPosition } from './seen-position.ts';

/** The last order of this relay in a market that may have changed the position. */
export interface LastOrder {
  readonly signalId: string;
  /** When its response, or what became of it later, was stored. */
  readonly answeredAtMs: number;
  /** When it ended, on the exchange's clock; null while it may still fill, or when nobody said. */
  readonly endedAtMs: number | null;
  /** What the position must be after it; null when nobody read the position before it, or when it may still fill. */
  readonly expected: SeenPosition | null;
}

const SeenBefore = z.object({
  position: z.object({ amount: z.string(), side: z.optional(z.enum(['LONG', 'SHORT'])) }),
});

/**
 * Finds the last order among entries of an account.
 *
 * @param entries oldest first
 */
export function findLastOrder(entries: readonly Entry[], market: string): LastOrder | null {
  const moved = entries.filter((entry) => entry.signal?.market === market && mayHaveMoved(entry));
  // The sort is stable: of two orders of one millisecond, the one that was stored later comes last.
  const sent = moved.toSorted((one, other) => sentAtMs(one) - sentAtMs(other)).at(-1);
  const last = sent === undefined ? null : describeSent(sent);
  // What had rested may have filled after that, and the owner may have learnt it from a cancellation.
  const later = entries
    .filter(({ signal }) => signal?.market === market)
    .flatMap((entry) => findLaterFill(entry) ?? findFillInCancel(entry) ?? [])
    .filter(({ answeredAtMs }) => last === null || answeredAtMs > last.answeredAtMs)
    .toSorted((one, other) => one.answeredAtMs - other.answeredAtMs);
  return later.at(-1) ?? last;
}

function describeSent(entry: Entry): LastOrder {
  const { signalId, updatedAtMs, steps } = entry;
  const evidence = placedEvidenceOf(entry);
  const order = signedFill(evidence) === null ? null : reportedOrderIn(evidence);
  return {
    signalId,
    answeredAtMs: steps.at(-1)?.atMs ?? updatedAtMs,
    endedAtMs: numberIn(order?.['endedAtMs']) ?? numberIn(order?.['createdAtMs']),
    expected: expectedAfter(entry),
  };
}

/** A fill of an order that had rested, or of an exit, which the follower has stored. */
function findLaterFill(entry: Entry): LastOrder | null {
  const { execution, signalId } = entry;
  if (execution === null) return null;
  const isKnown = signedFill(placedEvidenceOf(entry)) !== null;
  const filled = execution.orders.filter(
    (order) => !(order.role === 'order' && isKnown) && parseDecimal(order.filled).gt(zero),
  );
  if (filled.length === 0) return null;
  const ends = filled.map(({ endedAtMs }) => endedAtMs);
  const endedAtMs = ends.every((end) => end !== null) ? Math.max(...ends) : null;
  return { signalId, answeredAtMs: execution.readAtMs, endedAtMs, expected: null };
}

/** A cancellation that came too late: an order was filled before it, in part or as a whole. */
function findFillInCancel({ signal, signalId, steps }: Entry): LastOrder | null {
  if (signal === null || placesOrder(signal)) return null;
  const last = steps.at(-1);
  if (last === undefined || !tellsOfFill(last.evidence)) return null;
  return { signalId, answeredAtMs: last.atMs, endedAtMs: null, expected: null };
}

/** An order that is gone may have been filled. */
function tellsOfFill(evidence: Json | undefined): boolean {
  if (Array.isArray(evidence)) return evidence.some(tellsOfFill);
  const fields = fieldsOf(evidence);
  const isFilled = 'orderId' in fields && decimalIn(fields['filled'])?.gt(zero) === true;
  return isFilled || fields['wasGone'] === true || Object.values(fields).some(tellsOfFill);
}

function placedEvidenceOf({ steps }: Entry): Json | undefined {
  return steps.findLast(({ status }) => status === 'placed')?.evidence;
}

/** Whether its order reached the exchange and was accepted there. One that was cancelled after that may have filled in part. */
function mayHaveMoved({ status, signal, steps }: Entry): boolean {
  if (signal === null || !placesOrder(signal)) return false;
  return status === 'placed' || (status === 'cancelled' && steps.some((step) => step.status === 'sending'));
}

function sentAtMs({ steps, createdAtMs }: Entry): number {
  return steps.findLast(({ status }) => status === 'sending')?.atMs ?? createdAtMs;
}

function expectedAfter(entry: Entry): SeenPosition | null {
  const sending = entry.steps.findLast(({ status }) => status === 'sending');
  const before = z.safeParse(SeenBefore, sending?.evidence);
  const filled = before.success ? signedFill(placedEvidenceOf(entry)) : null;
  if (!before.success || filled === null) return null;
  const { amount, side } = before.data.position;
  return { amount: parseDecimal(amount).plus(filled), side: side ?? null };
}

/** Above zero for a buy, in base units; null while the order may still fill, or when its report cannot be read. */
function signedFill(evidence: Json | undefined): Decimal | null {
  // With the cancellation of what did not fill at once.
  const ended = fieldsOf(fieldsOf(evidence)['ended']);
  const order = 'orderId' in ended ? ended : reportedOrderIn(evidence);
  const filled = decimalIn(order?.['filled']);
  if (filled === null || (order?.['status'] !== 'filled' && order?.['status'] !== 'cancelled')) return null;
  return order['side'] === 'buy' ? filled : filled.times('-1');
}

/** A reading of the positions, and when it began. */
export interface DatedPosition {
  readonly position: SeenPosition;
  readonly readAtMs: number;
  /** When the position changed last, on the exchange's clock; null when there is none. */
  readonly modifiedAtMs: number | null;
}

/**
 * Whether a reading shows what the last order did: it is what that order must have made of the position, the position has
 * changed since the order ended, or the reading began long enough after its answer.
 */
export function isTrusted(
  { position, readAtMs, modifiedAtMs }: DatedPosition,
  last: LastOrder | null,
): boolean {
  if (last === null || readAtMs - last.answeredAtMs > longestPositionLagMs) return true;
  const { expected, endedAtMs } = last;
  if (endedAtMs !== null && modifiedAtMs !== null && modifiedAtMs >= endedAtMs) return true;
  return expected !== null && expected.side === position.side && expected.amount.eq(position.amount);
}
