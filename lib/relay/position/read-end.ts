import { type Decimal, maximum, parseDecimal, sumOf, zero } from '../../base/decimal.ts';
import type { ExchangeClient, SendOptions } from '../../exchange/client.ts';
import { ifRead } from '../../exchange/errors.ts';
import { type ListedWhole, readListedOrder } from '../../exchange/list-account.ts';
import type { Entry } from '../../ledger/entry.ts';
import { filledBy, orderRecordOf } from '../../ledger/order-record.ts';
import { type CancelledOrder, cancelledOf } from '../../model/step-facts.ts';
import type { TargetOutcome } from '../cancel/cancel-outcomes.ts';

/** What became of a resting entry that was to be cancelled. */
export interface EntryEnd {
  readonly entry: Entry;
  /** Whether it may still rest, and fill. */
  readonly mayRest: boolean;
  /** Whether a request may have cancelled it. */
  readonly wasAsked: boolean;
  /** The order as the exchange reported its end; null when it did not. */
  readonly cancelled: CancelledOrder | null;
  /** Whether it was not open any more. */
  readonly wasGone: boolean;
  /** What it has filled beyond what the ledger had known, in base units; null when that is not known. */
  readonly newlyFilled: Decimal | null;
  /** When its last fill was, on the exchange's clock; null when nobody said, or without one. */
  readonly filledAtMs: number | null;
  /** One sentence. */
  readonly note: string;
}

/**
 * Completes what a cancellation has shown. Of an order that was gone, that may be gone, or that has filled further, the
 * exchange is asked how much it has filled, and when: a list of positions shows it from then on.
 */
export async function readEnd(
  client: ExchangeClient,
  entry: Entry,
  { status, wasGone, cancelled: reported = [], note }: TargetOutcome,
  options: SendOptions,
): Promise<EntryEnd> {
  const known = knownFill(entry);
  const [cancelled = null] = reported;
  // One that nobody has ever seen may still arrive, although the exchange does not have it now.
  const mayCome = entry.status === 'unknown' && entry.orderId === null && cancelled === null;
  const mayRest = status !== 'cancelled' || mayCome;
  const wasAsked = status === 'cancelled' || status === 'unknown';
  const end = { entry, wasAsked, wasGone: wasGone && !mayCome, note };
  if (cancelled !== null && parseDecimal(cancelled.filled).lte(known))
    return { ...end, mayRest, cancelled, newlyFilled: zero, filledAtMs: null };
  // Of one that was not cancelled nothing new is known.
  const orderId = entry.orderId ?? cancelled?.orderId ?? null;
  const listed = wasAsked ? await readAnswered(client, { ...entry, orderId }, options) : null;
  const ended = cancelled ?? (listed?.ended ? cancelledOf(listed.ended) : null);
  const filled = ended === null ? (listed?.open?.filled ?? null) : parseDecimal(ended.filled);
  return {
    ...end,
    // One that is listed as ended rests no more, although the response was lost.
    mayRest: mayRest && ended === null,
    cancelled: ended,
    newlyFilled: filled === null ? (mayRest ? zero : null) : maximum(filled.minus(known), zero),
    filledAtMs: lastFillMs(listed, filled),
  };
}

/** What the ledger knows to be filled. */
function knownFill(entry: Entry): Decimal {
  const record = orderRecordOf(entry);
  return record === null ? zero : filledBy(record);
}

async function readAnswered(
  client: ExchangeClient,
  { orderId, signal }: Entry,
  options: SendOptions,
): Promise<ListedWhole | null> {
  if (orderId === null || signal === null) return null;
  // Without it, the close waits longer for a reading of the position that it can trust.
  return await ifRead(readListedOrder(client, { market: signal.market, orderId }, options));
}

/** Null unless the fills of the list are all that it has filled. */
function lastFillMs(listed: ListedWhole | null, filled: Decimal | null): number | null {
  if (listed === null || filled === null) return null;
  const sum = sumOf(listed.deals.map(({ amount }) => amount));
  return sum.eq(filled) && listed.deals.length > 0 ? Math.max(...listed.deals.map(({ atMs }) => atMs)) : null;
}
