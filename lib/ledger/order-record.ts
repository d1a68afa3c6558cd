import { type Decimal, parseDecimal, zero } from '../base/decimal.ts';
import { decimalIn } from '../base/json.ts';
import {
  type AttachedOrders,
  type FollowedStatus,
  isStillOpen,
  type OrderExecution,
  type OrderRole,
  orderOf,
  type SoldOf,
} from '../model/execution.ts';
import type { PositionSide, Side } from '../model/order.ts';
import { isProtecting, type OrderSignal, type ProtectSignal, placesOrder } from '../model/signal.ts';
import type { OrderReport, PositionFact, SpotFact, StepFacts } from '../model/step-facts.ts';
import { type CancelReports, cancelReportsIn } from './cancel-reports.ts';
import type { Entry } from './entry.ts';
import { finalReport, stepFacts } from './order-facts.ts';
import { orderSignalOf, type WantedExit, wantedExitsOf } from './sent-order.ts';

/**
 * What became of the order of a signal, and of the exits that the exchange made from it: the one reading of all that is
 * stored of it. Its steps are written by whoever placed it or looked it up, its execution by the follower, and what cancelled
 * it by the entries of the cancellations.
 *
 * @see DECISIONS 163
 */
export interface OrderRecord extends Omit<Entry, 'signal' | 'steps' | 'lookup' | 'execution'> {
  readonly market: string;
  readonly strategy: string | undefined;
  /** Null when what was sent cannot be read. */
  readonly asked: OrderSignal | null;
  /** Of an order that keeps the protection of a position: what it protects; null for every other one, and for one that closes
   * what an exit has turned. */
  readonly protects: Pick<ProtectSignal, 'of' | 'role' | 'part'> | null;
  /** What such an order was to protect before that was rounded, in base units; null for every other one. */
  readonly exact: Decimal | null;
  /** Of one of several take-profits: what of its share it stood for, before the sales of others, in base units; null when
   * nothing says it. */
  readonly ofShare: Decimal | null;
  /** Null when nothing says it. */
  readonly side: Side | null;
  /** Of an account in hedge mode. */
  readonly positionSide: PositionSide | undefined;
  /** In base units; null when nothing says it. */
  readonly amount: Decimal | null;
  /** What that was worth when the limits counted it, in USDT; null when they did not, or could not. */
  readonly notional: Decimal | null;
  /** Whether the limits counted it as smaller than the position against it. */
  readonly wasReducing: boolean;
  /** The position that it was planned on; null when none was read. */
  readonly plannedOn: PositionFact | null;
  /** What it leaves of a position that should be flat afterwards, in one clause; null: nothing, as far as was known. */
  readonly leaves: string | null;
  /** What another order had turned that position to when a close was answered; null: not known to what, undefined: to nothing. */
  readonly turnedTo: Decimal | null | undefined;
  /** Of an order on spot: what the rest of it is counted by; null for every other one. */
  readonly spot: SpotFact | null;
  /** When it was about to be sent; null: it was not. */
  readonly sentAtMs: number | null;
  /** When its response, or what a lookup found, was stored. */
  readonly answeredAtMs: number;

  /** How it stands: as the follower saw it last, and before that as it was reported. Null: not known. */
  readonly state: FollowedStatus | null;
  /** From the same source, in base units; nothing while nothing is known. */
  readonly filled: Decimal;
  /** From the same source, on the exchange's clock; null while it is open, and when nobody said it. */
  readonly endedAtMs: number | null;
  /** Everything that told of a fill. */
  readonly sightings: readonly Sighting[];
  /** The stop-losses first. Of each role one, unless the exchange has made one for each fill. */
  readonly exits: readonly ExitRecord[];

  /** As its response, the response that ended its rest, or the lookup that found it reported it; null when none did. */
  readonly reported: OrderReport | null;
  /** The same while its rest could not be ended, and of one that an operator has cancelled, too. */
  readonly lastReport: OrderReport | null;
  /** Whether what did not fill at once had to be cancelled. If its report then says no end, it was gone, and may have filled all. */
  readonly hadRest: boolean;
  /**
   * What its fills alone have proved, of an order that was never reported, and what a stop-loss on spot was found to have
   * sold; in base units.
   */
  readonly proved: Decimal | null;
  /** As the follower saw it last; null before. */
  readonly followed: OrderExecution | null;
  /** When that was read; null before. */
  readonly readAtMs: number | null;
  /** Since when no list has shown its stop-loss; null: one stands, none was asked for, or nobody has looked. */
  readonly unprotectedSinceMs: number | null;
  /** Whether more can become of it and its exits; null before it was followed. */
  readonly isFollowed: boolean | null;
  /** Whether a close has ended its exits with the position: nothing of that is left. */
  readonly exitsEnded: boolean;
  /** What it sold of buys that are not followed any more, or were open then, by id of their signals, in base units. */
  readonly soldOf: SoldOf;
  /** Its exits that the list of positions alone has shown, as the follower saw them last; null: none. */
  readonly attached: AttachedOrders | null;
  /** What a cancellation found; null when none did, or when the order was gone and its end is known. */
  readonly cancelled: CancelledFill | null;
}

