import * as z from 'zod/mini';
import { parseDecimal, zero } from '../base/decimal.ts';
import { type Json, toJson } from '../base/json.ts';
import type { ExchangeClient, SendOptions } from '../exchange/client.ts';
import { ExchangeError } from '../exchange/errors.ts';
import type { Entry } from '../ledger/entry.ts';
import type { Order, Side } from '../model/order.ts';
import type { SeenPosition } from '../positions/seen-position.ts';
import type { Outcome, Plan } from './action.ts';
import { type CancelledExits, cancelExits } from './cancel-exits.ts';
import { mostBelieved } from './close-ended.ts';
import { orderLagMs } from './own-orders.ts';
import type { ExecuteServices } from './services.ts';

/** A position that an order closes. */
export interface ClosedPosition {
  readonly account: string;
  readonly market: string;
  /** Before it was closed. */
  readonly position: SeenPosition;
}

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
      isOrder: action.isOrder,
      get requests() {
        return action.requests;
      },
      ...(action.evidence === undefined ? {} : { evidence: action.evidence }),
      ...(action.readAtMs === undefined ? {} : { readAtMs: action.readAtMs }),
      async send(options) {
        const outcome = await action.send(withTimeToCancel(options, services.exchangeTimeoutMs));
        if (!closesWhole(outcome, closed.position)) return outcome;
        return await cancelLeft(services, client, closed, outcome, options);
      },
    },
  };
}

/** The close leaves half a timeout for the cancellations. */
function withTimeToCancel(options: SendOptions, timeoutMs: number): SendOptions {
  return options.endByMs === undefined ? options : { ...options, endByMs: options.endByMs - timeoutMs / 2 };
}

const Filled = z.object({ order: z.object({ filled: z.string(), remaining: z.string() }) });
const FilledInPart = z.object({ placed: Filled });

/**
 * Whether the response shows that nothing is left of the position. An order that the exchange has cut to the position, and
 * that filled in full, has closed what was left of it.
 */
function closesWhole({ status, evidence }: Outcome, { amount }: SeenPosition): boolean {
  if (status !== 'placed') return false;
  const whole = z.safeParse(Filled, evidence);
  const part = z.safeParse(FilledInPart, evidence);
  const order = whole.success ? whole.data.order : part.success ? part.data.placed.order : null;
  if (order === null) return false;
  return parseDecimal(order.remaining).eq(zero) || parseDecimal(order.filled).gte(amount.abs());
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
    const planned = await planExitTest(services, closed);
    const scope = { market: closed.market, isExit: planned.isExit };
    const cancelled = await cancelExits(client, scope, limits);
    const unseen = planned.isWhole ? planned.findUnseen() : notListed;
    return unseen === null ? describe(outcome, cancelled) : unread(describe(outcome, cancelled), unseen);
  } catch (error) {
    if (!(error instanceof ExchangeError)) throw error;
    return unread(outcome, error.message);
  }
}

const notListed = 'more orders are followed than can be read';

interface ExitTest {
  isExit(order: Order): boolean;
  /** Why an exit may be open that was not in the list; null when there is none. To be asked after the list was read. */
  findUnseen(): string | null;
  /** False when there are more entries than were read. */
  readonly isWhole: boolean;
}

/**
 * Recognises the orders that only protected the position: this relay's orders that only reduce, and the stop-loss and
 * take-profit that the exchange made from this relay's entries. What others placed stays.
 */
async function planExitTest(
  { ledger, executions, clock }: ExecuteServices,
  { account, market, position }: ClosedPosition,
): Promise<ExitTest> {
  const closingSide = position.amount.gt(zero) ? 'sell' : 'buy';
  const own = await ledger.openOrders(account, market, mostBelieved);
  const followed = await executions.followed(account, mostBelieved);
  const entries = [...own, ...followed].filter(({ signal }) => signal?.market === market);
  const names = new Set(own.map(({ clientOrderId }) => clientOrderId));
  const made = entries.flatMap((entry) => exitsOf(entry, closingSide));
  const seen = new Set<string>();
  const isMade = (order: Order) => {
    const exits = order.clientOrderId === '' ? made.filter((exit) => isExit(exit, order)) : [];
    // One of a pair stands for both.
    for (const { signalId } of exits) seen.add(signalId);
    return exits.length > 0;
  };
  return {
    isWhole: followed.length < mostBelieved,
    isExit: (order) =>
      order.side === closingSide &&
      (position.side === null || order.positionSide === position.side) &&
      (isMade(order) || (order.reduceOnly === true && names.has(order.clientOrderId))),
    findUnseen() {
      const youngestMs = clock.nowMs() - orderLagMs;
      const late = made.find((exit) => !seen.has(exit.signalId) && exit.madeAtMs > youngestMs);
      return late === undefined
        ? null
        : 'the list of open orders may not show yet the ones of a new position';
    },
  };
}

