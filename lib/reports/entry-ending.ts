import { type Decimal, parseDecimal, sumOf, zero } from '../base/decimal.ts';
import type { Entry } from '../ledger/entry.ts';
import { type OrderRecord, orderRecordOf } from '../ledger/order-record.ts';
import { type FillRole, isStillOpen, type OrderExecution } from '../model/execution.ts';
import { type Currencies, currenciesInName } from '../model/market.ts';
import type { EntryLot } from './entry-lots.ts';
import { factsOf } from './signal-facts.ts';

/**
 * How the order of a signal stands, or how it ended:
 *
 * - `unread`: placed, and nothing was read of it yet
 * - `waiting`, `filling`: the order is open, and nothing or a part of it was filled
 * - `open`: what it opened is open, as far as the relay knows
 * - `stopped_out`, `target`: stop-losses, or take-profits, closed all of it
 * - `closed`: orders of other signals closed it, or a stop-loss and a take-profit did
 * - `closed_elsewhere`: the position is gone, and no fill that the relay knows closed it
 * - `uncertain`: a part of the position was closed by no fill that the relay knows, and it is not known which
 * - `reduced`: the order itself closed what others had opened
 * - `cancelled`, `unfilled`: it ended without a fill: somebody cancelled it, or the exchange did at once
 * - `gone`: it is not open, and no list says how it ended
 */
export type EndingState =
  | 'unread'
  | 'waiting'
  | 'filling'
  | 'open'
  | 'stopped_out'
  | 'target'
  | 'closed'
  | 'closed_elsewhere'
  | 'uncertain'
  | 'reduced'
  | 'cancelled'
  | 'unfilled'
  | 'gone';

export interface Ending {
  readonly state: EndingState;
  /** What its closed part made, or what it made by closing, after fees; null when nothing was closed or it is not known. */
  readonly profit: Decimal | null;
  /** The currency of the profit. */
  readonly quote: string;
  /** What is still open of what was filled, in base units; null when that is not known. */
  readonly left: Decimal | null;
  /** Currencies of fees that the profit leaves out, because nobody says what they were worth. */
  readonly unvaluedFees: readonly string[];
  /** Of `cancelled`: the exchange's own word for its reason; null when it gave none. */
  readonly reason: string | null;
}

/**
 * How the order of an entry ended, as far as the stored executions say.
 *
 * @param lot what the stored fills of all signals say of it; null: they were not read. Without them only the exits of the
 *   entry are known: what another order closed counts as open, and a reducing order has no profit.
 * @returns null for an entry that placed no order
 */
export function endingOf(entry: Entry, lot: EntryLot | null = null): Ending | null {
  const record = orderRecordOf(entry);
  const facts = factsOf(entry);
  if (record?.status !== 'placed' || facts === null) return null;
  const currencies = currenciesInName(record.market);
  const none: Ending = {
    state: 'unread',
    profit: null,
    quote: currencies.quote,
    left: null,
    unvaluedFees: [],
    reason: null,
  };
  const own = record.followed;
  if (own === null) return none;
  if (!parseDecimal(own.filled).gt(zero)) return { ...none, ...endUnfilled(record, own) };
  if (isStillOpen(own.status)) return { ...none, state: 'filling' };
  const byExits = isClosedOtherwise(lot) ? null : endByExits(record, own, currencies);
  if (byExits !== null) return { ...none, ...byExits };
  if (lot === null) return { ...none, state: facts.onlyReduces ? 'reduced' : 'open' };
  return { ...none, ...endByFills(lot), unvaluedFees: lot.unvaluedFees };
}

function endUnfilled({ reported }: OrderRecord, own: OrderExecution): Partial<Ending> {
  if (isStillOpen(own.status)) return { state: 'waiting' };
  if (own.status === 'gone') return { state: 'gone' };
  const { endReason = null } = own;
  return {
    state: endReason === null && reported?.status === 'cancelled' ? 'unfilled' : 'cancelled',
    reason: endReason,
  };
}

/** Whether something else closed a part of it. An exit that fills after that opens the other side, and may be as large. */
function isClosedOtherwise(lot: EntryLot | null): boolean {
  return lot !== null && [...lot.closedBy].some((role) => role === 'order' || role === 'other');
}

/** When the exits closed all that was filled, its profit needs no other fills. @returns null when they did not */
function endByExits(
  record: OrderRecord,
  own: OrderExecution,
  { base, quote }: Currencies,
): Partial<Ending> | null {
  const { side } = record;
  const exits = record.exits.flatMap(({ order }) => order ?? []);
  const closed = sumOf(exits.map(({ filled }) => parseDecimal(filled)));
  if (side === null || !closed.eq(parseDecimal(own.filled))) return null;
  const orders = [own, ...exits];
  const worth = sumOf(exits.map(({ filledNotional }) => parseDecimal(filledNotional)));
  const cost = parseDecimal(own.filledNotional);
  const gross = side === 'buy' ? worth.minus(cost) : cost.minus(worth);
  const fees = sumOf(orders.map((order) => feesOf(order, { base, quote })));
  const filled = new Set(exits.filter((exit) => parseDecimal(exit.filled).gt(zero)).map(({ role }) => role));
  const paid = new Set(orders.flatMap((order) => Object.keys(order.fees)));
  return {
    state: filled.size === 2 ? 'closed' : filled.has('stop_loss') ? 'stopped_out' : 'target',
    profit: gross.minus(fees),
    left: zero,
    unvaluedFees: [...paid].filter((asset) => asset !== base && asset !== quote).sort(),
  };
}

/** In the quote currency; a fee in the base currency at the average price of the order. */
export function feesOf(
  { fees, filled, filledNotional }: OrderExecution,
  { base, quote }: Currencies,
): Decimal {
  const inQuote = parseDecimal(fees[quote] ?? '0');
  const inBase = base === quote ? zero : parseDecimal(fees[base] ?? '0');
  if (inBase.eq(zero)) return inQuote;
  return inQuote.plus(inBase.times(parseDecimal(filledNotional)).div(parseDecimal(filled)));
}

function endByFills(lot: EntryLot): Partial<Ending> {
  const { opened, left, profit, closed, realised, unmatched, closedBy } = lot;
  if (opened.eq(zero)) return { state: 'reduced', profit: unmatched.gt(zero) ? null : realised, left: zero };
  const total = profit.plus(realised);
  if (left.eq(zero)) return { state: closingState(closedBy), profit: total, left };
  return { state: 'open', profit: closedBy.size === 0 && closed.eq(zero) ? null : total, left };
}

/** Stop-losses and take-profits alone, whether the exchange made them or the relay placed them. */
function closingState(closedBy: ReadonlySet<FillRole>): EndingState {
  if (closedBy.size !== 1) return 'closed';
  return closedBy.has('stop_loss') ? 'stopped_out' : closedBy.has('take_profit') ? 'target' : 'closed';
}
