import { type Decimal, parseDecimal, zero } from '../base/decimal.ts';
import { decimalIn, fieldsOf, type Json, numberIn } from '../base/json.ts';
import { longestOrderLagMs, longestPositionLagMs } from '../exchange/lag.ts';
import type { Entry } from '../ledger/entry.ts';
import { reportedOrderIn } from '../ledger/reported-order.ts';
import { isStillOpen, type OrderExecution, orderOf } from '../model/execution.ts';
import type { OpenPosition } from '../model/holdings.ts';
import { type Order, type PositionSide, type Side, sides } from '../model/order.ts';
import { orderSignalOf } from '../positions/sent-order.ts';

/** An order of the relay whose effect the exchange's lists may not show yet. */
export interface OwnOrder {
  readonly signalId: string;
  readonly market: string;
  readonly side: Side;
  readonly positionSide: PositionSide | undefined;
  /** What may be left of it, or what of it was filled when it has ended, in base units; null when the ledger does not say it. */
  readonly amount: Decimal | null;
  /** What all of it is worth, in USDT; null when the ledger does not say it. */
  readonly notional: Decimal | null;
  readonly onlyReduces: boolean;
}

/**
 * The orders of these entries that are not in the list of open orders, and still may be open or may have been filled
 * without the positions showing it. They count in full.
 *
 * @param entries of the account, as the ledger has them; `listed` and `positions` were read afterwards
 */
export function findUnlisted(
  entries: readonly Entry[],
  { listed, positions }: { readonly listed: readonly Order[]; readonly positions: readonly OpenPosition[] },
  nowMs: number,
): readonly OwnOrder[] {
  const ids = new Set(listed.flatMap(({ orderId, clientOrderId }) => [String(orderId), clientOrderId]));
  return entries
    .filter(({ orderId, clientOrderId }) => !ids.has(String(orderId)) && !ids.has(clientOrderId ?? '–'))
    .filter((entry) => mayBeUnseen(entry, positions, nowMs))
    .flatMap((entry) => ownOrderOf(entry) ?? []);
}

/** The stop-loss and take-profit orders that the exchange made from entries of this relay. */
export function listExitIds(entries: readonly Entry[]): ReadonlySet<number> {
  return new Set(
    entries.flatMap(({ execution }) =>
      (execution?.orders ?? []).flatMap(({ role, orderId }) => (role === 'order' ? [] : [orderId])),
    ),
  );
}

function mayBeUnseen(entry: Entry, positions: readonly OpenPosition[], nowMs: number): boolean {
  if (entry.status === 'sending' || entry.status === 'unknown') return true;
  if (entry.status !== 'placed') return false;
  const own = orderOf(entry.execution, 'order');
  if (own !== null && !isStillOpen(own.status)) return isFillUnseen(entry, own, positions, nowMs);
  const ageMs = nowMs - entry.updatedAtMs;
  // A negative age means that the clock was set back: how old the order is is not known.
  if (ageMs >= (entry.orderOpen ? longestOrderLagMs : longestPositionLagMs)) return false;
  return !isShown(entry, positions);
}

/** A position may change a little before the end of the order that changed it. */
const earlierMs = 1_000;

/** Whether an order that has ended was filled so lately that the list of positions may not show it. */
function isFillUnseen(
  { signal, execution }: Entry,
  { filled, endedAtMs }: OrderExecution,
  positions: readonly OpenPosition[],
  nowMs: number,
): boolean {
  const filledAtMs = endedAtMs ?? execution?.readAtMs ?? 0;
  if (parseDecimal(filled).eq(zero) || Math.abs(nowMs - filledAtMs) >= longestPositionLagMs) return false;
  return !positions.some(
    ({ market, modifiedAtMs }) =>
      market === signal?.market && modifiedAtMs !== null && modifiedAtMs >= filledAtMs - earlierMs,
  );
}

/** Whether a position of its market changed after the order was created: then it includes what was filled at once. */
function isShown(entry: Entry, positions: readonly OpenPosition[]): boolean {
  const createdAtMs = numberIn(placedOrderOf(entry)['createdAtMs']);
  if (createdAtMs === null || entry.orderOpen) return false;
  return positions.some(
    ({ market, modifiedAtMs }) =>
      market === entry.signal?.market && modifiedAtMs !== null && modifiedAtMs >= createdAtMs,
  );
}

/** What is known of the order of an entry; null when it is no order. */
export function ownOrderOf(entry: Entry): OwnOrder | null {
  const { signal, signalId } = entry;
  if (signal === null) return null;
  const counted = fieldsOf(evidenceOf(entry, 'sending')['counted']);
  const asked = orderSignalOf(entry);
  const side = sides.find((one) => one === counted['side']) ?? asked?.side;
  if (side === undefined) return null;
  const amount = decimalIn(counted['amount']) ?? amountOf(entry);
  return {
    signalId,
    market: signal.market,
    side,
    positionSide: asked?.positionSide,
    amount: hasEnded(entry) ? filledOf(entry) : (amount?.minus(filledOf(entry)) ?? null),
    notional: decimalIn(counted['notional']),
    onlyReduces: counted['onlyReduces'] === true || asked?.reduceOnly === true,
  };
}

/** The amount of an order that was sent before its account had limits. */
function amountOf(entry: Entry): Decimal | null {
  const size = orderSignalOf(entry)?.size;
  const reported =
    decimalIn(placedOrderOf(entry)['amount']) ?? decimalIn(evidenceOf(entry, 'sending')['amount']);
  if (reported !== null) return reported;
  return size?.unit === 'base' ? parseDecimal(size.quantity) : null;
}

function hasEnded({ execution }: Entry): boolean {
  const own = orderOf(execution, 'order');
  return own !== null && !isStillOpen(own.status);
}

function filledOf({ execution }: Entry): Decimal {
  const own = orderOf(execution, 'order');
  return own === null ? zero : parseDecimal(own.filled);
}

/** The order as the response to its creation reported it, as far as the ledger keeps it. */
function placedOrderOf(entry: Entry): Readonly<Record<string, Json>> {
  return reportedOrderIn(evidenceOf(entry, 'placed')) ?? {};
}

function evidenceOf({ steps }: Entry, status: Entry['status']): Readonly<Record<string, Json>> {
  return fieldsOf(steps.findLast((step) => step.status === status)?.evidence);
}
