import * as z from 'zod/mini';
import { type Alarm, joinAlarms } from '../base/alarms.ts';
import { parseDecimal, zero } from '../base/decimal.ts';
import { decimalIn, fieldsOf, textIn, toJson } from '../base/json.ts';
import type { ExchangeClient, SendOptions } from '../exchange/client.ts';
import { ExchangeError } from '../exchange/errors.ts';
import { longestOrderLagMs } from '../exchange/lag.ts';
import type { Entry } from '../ledger/entry.ts';
import { exitPricesIn, reportedOrderIn } from '../ledger/reported-order.ts';
import { orderOf } from '../model/execution.ts';
import { isMarkedReducing, type Order } from '../model/order.ts';
import { orderSignalOf } from '../positions/sent-order.ts';
import type { Outcome, Plan } from './action.ts';
import { type CancelledExits, cancelExits, type ExitOutcome } from './cancel-exits.ts';
import { mostBelieved } from './close-ended.ts';
import { type ClosedPosition, closesWhole } from './closes-whole.ts';
import { listRecent } from './read-position.ts';
import type { ExecuteServices } from './services.ts';

/** Cancels what only protected the position, once the order of the plan has closed all of it. */
export function withExitsCancelled(
  services: ExecuteServices,
  client: ExchangeClient,
  closed: ClosedPosition,
  plan: Plan,
): Plan {
  if (plan.verdict !== 'ready') return plan;
  const { action } = plan;
  return {
    verdict: 'ready',
    action: {
      ...action,
      async send(options) {
        const outcome = await action.send(withTimeToCancel(services, options));
        if (!closesWhole(outcome, closed)) return outcome;
        return await cancelLeft(services, client, closed, outcome, options);
      },
    },
  };
}

/** The close leaves half a timeout for the cancellations, but keeps the one timeout that sending an order always has. */
function withTimeToCancel(
  { clock, exchangeTimeoutMs: timeoutMs }: ExecuteServices,
  options: SendOptions,
): SendOptions {
  const { endByMs } = options;
  if (endByMs === undefined) return options;
  const spareMs = Math.max(0, endByMs - clock.nowMs() - timeoutMs);
  return { ...options, endByMs: endByMs - Math.min(timeoutMs / 2, spareMs) };
}

async function cancelLeft(
  services: ExecuteServices,
  client: ExchangeClient,
  closed: ClosedPosition,
  outcome: Outcome,
  { endByMs }: SendOptions,
): Promise<Outcome> {
  const limits: SendOptions = {
    timeoutMs: services.exchangeTimeoutMs / 2,
    ...(endByMs === undefined ? {} : { endByMs }),
  };
  try {
    const exits = await createExitTest(services, closed);
    const scope = { market: closed.market, isExit: exits.isExit };
    const done: ExitOutcome[] = [];
    for (;;) {
      const { exits: ended, left } = await cancelExits(client, scope, limits);
      done.push(...ended);
      const nowMs = services.clock.nowMs();
      const isAwaited = exits.isAwaited(nowMs);
      const mayRepeat = nowMs + relistPauseMs + services.exchangeTimeoutMs / 2 < (endByMs ?? nowMs);
      if (!isAwaited || !mayRepeat)
        return describe(
          outcome,
          { exits: done, left },
          exits.isWhole ? (isAwaited ? awaitedNote : null) : partNote,
        );
      await services.clock.sleep(relistPauseMs);
    }
  } catch (error) {
    if (!(error instanceof ExchangeError)) throw error;
    return unread(outcome, error.message);
  }
}

/** Between two readings of open orders in a list that may lag. */
const relistPauseMs = 1000;
const partNote = 'more orders are followed than are read here, so an exit among them may be unknown';
const awaitedNote = 'the stop-loss or take-profit of an entry of the last seconds is in no list yet';

/** Recognises exits, and remembers which of those that must be there it has not seen. */
interface ExitTest {
  /** Whether every entry was read that may have exits. */
  readonly isWhole: boolean;
  isExit(order: Order): boolean;
  /** Whether an exit was placed so recently that a list may not show it yet. */
  isAwaited(nowMs: number): boolean;
}

/**
 * Recognises the orders that only protected the position: this relay's orders that only reduce, and the stop-loss and
 * take-profit that the exchange made from this relay's entries. What others placed stays.
 */
