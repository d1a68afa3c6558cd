import * as z from 'zod/mini';
import { parseDecimal, zero } from '../base/decimal.ts';
import { decimalIn, fieldsOf, type Json, numberIn, textIn } from '../base/json.ts';
import { longestOrderLagMs } from '../exchange/lag.ts';
import type { Entry } from '../ledger/entry.ts';
import { exitPricesIn, reportedOrderIn } from '../ledger/reported-order.ts';
import { isStillOpen, orderOf } from '../model/execution.ts';
import { isMarkedReducing, type Order } from '../model/order.ts';
import { orderSignalOf } from '../positions/sent-order.ts';
import type { Outcome } from './action.ts';
import { mostBelieved } from './close-ended.ts';
import type { ClosedPosition } from './closes-whole.ts';
import { listRecent } from './read-position.ts';
import type { ExecuteServices } from './services.ts';

/** Recognises exits, and knows which of those that must be there were not seen. */
export interface ExitTest {
  /** Whether every entry was read that may have exits. */
  readonly isWhole: boolean;
  isExit(order: Order): boolean;
  /** Takes note of an open order, read after the close. */
  see(order: Order): void;
  /** Whether there is an exit that was not seen, and was placed so recently that a list may not show it yet. */
  isAwaited(nowMs: number): boolean;
}

/**
 * Recognises the orders that only protected the position: this relay's orders that only reduce, and the stop-loss and
 * take-profit that the exchange made from this relay's entries. What others placed stays.
 *
 * @param outcome of the order that closed the position
 */
export async function createExitTest(
  services: ExecuteServices,
  closed: ClosedPosition,
  outcome: Outcome,
): Promise<ExitTest> {
  const { account, market, position } = closed;
  const listedByMs = findListedByMs(services, closed, outcome);
  const closingSide = position.amount.gt(zero) ? 'sell' : 'buy';
  const own = await services.ledger.openOrders(account, market, mostBelieved);
  const recent = await listRecent(services, account, market);
  const entries = [...own, ...recent.entries].filter(({ signal }) => signal?.market === market);
  const names = new Set(own.map(({ clientOrderId }) => clientOrderId));
  const made = entries.flatMap((entry) => exitsOf(entry, listedByMs));
  // An earlier close has ended the exits of the entries before it. The ids of the exchange's orders grow; times are those of
  // several clocks.
  const lastClose = Math.max(0, ...entries.filter(hasEndedExits).map(({ orderId }) => orderId ?? 0));
  // Both exits of an entry are placed at once, so one that is seen stands for the other.
  const seen = new Set<string>();
  const unfilled = new Set<number>();
  /** An entry that a list shows without a fill has no exits yet. */
  const mayHaveExits = ({ entryOrderId, filledAtOnce }: Awaited) =>
    entryOrderId === null || (filledAtOnce ? entryOrderId > lastClose : !unfilled.has(entryOrderId));
  const findMade = (order: Order) =>
    order.clientOrderId === '' ? made.filter((exit) => isExit(exit, order)) : [];
  return {
    isWhole: recent.isWhole,
    isExit: (order) =>
      order.side === closingSide &&
      (position.side === null || order.positionSide === position.side) &&
      ((isMarkedReducing(order) && names.has(order.clientOrderId)) || findMade(order).length > 0),
    see(order) {
      for (const { signalId } of findMade(order)) seen.add(signalId);
      if (order.filled.eq(zero)) unfilled.add(order.orderId);
    },
    isAwaited: (nowMs) =>
      made.some(
        ({ signalId, awaited }) =>
          awaited !== null &&
          awaited.entrySide !== closingSide &&
          nowMs <= awaited.untilMs &&
          !seen.has(signalId) &&
          mayHaveExits(awaited),
      ),
  };
}

/**
 * From this time on, lists show the exits of every fill that the closed position held: they are as old as its last change.
 * That and the close are on the exchange's clock.
 */
