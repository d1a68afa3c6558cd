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

/** Recognises exits, and remembers which of those that must be there it has not seen. */
export interface ExitTest {
  /** Whether every entry was read that may have exits. */
  readonly isWhole: boolean;
  isExit(order: Order): boolean;
  /** Whether an exit was placed so recently that a list may not show it yet. */
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
  const isMade = (order: Order) => {
    const found = made.filter((exit) => isExit(exit, order));
    for (const { signalId } of found) seen.add(signalId);
    return found.length > 0;
  };
  return {
    isWhole: recent.isWhole,
    isExit: (order) =>
      order.side === closingSide &&
      (position.side === null || order.positionSide === position.side) &&
      ((isMarkedReducing(order) && names.has(order.clientOrderId)) ||
        (order.clientOrderId === '' && isMade(order))),
    isAwaited: (nowMs) =>
      made.some(
        (exit) =>
          exit.entrySide !== closingSide &&
          (exit.entryOrderId === null || exit.entryOrderId > lastClose) &&
          nowMs <= exit.awaitedUntilMs &&
          !seen.has(exit.signalId),
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
  /** The order of the entry; null while no response has told it, and of one that may have filled after every close. */
  readonly entryOrderId: number | null;
  readonly orderId: number | null;
  readonly price: string | null;
  /** The side of the entry; null when it is not known or not needed. */
  readonly entrySide: string | null;
  /** Until this time a list may not show it yet. */
  readonly awaitedUntilMs: number;
}

function exitsOf(entry: Entry, listedByMs: number): readonly Exit[] {
  const { signalId, orderId: entryOrderId, execution } = entry;
  const named = { signalId, entryOrderId };
  const known = (execution?.orders ?? [])
    .filter(({ role }) => role !== 'order')
    .map(({ orderId }): Exit => ({ ...named, orderId, price: null, entrySide: null, awaitedUntilMs: 0 }));
  return [...known, ...plannedExits(named, entry, listedByMs)];
}

function plannedExits(
  named: Pick<Exit, 'signalId' | 'entryOrderId'>,
  entry: Entry,
  listedByMs: number,
): readonly Exit[] {
  const { steps, execution, status } = entry;
  const report = steps.findLast(({ evidence }) => reportedOrderIn(evidence) !== null);
  // An order that its fills alone have proved was never reported.
  const placed =
    report ?? (status === 'placed' ? steps.findLast((step) => step.status === 'placed') : undefined);
  if (placed === undefined) return [];
  const { atMs, evidence } = placed;
  const order = reportedOrderIn(evidence) ?? fieldsOf(evidence);
  const side = textIn(order['side']) ?? orderSignalOf(entry)?.side ?? null;
  const prices = exitPricesIn(steps);
  // What is followed is known by its id, and by nothing else.
  const stopLoss = orderOf(execution, 'stop_loss') === null ? prices.stopLoss : null;
  const takeProfit = orderOf(execution, 'take_profit') === null ? prices.takeProfit : null;
  const terms = isFilled(order['filled'])
    ? { entrySide: side, awaitedUntilMs: atMs + longestOrderLagMs }
    : mayHaveFilled(entry)
      ? { entryOrderId: null, entrySide: side, awaitedUntilMs: listedByMs }
      : { entrySide: null, awaitedUntilMs: 0 };
  return [stopLoss, takeProfit].flatMap((price): readonly Exit[] =>
    price === null
      ? []
      : [
          {
            ...named,
            orderId: null,
            price,
            ...terms,
          },
        ],
  );
}

function isFilled(amount: Json | undefined): boolean {
  return decimalIn(amount)?.gt(zero) === true;
}

/** An order that rested may fill at any time, and whether it is in a list of open orders says little: that may lag, too. */
function mayHaveFilled({ orderOpen, execution }: Entry): boolean {
  const own = orderOf(execution, 'order');
  if (own === null) return orderOpen;
  return isFilled(own.filled) ? execution?.isFollowed === true : orderOpen && isStillOpen(own.status);
}

function isExit({ orderId, price }: Exit, order: Order): boolean {
  if (price === null) return order.orderId === orderId;
  return (order.activationPrice ?? order.price).eq(parseDecimal(price));
}
