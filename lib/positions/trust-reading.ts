import * as z from 'zod/mini';
import { type Decimal, parseDecimal } from '../base/decimal.ts';
import { longestPositionLagMs } from '../exchange/lag.ts';
import type { Entry } from '../ledger/entry.ts';
import { placesOrder } from '../model/signal.ts';
import type { SeenPosition } from './seen-position.ts';

/** The last order of this relay in a market that may have changed the position. */
export interface LastOrder {
  readonly signalId: string;
  /** When its response, or the lookup that found it, was stored. */
  readonly answeredAtMs: number;
  /** What the position must be after it; null when nobody read the position before it, or when it may still fill. */
  readonly expected: SeenPosition | null;
}

const SeenBefore = z.object({
  position: z.object({ amount: z.string(), side: z.optional(z.enum(['LONG', 'SHORT'])) }),
});
/** The order as responses and lists report it, which is the evidence of `placed`. */
const ReportedOrder = z.object({
  order: z.object({ side: z.enum(['buy', 'sell']), status: z.string(), filled: z.string() }),
});
/** With the cancellation of what did not fill at once. */
const EndedOrder = z.object({ ended: z.nullable(ReportedOrder.shape.order) });

/**
 * Finds the last order among entries of an account.
 *
 * @param entries oldest first
 */
export function findLastOrder(entries: readonly Entry[], market: string): LastOrder | null {
  const moved = entries.filter((entry) => entry.signal?.market === market && mayHaveMoved(entry));
  // The sort is stable: of two orders of one millisecond, the one that was stored later comes last.
  const last = moved.toSorted((one, other) => sentAtMs(one) - sentAtMs(other)).at(-1);
  if (last === undefined) return null;
  const { signalId, updatedAtMs } = last;
  return { signalId, answeredAtMs: last.steps.at(-1)?.atMs ?? updatedAtMs, expected: expectedAfter(last) };
}

/** Whether its order reached the exchange and was accepted there. One that was cancelled after that may have filled in part. */
function mayHaveMoved({ status, signal, steps }: Entry): boolean {
  if (signal === null || !placesOrder(signal)) return false;
  return status === 'placed' || (status === 'cancelled' && steps.some((step) => step.status === 'sending'));
}

function sentAtMs({ steps, createdAtMs }: Entry): number {
  return steps.findLast(({ status }) => status === 'sending')?.atMs ?? createdAtMs;
}

function expectedAfter({ steps }: Entry): SeenPosition | null {
  const before = z.safeParse(SeenBefore, steps.findLast(({ status }) => status === 'sending')?.evidence);
  const evidence = steps.findLast(({ status }) => status === 'placed')?.evidence;
  const filled = before.success ? signedFill(evidence) : null;
  if (!before.success || filled === null) return null;
  const { amount, side } = before.data.position;
  return { amount: parseDecimal(amount).plus(filled), side: side ?? null };
}

/** Above zero for a buy, in base units; null while the order may still fill, or when its report cannot be read. */
function signedFill(evidence: unknown): Decimal | null {
  const ended = z.safeParse(EndedOrder, evidence);
  const reported = z.safeParse(ReportedOrder, evidence);
  const order = (ended.success ? ended.data.ended : null) ?? (reported.success ? reported.data.order : null);
  if (order === null || (order.status !== 'filled' && order.status !== 'cancelled')) return null;
  const filled = parseDecimal(order.filled);
  return order.side === 'buy' ? filled : filled.times('-1');
}

/** A reading of the positions, and when it began. */
export interface DatedPosition {
  readonly position: SeenPosition;
  readonly readAtMs: number;
}

/**
 * Whether a reading shows what the last order did: it is what that order must have made of the position, or it began long
 * enough after its answer.
 */
export function isTrusted({ position, readAtMs }: DatedPosition, last: LastOrder | null): boolean {
  if (last === null || readAtMs - last.answeredAtMs > longestPositionLagMs) return true;
  const { expected } = last;
  return expected !== null && expected.side === position.side && expected.amount.eq(position.amount);
}