function findListedByMs(
  { clock }: ExecuteServices,
  { modifiedAtMs }: ClosedPosition,
  { evidence }: Outcome,
): number {
  const closedAtMs = numberIn(reportedOrderIn(evidence)?.['createdAtMs']);
  const ageMs = closedAtMs === null || modifiedAtMs === null ? 0 : Math.max(0, closedAtMs - modifiedAtMs);
  return clock.nowMs() + longestOrderLagMs - ageMs;
}

const Ended = z.object({ leftExits: z.array(z.number()).check(z.maxLength(0)) });

/** Whether the signal closed a position and ended all of its exits. */
function hasEndedExits({ steps }: Entry): boolean {
  return z.safeParse(Ended, steps.at(-1)?.evidence).success;
}

/** A stop-loss or take-profit of an entry: its order id where that is known, or else its price. */
interface Exit {
  /** Of the entry that it belongs to. */
  readonly signalId: string;
  readonly orderId: number | null;
  readonly price: string | null;
  /** Null when it is known, or cannot be there. */
  readonly awaited: Awaited | null;
}

/** Why an exit may be open although no list shows it. */
interface Awaited {
  /** Null while no response has told it. */
  readonly entryOrderId: number | null;
  /** Null when it is not known. */
  readonly entrySide: string | null;
  /** Whether the entry filled when it was placed; else it may have filled at any time since. */
  readonly filledAtOnce: boolean;
  readonly untilMs: number;
}

function exitsOf(entry: Entry, listedByMs: number): readonly Exit[] {
  const { signalId, execution } = entry;
  const known = (execution?.orders ?? [])
    .filter(({ role }) => role !== 'order')
    .map(({ orderId }): Exit => ({ signalId, orderId, price: null, awaited: null }));
  return [...known, ...plannedExits(entry, listedByMs)];
}

function plannedExits(entry: Entry, listedByMs: number): readonly Exit[] {
  const { signalId, orderId: entryOrderId, steps, execution, status } = entry;
  const report = steps.findLast(({ evidence }) => reportedOrderIn(evidence) !== null);
  // An order that its fills alone have proved was never reported.
  const placed =
    report ?? (status === 'placed' ? steps.findLast((step) => step.status === 'placed') : undefined);
  if (placed === undefined) return [];
  const order = reportedOrderIn(placed.evidence) ?? fieldsOf(placed.evidence);
  const prices = exitPricesIn(steps);
  // What is followed is known by its id, and by nothing else.
  const stopLoss = orderOf(execution, 'stop_loss') === null ? prices.stopLoss : null;
  const takeProfit = orderOf(execution, 'take_profit') === null ? prices.takeProfit : null;
  const entrySide = textIn(order['side']) ?? orderSignalOf(entry)?.side ?? null;
  const filledAtOnce = isFilled(order['filled']);
  const untilMs = filledAtOnce ? placed.atMs + longestOrderLagMs : listedByMs;
  const awaited =
    filledAtOnce || mayHaveFilled(entry) ? { entryOrderId, entrySide, filledAtOnce, untilMs } : null;
  return [stopLoss, takeProfit].flatMap((price) =>
    price === null ? [] : [{ signalId, orderId: null, price, awaited }],
  );
}

function isFilled(amount: Json | undefined): boolean {
  return decimalIn(amount)?.gt(zero) === true;
}

/** Whether an order that rested may have filled. */
function mayHaveFilled({ orderOpen, execution }: Entry): boolean {
  const own = orderOf(execution, 'order');
  if (own === null) return orderOpen;
  return isFilled(own.filled) ? execution?.isFollowed === true : orderOpen && isStillOpen(own.status);
}

function isExit({ orderId, price }: Exit, order: Order): boolean {
  if (price === null) return order.orderId === orderId;
  return (order.activationPrice ?? order.price).eq(parseDecimal(price));
}
