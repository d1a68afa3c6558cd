import { type Decimal, parseDecimal, zero } from '../base/decimal.ts';
import { decimalIn } from '../base/json.ts';
import type { Entry } from '../ledger/entry.ts';
import { exitPricesIn } from '../ledger/order-facts.ts';
import type { OrderExecution } from '../model/execution.ts';
import { oppositeOf, type Side } from '../model/order.ts';
import type { DecimalText, OrderSignal } from '../model/signal.ts';

/**
 * An order of the exchange's lists that carries no client order id: the exchange, or a person, made it.
 *
 * @see DECISIONS 147
 */
export interface Unnamed {
  readonly orderId: number;
  readonly market: string;
  readonly side: Side;
  readonly amount: Decimal;
  /** The trigger price, or the limit price of an order without one. */
  readonly price: Decimal;
  readonly isStop: boolean;
  readonly createdAtMs: number;
}

/** A stop-loss or take-profit that an entry asked for. */
export interface WantedExit {
  readonly role: 'stop_loss' | 'take_profit';
  /** Null when it is not known: the alert gave a distance, and the response that had the price was lost. */
  readonly price: Decimal | null;
  /** Whether the exchange itself reported the price, which is then exact. */
  readonly isReported: boolean;
}

/** What the stored evidence says of the order that was placed. */
export interface PlacedFacts {
  /** In the unit of the order; null when no response reported it. */
  readonly amount: Decimal | null;
  readonly exits: readonly WantedExit[];
}

/** The exits that a signal asked for, with the prices that the exchange reported for them. */
export function placedFactsOf({ steps }: Pick<Entry, 'steps'>, signal: OrderSignal): PlacedFacts {
  const report = steps.findLast(({ facts }) => facts?.report !== undefined)?.facts?.report;
  const { stopLoss, takeProfit } = exitPricesIn(steps);
  const wanted = [
    wantedExit('stop_loss', stopLoss ?? signal.stopLoss, report?.exits?.stopLoss),
    wantedExit('take_profit', takeProfit ?? signal.takeProfit, report?.exits?.takeProfit),
  ];
  const amount = report === undefined ? null : parseDecimal(report.amount);
  return { amount, exits: wanted.filter((exit) => exit !== null) };
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

/** The exchange makes the exits when the entry fills. Its clock may round one of the two times. */
const earlierMs = 1_000;
const laterMs = 60_000;

/** The entry whose exits are searched for. */
export interface FilledEntry {
  readonly signal: OrderSignal;
  readonly own: OrderExecution;
  /** The time of its first fill that is known. */
  readonly firstFillMs: number;
}

/**
 * Finds the order that the exchange made for an exit. The exchange tells no link between the two: the market, the side, the
 * amount, the price and the time must fit. When several orders fit, it is the oldest one, whose id is the lowest.
 *
 * @param unclaimed orders that no entry has claimed
 */
export function findExit(
  { signal, own, firstFillMs }: FilledEntry,
  wanted: WantedExit,
  unclaimed: readonly Unnamed[],
): Unnamed | null {
  const filled = parseDecimal(own.filled);
  const lastMs = (own.endedAtMs ?? Number.POSITIVE_INFINITY) + laterMs;
  const fitting = unclaimed.filter(
    ({ market, side, amount, price, isStop, createdAtMs }) =>
      market === signal.market &&
      side === oppositeOf(signal.side) &&
      (amount.eq(filled) || amount.eq(zero)) &&
      (isStop || wanted.role === 'take_profit') &&
      isPriceOf(wanted, price, isStop) &&
      createdAtMs >= firstFillMs - earlierMs &&
      createdAtMs <= lastMs,
  );
  return fitting.sort((one, other) => one.orderId - other.orderId)[0] ?? null;
}

/** The exchange rounds a price that the alert wrote more exactly than the market allows. */
const roundingRate = parseDecimal('0.001');

/** Without a price, the kind of the order alone tells the two exits apart. */
function isPriceOf({ role, price, isReported }: WantedExit, listed: Decimal, isStop: boolean): boolean {
  if (price === null) return isStop === (role === 'stop_loss');
  return isReported ? listed.eq(price) : listed.minus(price).abs().lte(price.times(roundingRate));
}