async function createExitTest(
  services: ExecuteServices,
  { account, market, position }: ClosedPosition,
): Promise<ExitTest> {
  const closingSide = position.amount.gt(zero) ? 'sell' : 'buy';
  const own = await services.ledger.openOrders(account, market, mostBelieved);
  const recent = await listRecent(services, account, market);
  const entries = [...own, ...recent.entries].filter(({ signal }) => signal?.market === market);
  const names = new Set(own.map(({ clientOrderId }) => clientOrderId));
  const made = entries.flatMap(exitsOf);
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

const Ended = z.object({ leftExits: z.array(z.number()).check(z.maxLength(0)) });

/** Whether the signal closed a position and ended all of its exits. */
function hasEndedExits({ steps }: Entry): boolean {
  return z.safeParse(Ended, steps.at(-1)?.evidence).success;
}

/** A stop-loss or take-profit of an entry: its order id where that is known, or else its price. */
interface Exit {
  /** Of the entry that it belongs to. */
  readonly signalId: string;
  /** The order of the entry; null while no response has told it. */
  readonly entryOrderId: number | null;
  readonly orderId: number | null;
  readonly price: string | null;
  /** The side of the entry; null when it is not known or not needed. */
  readonly entrySide: string | null;
  /** Until this time a list may not show it yet. */
  readonly awaitedUntilMs: number;
}

function exitsOf(entry: Entry): readonly Exit[] {
  const { signalId, orderId: entryOrderId, execution } = entry;
  const named = { signalId, entryOrderId };
  const known = (execution?.orders ?? [])
    .filter(({ role }) => role !== 'order')
    .map(({ orderId }): Exit => ({ ...named, orderId, price: null, entrySide: null, awaitedUntilMs: 0 }));
  return [...known, ...plannedExits(named, entry)];
}

/** An entry that has not filled has no exits yet, so none of them is waited for. */
function plannedExits(named: Pick<Exit, 'signalId' | 'entryOrderId'>, entry: Entry): readonly Exit[] {
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
  const isFilled = decimalIn(order['filled'])?.gt(zero) === true;
  return [stopLoss, takeProfit].flatMap((price): readonly Exit[] =>
    price === null
      ? []
      : [
          {
            ...named,
            orderId: null,
            price,
            entrySide: isFilled ? side : null,
            awaitedUntilMs: isFilled ? atMs + longestOrderLagMs : 0,
          },
        ],
  );
}

function isExit({ orderId, price }: Exit, order: Order): boolean {
  if (price === null) return order.orderId === orderId;
  return (order.activationPrice ?? order.price).eq(parseDecimal(price));
}

/** @param awaited what may still come; null: nothing */
function describe(outcome: Outcome, { exits, left }: CancelledExits, awaited: string | null): Outcome {
  const leftIds = left === null ? null : left.flatMap(({ orderIds }) => orderIds);
  const ended = exits.filter(({ result }) => result === 'cancelled' || result === 'gone');
  const evidence = toJson({
    ...Object(outcome.evidence),
    cancelledExits: ended.flatMap(({ orderIds }) => orderIds),
    leftExits: leftIds,
  });
  const isClean = leftIds?.length === 0 && awaited === null;
  const contradicted = exits.map(({ alarm }) => alarm);
  const alarm = joinAlarms([outcome.alarm, ...contradicted, isClean ? undefined : leftAlarm]);
  const names = ended.map(({ name }) => name).join(', ');
  const which = awaited ?? leftIds?.join(', ') ?? 'the open orders could not be read back';
  const notes = [
    outcome.note,
    ...(names === '' ? [] : [`orders that only protected it are cancelled: ${names}`]),
    ...(isClean ? [] : [`orders that protected it may still be open: ${which}`]),
  ];
  return { ...outcome, evidence, note: notes.join('; '), ...(alarm === undefined ? {} : { alarm }) };
}

const leftAlarm: Alarm = {
  name: 'orders_left_open',
  message:
    'a position was closed, and orders that protected it may still be open and could open a new one: cancel them',
};

function unread(outcome: Outcome, reason: string): Outcome {
  const alarm = joinAlarms([outcome.alarm, leftAlarm]);
  return {
    ...outcome,
    note: `${outcome.note}; orders that protected it could not be read (${reason})`,
    evidence: toJson({ ...Object(outcome.evidence), cancelledExits: [], leftExits: null }),
    ...(alarm === undefined ? {} : { alarm }),
  };
}
