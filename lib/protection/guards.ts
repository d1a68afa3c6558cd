import { exitsOf, mayBeExit, wantedExitsOf } from '../account/exits.ts';
import { orderSignalOf } from '../account/sent-order.ts';
import { type Decimal, parseDecimal, zero } from '../base/decimal.ts';
import type { Entry } from '../ledger/entry.ts';
import { finalReport, stepFacts } from '../ledger/order-facts.ts';
import { isStillOpen, type OrderExecution, orderOf } from '../model/execution.ts';
import { exitPriceOf, isOrderEnd, type Order, oppositeOf, type Side } from '../model/order.ts';
import type { ExitRole } from '../model/signal.ts';
import { filledBy, type Share } from './shares.ts';

/** What should protect the part of a position that a signal opened, beside what does. */
export interface Guard {
  readonly entry: Entry;
  readonly role: ExitRole;
  /** Of the orders that protect it. */
  readonly side: Side;
  /** The trigger price of a stop-loss, or the limit price of a take-profit; null when nobody knows it. */
  readonly price: Decimal | null;
  /** How much of the position it protects, in base units. */
  readonly amount: Decimal;
  /** What stands at the exchange for it. */
  readonly standing: readonly StandingExit[];
  /** Why nothing can be said of what stands; null: all is known. */
  readonly doubt: 'unlisted' | 'awaited' | null;
  /** Whether the owner has ended it by hand, so that it is not placed again. */
  readonly isReleased: boolean;
}

/** An order that protects a part of a position. */
export interface StandingExit {
  readonly orderId: number;
  /** What it may still sell, in base units; null: the whole position. */
  readonly remaining: Decimal | null;
  /** Whether it says itself that it only reduces. */
  readonly onlyReduces: boolean;
  /** A stop-loss that was triggered and rests in the book. */
  readonly isTriggered: boolean;
}

/** What guards are judged by: the entries and the open orders of one market. */
export interface GuardView {
  /** Oldest first. */
  readonly entries: readonly Entry[];
  readonly open: readonly Order[];
  /** When the open orders were read. */
  readonly nowMs: number;
}

/** What should protect each share, beside what does. A share without a stop-loss and a take-profit has none. */
export function guardsOf(shares: readonly Share[], view: GuardView): readonly Guard[] {
  const replaced = new Set(
    view.entries.flatMap(({ steps }) => steps.flatMap(({ facts }) => facts?.replaced ?? [])),
  );
  const open = new Map(view.open.map((order) => [order.orderId, order]));
  return shares.flatMap((share) =>
    wantedExitsOf(share.entry).map(({ role, price }) => {
      const known = knownExits(share.entry, role, view.entries);
      const live = known.filter(({ isOpen, orderId }) => isOpen && !replaced.has(orderId));
      const listed = live.flatMap(({ orderId }) => open.get(orderId) ?? []);
      const fresh = live.flatMap((exit) => (open.has(exit.orderId) ? [] : (exit.answered ?? [])));
      const standing = [...listed.map((order) => describeStanding(order, share.side)), ...fresh];
      return {
        entry: share.entry,
        role,
        side: oppositeOf(share.side),
        price: price ?? priceFromDistance(share, role),
        amount: share.amount,
        standing,
        doubt: doubtOf(share.entry, known, live.length - standing.length, view),
        isReleased: isReleased(known, replaced),
      };
    }),
  );
}

/** An order that protects, or protected, a part of a position. */
interface KnownExit {
  readonly orderId: number;
  readonly isOpen: boolean;
  /** It ended without having been filled, and the exchange gave no reason of its own. */
  readonly isCancelled: boolean;
  /** As the response to its creation reported it; null when it is the exchange's own. */
  readonly answered: StandingExit | null;
}

/** Oldest first. */
function knownExits({ signalId, execution }: Entry, role: ExitRole, entries: readonly Entry[]) {
  const made = (execution?.orders ?? []).filter((order) => order.role === role).map(madeExit);
  const kept = entries.flatMap((entry) => keptExit(entry, signalId, role) ?? []);
  return [...made, ...kept];
}

function madeExit({ orderId, status, endReason }: OrderExecution): KnownExit {
  const isCancelled = status === 'gone' || (status === 'cancelled' && endReason === undefined);
  return { orderId, isOpen: isStillOpen(status), isCancelled, answered: null };
}

