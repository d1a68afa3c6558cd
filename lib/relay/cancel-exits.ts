import * as z from 'zod/mini';
import { parseDecimal, zero } from '../base/decimal.ts';
import { type Json, toJson } from '../base/json.ts';
import type { ExchangeClient, SendOptions } from '../exchange/client.ts';
import { cancelOrder } from '../exchange/endpoints/cancel-order.ts';
import { ExchangeError, isOrderNotOpen } from '../exchange/errors.ts';
import { listOpenOrders } from '../exchange/list-open-orders.ts';
import type { Entry } from '../ledger/entry.ts';
import type { Order } from '../model/order.ts';
import type { SeenPosition } from '../positions/seen-position.ts';
import type { Outcome, Plan } from './action.ts';
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
        return await cancelExits(services, client, closed, outcome, options);
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

async function cancelExits(
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
    const exits = await findExits(services, client, closed, limits);
    const left: number[] = [];
    for (const { orderId, market } of exits)
      if (!(await isCancelled(client, { market, orderId }, limits))) left.push(orderId);
    return describe(outcome, exits, left);
  } catch (error) {
    if (!(error instanceof ExchangeError)) throw error;
    return unread(outcome, error.message);
  }
}

async function isCancelled(
  client: ExchangeClient,
  name: { readonly market: string; readonly orderId: number },
  limits: SendOptions,
): Promise<boolean> {
  try {
    await client.call(cancelOrder, name, limits);
    return true;
  } catch (error) {
    if (!(error instanceof ExchangeError)) throw error;
    // The other order of a pair is gone with the first.
    return isOrderNotOpen(error);
  }
}

/**
 * The open orders that only protected the position: this relay's orders that only reduce, and the stop-loss and
 * take-profit that the exchange made from this relay's entries. What others placed stays.
 */
async function findExits(
  { ledger, executions }: ExecuteServices,
  client: ExchangeClient,
  { account, market, position }: ClosedPosition,
  limits: SendOptions,
): Promise<readonly Order[]> {
  const { orders } = await listOpenOrders(client, market, limits);
  const closingSide = position.amount.gt(zero) ? 'sell' : 'buy';
  const isOfPosition = ({ side, positionSide }: Order) =>
    side === closingSide && (position.side === null || positionSide === position.side);
  const candidates = orders.filter(isOfPosition);
  if (candidates.length === 0) return [];
  const own = await ledger.openOrders(account, market, mostBelieved);
  const entries = [...own, ...(await executions.followed(account, mostBelieved))].filter(
    ({ signal }) => signal?.market === market,
  );
  const names = new Set(own.map(({ clientOrderId }) => clientOrderId));
  const made = entries.flatMap(exitsOf);
  return candidates.filter(
    (order) =>
      (order.reduceOnly === true && names.has(order.clientOrderId)) ||
      (order.clientOrderId === '' && made.some((exit) => isExit(exit, order))),
  );
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

function describe(outcome: Outcome, exits: readonly Order[], left: readonly number[]): Outcome {
  const evidence = toJson({
    ...Object(outcome.evidence),
    cancelledExits: exits.map(({ orderId }) => orderId).filter((orderId) => !left.includes(orderId)),
    leftExits: left,
  });
  const ids = exits.map(({ orderId }) => orderId).join(', ');
  if (left.length === 0)
    return exits.length === 0
      ? { ...outcome, evidence }
      : {
          ...outcome,
          evidence,
          note: `${outcome.note}; orders that only protected it are cancelled: ${ids}`,
        };
  const note = `${outcome.note}; orders that protected it may still be open: ${left.join(', ')}`;
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
