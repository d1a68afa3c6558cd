import * as z from 'zod/mini';
import { parseDecimal, zero } from '../base/decimal.ts';
import { type Json, toJson } from '../base/json.ts';
import type { ExchangeClient, SendOptions } from '../exchange/client.ts';
import { ExchangeError } from '../exchange/errors.ts';
import type { Entry } from '../ledger/entry.ts';
import type { Order } from '../model/order.ts';
import type { SeenPosition } from '../positions/seen-position.ts';
import type { Outcome, Plan } from './action.ts';
import { type CancelledExits, cancelExits } from './cancel-exits.ts';
import { mostBelieved } from './close-ended.ts';
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

const Filled = z.object({ order: z.object({ filled: z.string() }) });
const FilledInPart = z.object({ placed: Filled });

/** Whether the response shows that the order filled for the whole position. */
function closesWhole({ status, evidence }: Outcome, { amount }: SeenPosition): boolean {
  if (status !== 'placed') return false;
  const whole = z.safeParse(Filled, evidence);
  const part = z.safeParse(FilledInPart, evidence);
  const order = whole.success ? whole.data.order : part.success ? part.data.placed.order : null;
  return order !== null && parseDecimal(order.filled).gte(amount.abs());
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
    const scope = { market: closed.market, isExit: await createExitTest(services, closed) };
    return describe(outcome, await cancelExits(client, scope, limits));
  } catch (error) {
    if (!(error instanceof ExchangeError)) throw error;
    return unread(outcome, error.message);
  }
}

/**
 * Recognises the orders that only protected the position: this relay's orders that only reduce, and the stop-loss and
 * take-profit that the exchange made from this relay's entries. What others placed stays.
 */
async function createExitTest(
  { ledger, executions }: ExecuteServices,
  { account, market, position }: ClosedPosition,
): Promise<(order: Order) => boolean> {
  const closingSide = position.amount.gt(zero) ? 'sell' : 'buy';
  const own = await ledger.openOrders(account, market, mostBelieved);
  const entries = [...own, ...(await executions.followed(account, mostBelieved))].filter(
    ({ signal }) => signal?.market === market,
  );
  const names = new Set(own.map(({ clientOrderId }) => clientOrderId));
  const made = entries.flatMap(exitsOf);
  return (order) =>
    order.side === closingSide &&
    (position.side === null || order.positionSide === position.side) &&
    ((order.reduceOnly === true && names.has(order.clientOrderId)) ||
      (order.clientOrderId === '' && made.some((exit) => isExit(exit, order))));
}

/** A stop-loss or take-profit of an entry: its order id where that is known, or else its price. */
interface Exit {
  readonly orderId: number | null;
  readonly price: string | null;
}

const Planned = z.object({
  oto: z.object({ stopLoss: z.optional(z.string()), takeProfit: z.optional(z.string()) }),
});
const PlannedOfOrder = z.object({ order: Planned });
const PlannedOfEnded = z.object({ placed: PlannedOfOrder });

function exitsOf({ steps, execution }: Entry): readonly Exit[] {
  const known = (execution?.orders ?? [])
    .filter(({ role }) => role !== 'order')
    .map(({ orderId }): Exit => ({ orderId, price: null }));
  const planned = steps.flatMap(({ evidence }) => plannedPrices(evidence));
  return [...known, ...planned.map((price): Exit => ({ orderId: null, price }))];
}

function plannedPrices(evidence: Json | undefined): readonly string[] {
  const whole = z.safeParse(PlannedOfOrder, evidence);
  const ended = z.safeParse(PlannedOfEnded, evidence);
  const order = whole.success ? whole.data.order : ended.success ? ended.data.placed.order : null;
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
    evidence: toJson({ ...Object(outcome.evidence), cancelledExits: [], leftExits: null }),
    alarm: outcome.alarm ?? { name: alarmName, message },
  };
}