/** The order of a signal that protects this entry; null when the entry is no such signal, or placed none. */
function keptExit(entry: Entry, of: string, role: ExitRole): KnownExit | null {
  const { signal, status, orderId } = entry;
  if (signal?.action !== 'protect' || signal.of !== of || signal.role !== role) return null;
  const asked = orderSignalOf(entry);
  if (status !== 'placed' || orderId === null || asked === null) return null;
  const own = orderOf(entry.execution, 'order');
  const report = finalReport(stepFacts(entry, 'placed'));
  const isEnded = own !== null ? !isStillOpen(own.status) : report !== null && isOrderEnd(report.status);
  const isCancelled =
    own !== null && (own.status === 'gone' || (own.status === 'cancelled' && own.endReason === undefined));
  // Once it is followed, a list has shown it: one that none shows any more has ended.
  const isFresh = own === null && asked.size.unit === 'base';
  const answered =
    isFresh && asked.size.unit === 'base'
      ? {
          orderId,
          remaining: parseDecimal(report?.amount ?? asked.size.quantity).minus(filledBy(entry)),
          onlyReduces: true,
          isTriggered: false,
        }
      : null;
  return { orderId, isOpen: entry.orderOpen && !isEnded, isCancelled, answered };
}

function describeStanding(order: Order, entrySide: Side): StandingExit {
  const { orderId, amount, remaining, reduceOnly, activationPrice, activated, positionSide } = order;
  return {
    orderId,
    remaining: amount.eq(zero) ? null : remaining,
    onlyReduces: reduceOnly === true || positionSide === (entrySide === 'buy' ? 'LONG' : 'SHORT'),
    isTriggered: activationPrice !== undefined && activated === true,
  };
}

/**
 * The exchange makes the exits of an entry when that has filled, and lists them a little later. This long after the entry
 * changed last, a list that shows none is taken to say that there is none.
 */
const exitsListedAfterMs = 20_000;

/** @param unlisted how many exits count as open that no list shows */
function doubtOf(
  entry: Entry,
  known: readonly KnownExit[],
  unlisted: number,
  { open, nowMs }: GuardView,
): Guard['doubt'] {
  if (unlisted > 0) return 'unlisted';
  if (known.length > 0) return null;
  const changedAtMs = entry.execution?.readAtMs ?? entry.updatedAtMs;
  const exits = exitsOf(entry);
  const mayBeListed =
    exits?.awaited.some((wanted) => open.some((order) => mayBeExit(exits, wanted, order))) === true;
  // A negative age means that the clock was set back.
  return mayBeListed || nowMs - changedAtMs < exitsListedAfterMs ? 'awaited' : null;
}

/** The newest of its orders was ended by nobody whom the relay knows. */
function isReleased(known: readonly KnownExit[], replaced: ReadonlySet<number>): boolean {
  const newest = known.toSorted((one, other) => one.orderId - other.orderId).at(-1);
  return newest?.isCancelled === true && !replaced.has(newest.orderId);
}

/** A distance counts from the average price of the fills when no response told the price. */
function priceFromDistance({ entry }: Share, role: ExitRole): Decimal | null {
  const asked = orderSignalOf(entry);
  const text = role === 'stop_loss' ? asked?.stopLoss : asked?.takeProfit;
  const own = orderOf(entry.execution, 'order');
  if (asked === null || text?.endsWith('%') !== true || own === null) return null;
  const filled = parseDecimal(own.filled);
  if (!filled.gt(zero)) return null;
  const average = parseDecimal(own.filledNotional).div(filled);
  const distance = average.times(parseDecimal(text.slice(0, -1))).div(parseDecimal('100'));
  const isBelow = (role === 'stop_loss') === (asked.side === 'buy');
  return isBelow ? average.minus(distance) : average.plus(distance);
}

/** The stops of others in the market that would stop out a position: by hand, or of another program. */
export function stopsByHand(side: Side, { entries, open }: GuardView): Decimal {
  const own = new Set(
    entries.flatMap(({ orderId, execution }) => [
      ...(orderId === null ? [] : [orderId]),
      ...(execution?.orders ?? []).map((order) => order.orderId),
    ]),
  );
  const names = new Set(entries.flatMap(({ clientOrderId }) => clientOrderId ?? []));
  const condition = side === 'sell' ? 'lte' : 'gte';
  return open
    .filter(
      (order) =>
        order.side === side &&
        order.activationPrice !== undefined &&
        order.activated !== true &&
        (order.activationCondition ?? condition) === condition &&
        !own.has(order.orderId) &&
        !names.has(order.clientOrderId) &&
        exitPriceOf(order).gt(zero),
    )
    .reduce((sum, { remaining }) => sum.plus(remaining), zero);
}