/** How much of an order something told to be filled. */
export interface Sighting {
  /** In base units. */
  readonly filled: Decimal;
  /** When it ended, on the exchange's clock, if that was told; otherwise when it was told, on the relay's. */
  readonly atMs: number;
  /** When it was filled, on the exchange's clock; null when nobody said it. */
  readonly exchangeMs: number | null;
}

/** A stop-loss or take-profit of an order. */
export interface ExitRecord extends WantedExit {
  /** As the follower saw it last; null until a list has shown it. */
  readonly order: OrderExecution | null;
}

/** A fill that a cancellation found. */
export interface CancelledFill {
  /** In the unit of the order; null when it may be all of it. */
  readonly filled: Decimal | null;
  /** When the cancellation was answered. */
  readonly atMs: number;
}

/**
 * The record of the order of an entry.
 *
 * @param reports of the cancellations that may have met the order; without them, what they found is left out
 * @returns null for a refused alert, for a cancellation, and for a signal that protects a position and placed no order
 */
export function orderRecordOf(entry: Entry, reports?: CancelReports): OrderRecord | null {
  const { signal, steps, execution, lookup: _, ...ids } = entry;
  if (signal === null || !placesOrder(signal)) return null;
  const [sent, answer] = [stepFacts(entry, 'sending'), stepFacts(entry, 'placed')];
  const { counted } = sent;
  const asked = orderSignalOf(entry);
  if (signal.action === 'protect' && asked === null) return null;
  const reported = finalReport(answer);
  const followed = orderOf(execution, 'order');
  const newest = followed ?? reported;
  const askedAmount = asked?.size.unit === 'base' ? asked.size.quantity : undefined;
  // An order that is sized in the quote currency is reported in it.
  const reportedAmount = sent.spot?.isQuoteSized === true ? undefined : reported?.amount;
  const record = {
    ...ids,
    market: signal.market,
    strategy: signal.strategy,
    asked,
    protects: isProtecting(signal) ? signal : null,
    exact: exactOf(sent.protective, reported),
    ofShare: decimalIn(sent.protective?.ofShare),
    side: counted?.side ?? asked?.side ?? reported?.side ?? null,
    positionSide: asked?.positionSide,
    amount: decimalIn(counted?.amount ?? reportedAmount ?? sent.amount ?? askedAmount),
    notional: decimalIn(counted?.notional ?? undefined),
    wasReducing: counted?.onlyReduces === true,
    plannedOn: sent.position ?? null,
    leaves: sent.leaves ?? null,
    turnedTo: answer.turned === undefined ? undefined : decimalIn(answer.turned),
    spot: sent.spot ?? null,
    sentAtMs: steps.findLast(({ status }) => status === 'sending')?.atMs ?? null,
    answeredAtMs: steps.at(-1)?.atMs ?? entry.updatedAtMs,
    state: newest?.status ?? null,
    filled: parseDecimal(newest?.filled ?? '0'),
    endedAtMs: newest?.endedAtMs ?? null,
    reported,
    lastReport: finalReport(steps.findLast(({ facts }) => facts?.report !== undefined)?.facts ?? {}),
    hadRest: answer.ended !== undefined,
    proved: decimalIn(answer.proved?.filled) ?? reports?.stopsSold.get(ids.orderId ?? Number.NaN) ?? null,
    followed,
    readAtMs: execution?.readAtMs ?? null,
    unprotectedSinceMs: execution?.unprotectedSinceMs ?? null,
    isFollowed: execution?.isFollowed ?? null,
    exitsEnded: execution?.exitsEnded === true,
    soldOf: execution?.soldOf ?? {},
    attached: execution?.attached ?? null,
    cancelled: findCancelled(entry, followed, reports),
  };
  return { ...record, sightings: listSightings(record), exits: listExits(entry) };
}