/** A stop-loss or take-profit of an entry: its order id where that is known, or else its price. */
interface Exit {
  /** Of the entry that it protects. */
  readonly signalId: string;
  readonly orderId: number | null;
  readonly price: string | null;
  /** When it became known. */
  readonly madeAtMs: number;
}

const Planned = z.object({
  side: z.string(),
  oto: z.object({ stopLoss: z.optional(z.string()), takeProfit: z.optional(z.string()) }),
});
const PlannedOfOrder = z.object({ order: Planned });
const PlannedOfEnded = z.object({ placed: PlannedOfOrder });

/** @param closingSide the side of an order that closes the position; what closes another one is no exit of it */
function exitsOf({ signalId, steps, execution }: Entry, closingSide: Side): readonly Exit[] {
  const known = (execution?.orders ?? [])
    .filter(({ role }) => role !== 'order')
    .map(({ orderId }): Exit => ({ signalId, orderId, price: null, madeAtMs: Number.NEGATIVE_INFINITY }));
  const planned = steps.flatMap(({ evidence, atMs }) =>
    plannedPrices(evidence, closingSide).map(
      (price): Exit => ({ signalId, orderId: null, price, madeAtMs: atMs }),
    ),
  );
  return [...known, ...planned];
}

function plannedPrices(evidence: Json | undefined, closingSide: Side): readonly string[] {
  const whole = z.safeParse(PlannedOfOrder, evidence);
  const ended = z.safeParse(PlannedOfEnded, evidence);
  const order = whole.success ? whole.data.order : ended.success ? ended.data.placed.order : null;
  if (order?.side === closingSide) return [];
  return [order?.oto.stopLoss, order?.oto.takeProfit].flatMap((price) => price ?? []);
}

function isExit({ orderId, price }: Exit, order: Order): boolean {
  if (price === null) return order.orderId === orderId;
  return (order.activationPrice ?? order.price).eq(parseDecimal(price));
}

const alarmName = 'orders_left_open';

function describe(outcome: Outcome, { exits, left }: CancelledExits): Outcome {
  const leftIds = left === null ? null : left.flatMap(({ orderIds }) => orderIds);
  const ended = exits.filter(({ result }) => result === 'cancelled' || result === 'gone');
  const evidence = toJson({
    ...Object(outcome.evidence),
    cancelledExits: ended.flatMap(({ orderIds }) => orderIds),
    leftExits: leftIds,
  });
  if (exits.length === 0) return { ...outcome, evidence };
  const names = ended.map(({ name }) => name).join(', ');
  if (leftIds?.length === 0)
    return {
      ...outcome,
      evidence,
      note: `${outcome.note}; orders that only protected it are cancelled: ${names}`,
    };
  const which = leftIds === null ? 'the open orders could not be read back' : `order ${leftIds.join(', ')}`;
  const note = `${outcome.note}; orders that protected it may still be open: ${which}`;
  const message =
    'a position was closed, and orders that protected it may still be open and could open a new one: cancel them';
  return { ...outcome, evidence, note, alarm: outcome.alarm ?? { name: alarmName, message } };
}

function unread(outcome: Outcome, reason: string): Outcome {
  const message =
    'a position was closed, and the open orders could not be read: a stop-loss or take-profit may still be open';
  return {
    ...outcome,
    note: `${outcome.note}; orders that protected it could not be read (${reason})`,
    evidence: toJson({ cancelledExits: [], ...Object(outcome.evidence), leftExits: null }),
    alarm: outcome.alarm ?? { name: alarmName, message },
  };
}
