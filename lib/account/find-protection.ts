import { type Decimal, parseDecimal } from '../base/decimal.ts';
import { decimalIn } from '../base/json.ts';
import type { Entry } from '../ledger/entry.ts';
import { followedAs, orderRecordOf } from '../ledger/order-record.ts';
import { isStillOpen, type OrderRole } from '../model/execution.ts';
import { type OpenPosition, openingSideOf } from '../model/holdings.ts';
import { isMarkedReducing, type Side } from '../model/order.ts';
import type { ExitRole } from '../model/signal.ts';

/** After a fill was seen, or a stop-loss was seen to be gone, the stop-loss must be seen within this time. */
export const protectionBoundMs = 60_000;

/**
 * A stop-loss or take-profit that the exchange made from an entry of this relay, or a stop order of this relay that only
 * reduces, as the ledger last knew it.
 */
export interface KnownExit {
  readonly signalId: string;
  readonly orderId: number;
  /** The trigger price of a stop-loss, or the limit price of a take-profit; null when it is not known. */
  readonly price: Decimal | null;
  /** How much of the position it closes, in base units; null when it is not known. */
  readonly amount: Decimal | null;
  /** When the exchange last said something new of it. */
  readonly readAtMs: number;
}

/**
 * The stop-loss orders of this relay that protect a position, as far as the ledger knows.
 *
 * @param followed the entries whose orders are followed
 */
export function findStops(
  { market, amount }: Pick<OpenPosition, 'market' | 'amount'>,
  followed: readonly Entry[],
): readonly KnownExit[] {
  const entrySide = openingSideOf(amount);
  return followed.flatMap((entry) => {
    const { signal } = entry;
    if (signal?.market === market && signal.action === 'order' && isMarkedReducing(signal))
      return findOwnStop(entry, entrySide);
    if (signal?.action === 'protect') return findKept(entry, 'stop_loss', { market, amount });
    return isEntryOf({ market, amount }, entry) ? openExits(entry, 'stop_loss') : [];
  });
}

/** The take-profits of this relay on a position, as far as the ledger knows. */
export function findTargets(
  position: Pick<OpenPosition, 'market' | 'amount'>,
  followed: readonly Entry[],
): readonly KnownExit[] {
  return followed.flatMap((entry) => {
    if (entry.signal?.action === 'protect') return findKept(entry, 'take_profit', position);
    return isEntryOf(position, entry) ? openExits(entry, 'take_profit') : [];
  });
}

/**
 * Whether an entry asked for a stop-loss that no list has shown yet although the relay may still find it: its fill, or the
 * absence of the stop-loss, is younger than the time after which the relay raises an alarm.
 */
export function isStopAwaited(
  position: Pick<OpenPosition, 'market' | 'amount'>,
  followed: readonly Entry[],
  nowMs: number,
): boolean {
  return followed.some((entry) => {
    const { signal, execution, updatedAtMs } = entry;
    if (!isEntryOf(position, entry) || signal === null || !('stopLoss' in signal)) return false;
    if (signal.stopLoss === undefined || followedAs(orderRecordOf(entry), 'stop_loss') !== null) return false;
    const sinceMs = execution === null ? updatedAtMs : (execution.unprotectedSinceMs ?? execution.readAtMs);
    return nowMs - sinceMs < protectionBoundMs;
  });
}

/** Whether a position may come from an entry. The side of a position signal is that of what it opened. */
function isEntryOf(
  { market, amount }: Pick<OpenPosition, 'market' | 'amount'>,
  { signal }: Pick<Entry, 'signal'>,
): boolean {
  if (signal?.market !== market) return false;
  if (signal.action === 'close') return false;
  return signal.action !== 'order' || (!isMarkedReducing(signal) && signal.side === openingSideOf(amount));
}

function openExits(entry: Entry, role: OrderRole): readonly KnownExit[] {
  const record = orderRecordOf(entry);
  const { exits = [], followed, readAtMs = null } = record ?? {};
  if (readAtMs === null) return [];
  return exits.flatMap(({ role: own, order }) => {
    if (own !== role || order === null || !isStillOpen(order.status)) return [];
    const { orderId, price } = order;
    const amount = decimalIn(order.amount ?? followed?.filled);
    return [{ signalId: entry.signalId, orderId, price: decimalIn(price), amount, readAtMs }];
  });
}

/** An order that the relay has placed to keep the protection of a position. */
function findKept(
  entry: Entry,
  role: ExitRole,
  { market, amount }: Pick<OpenPosition, 'market' | 'amount'>,
): readonly KnownExit[] {
  const record = orderRecordOf(entry);
  if (record?.protects?.role !== role || record.market !== market) return [];
  const { followed, asked, readAtMs, side } = record;
  if (followed === null || asked === null || readAtMs === null || !isStillOpen(followed.status)) return [];
  if (side === openingSideOf(amount)) return [];
  const price = 'stopPrice' in asked ? asked.stopPrice : 'limitPrice' in asked ? asked.limitPrice : null;
  const left = record.amount?.minus(parseDecimal(followed.filled)) ?? null;
  return [
    { signalId: entry.signalId, orderId: followed.orderId, price: decimalIn(price), amount: left, readAtMs },
  ];
}

/** A stop order of its own that stops the position out, such as one that replaces a missing stop-loss. */
function findOwnStop(entry: Entry, entrySide: Side): readonly KnownExit[] {
  const { signal, signalId } = entry;
  if (signal?.action !== 'order' || signal.side === entrySide || !('stopPrice' in signal)) return [];
  const { followed = null, reported = null, readAtMs = null } = orderRecordOf(entry) ?? {};
  if (followed === null || readAtMs === null || !isStillOpen(followed.status)) return [];
  const condition = entrySide === 'buy' ? 'lte' : 'gte';
  // The exchange decides when it takes a stop order whether it waits for the price to rise or to fall.
  if ((reported?.activationCondition ?? condition) !== condition) return [];
  const price = parseDecimal(signal.stopPrice);
  const amount = decimalIn(reported?.amount)?.minus(parseDecimal(followed.filled)) ?? null;
  return [{ signalId, orderId: followed.orderId, price, amount, readAtMs }];
}
