import { type Decimal, parseDecimal, zero } from '../base/decimal.ts';
import { decimalIn } from '../base/json.ts';
import type { Entry } from '../ledger/entry.ts';
import { exitPricesIn, finalReport, stepFacts } from '../ledger/order-facts.ts';
import { orderSignalOf } from '../ledger/sent-order.ts';
import { exitIdsOf, type OrderRole, orderOf } from '../model/execution.ts';
import type { AttachedExits } from '../model/holdings.ts';
import { exitPriceOf, type Order, oppositeOf, type PositionSide, type Side } from '../model/order.ts';
import type { DecimalText } from '../model/signal.ts';

/** A stop-loss or take-profit that an entry asked for. */
export interface WantedExit {
  readonly role: Exclude<OrderRole, 'order'>;
  /** Null when it is not known: the alert gave a distance, and the response that had the price was lost. */
  readonly price: Decimal | null;
  /** Whether the exchange itself reported the price, which is then exact. */
  readonly isReported: boolean;
}

/** The exits of an entry: the orders that the exchange makes when it fills. */
export interface EntryExits {
  readonly signalId: string;
  readonly market: string;
  /** Of the exits. */
  readonly side: Side;
  /** The position of hedge mode that they close; `BOTH` in one-way mode. */
  readonly positionSide: PositionSide;
  /** Null while no response has told it. */
  readonly entryOrderId: number | null;
  /** What the order of the entry filled, in base units, as far as it is known. */
  readonly filled: Decimal;
  /** Of those that a list has shown. What is known by its id is known by nothing else from then on. */
  readonly ids: readonly number[];
  /** The others. */
  readonly awaited: readonly WantedExit[];
}

/**
 * The exits that an entry asked for.
 *
 * @returns null when it asked for none, or for no order
 */
export function exitsOf(entry: Entry): EntryExits | null {
  const { signal, signalId, orderId, execution } = entry;
  const asked = orderSignalOf(entry);
  const report = finalReport(stepFacts(entry, 'placed'));
  const entrySide = report?.side ?? asked?.side;
  if (signal === null || entrySide === undefined) return null;
  const ids = exitIdsOf(execution);
  const awaited =
    // Nothing more can become of it.
    execution?.isFollowed === false
      ? []
      : wantedExitsOf(entry).filter(({ role }) => orderOf(execution, role) === null);
  if (ids.length + awaited.length === 0) return null;
  return {
    signalId,
    market: signal.market,
    side: oppositeOf(entrySide),
    positionSide: asked?.positionSide ?? 'BOTH',
    entryOrderId: orderId,
    filled: parseDecimal(orderOf(execution, 'order')?.filled ?? report?.filled ?? '0'),
    ids,
    awaited,
  };
}

/** The exits that an entry asked for, with the prices that the exchange reported for them. */
export function wantedExitsOf(entry: Entry): readonly WantedExit[] {
  const reported = entry.steps.findLast(({ facts }) => facts?.report !== undefined)?.facts?.report?.exits;
  const asked = orderSignalOf(entry);
  const { stopLoss, takeProfit } = exitPricesIn(entry.steps);
  const wanted = [
    wantedExit('stop_loss', stopLoss ?? asked?.stopLoss, reported?.stopLoss),
    wantedExit('take_profit', takeProfit ?? asked?.takeProfit, reported?.takeProfit),
  ];
  return wanted.filter((exit) => exit !== null);
}

function wantedExit(
  role: WantedExit['role'],
  asked: string | undefined,
  reported: DecimalText | undefined,
): WantedExit | null {
  if (asked === undefined) return null;
  const price = decimalIn(reported);
  return { role, price: price ?? decimalIn(asked), isReported: price !== null };
}

/** An order of the exchange's lists. */
export type ExitCandidate = Pick<
  Order,
  'orderId' | 'clientOrderId' | 'market' | 'side' | 'amount' | 'price' | 'activationPrice'
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
 * Recognises the exits of these entries, and of these positions.
 *
 * @param attached what the list of positions shows beside them
 */
export function exitTest(
  entries: readonly Entry[],
  attached: readonly (AttachedExits | null)[],
): (order: ExitCandidate) => boolean {
  const placed = entries.filter(({ status }) => status === 'placed').flatMap((entry) => exitsOf(entry) ?? []);
  const ids = new Set([...placed.flatMap((exits) => exits.ids), ...attached.flatMap(attachedIds)]);
  return (order) =>
    ids.has(order.orderId) ||
    placed.some((exits) => exits.awaited.some((wanted) => mayBeExit(exits, wanted, order)));
}
