import { type Decimal, parseDecimal, zero } from '../base/decimal.ts';
import { decimalIn } from '../base/json.ts';
import type { ExitRecord, OrderRecord } from '../ledger/order-record.ts';
import type { WantedExit } from '../ledger/sent-order.ts';
import type { AttachedExits } from '../model/holdings.ts';
import { exitPriceOf, type Order, oppositeOf, type PositionSide, type Side } from '../model/order.ts';

/** The exits of an entry: the orders that the exchange makes when it fills. */
export interface EntryExits extends Pick<OrderRecord, 'signalId' | 'market' | 'filled'> {
  /** Of the exits. */
  readonly side: Side;
  /** The position of hedge mode that they close; `BOTH` in one-way mode. */
  readonly positionSide: PositionSide;
  /** Null while no response has told it. */
  readonly entryOrderId: number | null;
  /** Of those that a list has shown. What is known by its id is known by nothing else from then on. */
  readonly ids: readonly number[];
  /** The others. */
  readonly awaited: readonly AwaitedExit[];
}

/** An exit that the exchange may still make of an order, for all of it or for a part. */
export interface AwaitedExit extends WantedExit {
  /** What of the filled amount has no exit of this kind yet, in base units; nothing while no fill is known. */
  readonly rest: Decimal;
}

/**
 * The exits that the exchange may still have made of an order.
 *
 * @returns null when it asked for none, or when nothing more can become of them; also for an order on spot, of which the
 *   exchange makes none
 */
export function exitsOf({ signalId, market, side, filled, ...record }: OrderRecord): EntryExits | null {
  if (side === null || record.spot !== null) return null;
  const ids = record.exits.flatMap(({ order }) => order?.orderId ?? []);
  const awaited =
    record.isFollowed === false ? [] : record.exits.flatMap((exit) => awaitedOf(exit, record.exits, filled));
  if (ids.length + awaited.length === 0) return null;
  const { positionSide = 'BOTH', orderId: entryOrderId } = record;
  return { signalId, market, side: oppositeOf(side), positionSide, entryOrderId, filled, ids, awaited };
}

/** Such an exit that the exchange may still make: none was seen, or none for a part of what was filled. */
function awaitedOf(
  { order, ...wanted }: ExitRecord,
  exits: readonly ExitRecord[],
  filled: Decimal,
): readonly AwaitedExit[] {
  if (order === null) return [{ ...wanted, rest: filled }];
  const orders = exits.flatMap((exit) => (exit.role === wanted.role ? (exit.order ?? []) : []));
  const isLast = orders.at(-1)?.orderId === order.orderId;
  const parts = orders.map(({ amount }) => decimalIn(amount));
  const rest = parts.reduce<Decimal>((left, part) => (part === null ? zero : left.minus(part)), filled);
  return isLast && rest.gt(zero) ? [{ ...wanted, rest }] : [];
}

/** An order of the exchange's lists. */
export type ExitCandidate = Pick<
  Order,
  'orderId' | 'clientOrderId' | 'market' | 'side' | 'amount' | 'price' | 'activationPrice' | 'onSpot'
>;

/**
 * Whether a listed order may be this exit. The exchange tells no link between an entry and its exits: they carry no client
 * order id, are younger than the entry, and have its market, the other side, and the price that was asked for.
 *
 * @see DECISIONS 147
 */
export function mayBeExit(
  { market, side, entryOrderId, filled }: Pick<EntryExits, 'market' | 'side' | 'entryOrderId' | 'filled'>,
  wanted: WantedExit,
  order: ExitCandidate,
): boolean {
  const isStop = order.activationPrice !== undefined;
  if (wanted.price === null && !isForAll(order, filled)) return false;
  return (
    order.clientOrderId === '' &&
    order.onSpot !== true &&
    order.market === market &&
    order.side === side &&
    order.orderId > (entryOrderId ?? 0) &&
    (isStop || wanted.role === 'take_profit') &&
    isPriceOf(wanted, exitPriceOf(order), isStop)
  );
}

/** A market order that closes all may have no amount. */
export function isForAll({ amount }: Pick<ExitCandidate, 'amount'>, filled: Decimal): boolean {
  return amount.eq(zero) || amount.eq(filled);
}

/** The exchange rounds a price that the alert wrote more exactly than the market allows. */
const roundingRate = parseDecimal('0.001');

/** Without a price, the kind of the order alone tells the two exits apart. */
function isPriceOf({ role, price, isReported }: WantedExit, listed: Decimal, isStop: boolean): boolean {
  if (price === null) return isStop === (role === 'stop_loss');
  return isReported ? listed.eq(price) : listed.minus(price).abs().lte(price.times(roundingRate));
}

/** The ids of the exits that the list of positions shows beside a position. */
export function attachedIds(tpsl: AttachedExits | null | undefined): readonly number[] {
  return [tpsl?.stopLossId, tpsl?.takeProfitId].filter((id) => typeof id === 'number');
}

/**
 * Recognises the exits of these orders, and of these positions.
 *
 * @param attached what the list of positions shows beside them
 */
export function exitTest(
  records: readonly OrderRecord[],
  attached: readonly (AttachedExits | null)[],
): (order: ExitCandidate) => boolean {
  const placed = records.flatMap((record) => (record.status === 'placed' ? (exitsOf(record) ?? []) : []));
  const ids = new Set([...placed.flatMap((exits) => exits.ids), ...attached.flatMap(attachedIds)]);
  return (order) =>
    ids.has(order.orderId) ||
    placed.some((exits) => exits.awaited.some((wanted) => mayBeExit(exits, wanted, order)));
}