/**
 * The records of these entries' orders, with what the cancellations among the entries found.
 *
 * @returns none for a refused alert or a cancellation
 */
export function listRecords(
  entries: readonly Entry[],
  reports: CancelReports = cancelReportsIn(entries),
): readonly OrderRecord[] {
  return entries.flatMap((entry) => orderRecordOf(entry, reports) ?? []);
}

/** The order that plays a part for its signal, as the follower saw it last; null before, and without such an order. */
export function followedAs(record: OrderRecord | null, role: OrderRole): OrderExecution | null {
  if (role === 'order') return record?.followed ?? null;
  return record?.exits.find((exit) => exit.role === role)?.order ?? null;
}

function listSightings(record: Omit<OrderRecord, 'sightings' | 'exits'>): readonly Sighting[] {
  const { amount, answeredAtMs, reported, followed, readAtMs, cancelled } = record;
  const { filled, endedAtMs, createdAtMs } = reported ?? {};
  const isWhole = followed?.status === 'filled';
  const told = [
    // A lookup may be answered long after the order has ended.
    {
      filled: decimalIn(filled),
      atMs: endedAtMs ?? answeredAtMs,
      exchangeMs: endedAtMs ?? createdAtMs ?? null,
    },
    ...(isWhole
      ? [{ filled: amount, atMs: followed.endedAtMs ?? readAtMs, exchangeMs: followed.endedAtMs }]
      : []),
    ...(cancelled === null
      ? []
      : [{ filled: cancelled.filled ?? amount, atMs: cancelled.atMs, exchangeMs: null }]),
  ];
  return told.filter((one): one is Sighting => one.filled !== null && one.atMs !== null);
}

function findCancelled(
  { signalId, orderId }: Entry,
  followed: OrderExecution | null,
  reports: CancelReports | undefined,
): CancelledFill | null {
  const report = orderId === null ? undefined : reports?.ended.get(orderId);
  if (report !== undefined) return report;
  const atMs = reports?.gone.get(signalId);
  const isEndKnown = followed !== null && !isStillOpen(followed.status);
  return atMs === undefined || isEndKnown ? null : { filled: null, atMs };
}

function listExits(entry: Entry): readonly ExitRecord[] {
  const wanted = wantedExitsOf(entry);
  return (['stop_loss', 'take_profit'] as const).flatMap((role): readonly ExitRecord[] => {
    const asked = wanted.find((exit) => exit.role === role);
    const orders = entry.execution?.orders.filter((order) => order.role === role) ?? [];
    if (orders.length === 0) return asked === undefined ? [] : [{ ...asked, order: null }];
    return orders.map((order) => ({
      role,
      price: decimalIn(order.price),
      isReported: true,
      ...asked,
      order,
    }));
  });
}

/** What an order was to protect before that was rounded. One that the exchange has cut protects less. */
function exactOf(protective: StepFacts['protective'], reported: OrderReport | null): Decimal | null {
  const asked = decimalIn(protective?.amount);
  const taken = decimalIn(reported?.amount);
  const isCut = asked !== null && taken?.gt(zero) === true && taken.lt(asked);
  return isCut ? null : decimalIn(protective?.exact ?? protective?.amount);
}

/** When an order was about to be sent. Its alert may have been stored long before, and have waited for others. */
export function sentOrCreatedAtMs({ sentAtMs, createdAtMs }: OrderRecord): number {
  return sentAtMs ?? createdAtMs;
}

/** What an order filled, as far as anything has told it, in base units. */
export function filledBy({ followed, reported, proved, spot, protects, amount }: OrderRecord): Decimal {
  // Such a report says what the order has spent, in the quote currency.
  const ofReport = spot?.isQuoteSized === true ? '0' : (reported?.filled ?? '0');
  // That it is filled is listed before its fills are: what it was for must not be placed again meanwhile.
  const ofStatus = protects !== null && followed?.status === 'filled' ? amount : null;
  const told = [
    parseDecimal(followed?.filled ?? '0'),
    parseDecimal(ofReport),
    proved ?? zero,
    ofStatus ?? zero,
  ];
  return told.reduce((most, filled) => (filled.gt(most) ? filled : most), zero);
}

/** The average price at which an order filled; null when nothing says it. */
export function averagePrice({ followed, reported }: OrderRecord): Decimal | null {
  for (const told of [followed, reported]) {
    const filled = parseDecimal(told?.filled ?? '0');
    if (told?.filledNotional !== undefined && filled.gt(zero))
      return parseDecimal(told.filledNotional).div(filled);
  }
  return null;
}
