import * as z from 'zod/mini';
import { type Decimal, parseDecimal, zero } from '../../lib/base/decimal.ts';
import type { Entry } from '../../lib/ledger/entry.ts';
import { isPositionSignal } from '../../lib/model/signal.ts';
import { isSpotOrder, type PaperOrder } from '../../lib/paper/engine/exchange-state.ts';
import { keyText } from './history.ts';
import type { Facts, InvariantName, Violation } from './invariants.ts';
import { matchOrders } from './own-orders.ts';
import { isReducing } from './wanted-positions.ts';

/** One fill's change of a position. */
interface Change {
  readonly order: PaperOrder;
  readonly atMs: number;
  /** Account, market and side. */
  readonly position: string;
  readonly before: Decimal;
  readonly after: Decimal;
}

/**
 * Replays every fill of the exchange, and finds fills of orders that may only reduce a position but open or enlarge
 * one, and fills of stops that a close should have ended.
 */
export function findEnlargedPositions(facts: Facts): readonly Violation[] {
  const { exchange, entries } = facts;
  const { of } = matchOrders(exchange, entries);
  const reducing = new Map(
    entries.flatMap((entry) => {
      const rule = ruleFor(entry);
      return rule === null ? [] : of(entry).map(({ orderId }) => [orderId, { entry, rule }] as const);
    }),
  );
  const changes = listChanges(facts);
  return [
    ...changes.flatMap(({ order, before, after }) => {
      const found = reducing.get(order.orderId);
      if (found === undefined || isReduced(before, after)) return [];
      return [
        broken(found.rule, found.entry, `may only reduce, and changed ${describe(order, before, after)}`),
      ];
    }),
    ...entries.flatMap((entry) => findOutlivingStops(facts, changes, entry, of(entry))),
  ];
}

function broken(invariant: InvariantName, entry: Entry, text: string): Violation {
  return { invariant, harm: 'other', text: `${keyText(entry)} ${text}` };
}

function describe({ market }: PaperOrder, before: Decimal, after: Decimal): string {
  return `the position in ${market} from ${before.toFixed()} to ${after.toFixed()}`;
}

function isReduced(before: Decimal, after: Decimal): boolean {
  return after.abs().lt(before.abs()) && after.times(before).gte(zero);
}

function listChanges({ exchange }: Facts): readonly Change[] {
  const positions = new Map<string, Decimal>();
  return exchange.deals.flatMap(({ orderId, account, market, side, amount, atMs }) => {
    const order = exchange.orders.get(orderId);
    if (order === undefined || isSpotOrder(order)) return [];
    const position = `${account} ${market} ${order.positionSide}`;
    const before = positions.get(position) ?? zero;
    const after = side === 'buy' ? before.plus(amount) : before.minus(amount);
    positions.set(position, after);
    return [{ order, atMs, position, before, after }];
  });
}

/** The rule that says that the order of an entry only reduces; null if it may open. */
function ruleFor({ signal }: Entry): 'I16' | 'I19' | null {
  if (signal === null) return null;
  if (isPositionSignal(signal)) return isReducing(signal) ? 'I19' : null;
  if (signal.action === 'protect') return 'I16';
  if (signal.action !== 'order') return null;
  const isShare = signal.size.unit === 'percent' && signal.size.of === 'position';
  return signal.reduceOnly === true || isShare ? 'I16' : null;
}

/** So long may the stops of a position that was closed stay open, while the relay cancels them. */
const cancelTimeMs = 3 * 60_000;

const SentPart = z.object({
  position: z.object({ amount: z.string() }),
  positionOrder: z.object({ size: z.object({ quantity: z.string() }) }),
});

/**
 * Whether the order was to reduce the position by a part, and did so in full size. That others had closed just the rest
 * meanwhile shows in no response to it.
 */
function isWholePart({ steps }: Entry, { amount }: PaperOrder): boolean {
  const sending = steps.findLast(({ status }) => status === 'sending');
  const sent = z.safeParse(SentPart, sending?.evidence);
  if (!sent.success) return false;
  const { position, positionOrder } = sent.data;
  const asked = parseDecimal(positionOrder.size.quantity);
  return asked.lt(parseDecimal(position.amount).abs()) && amount.eq(asked);
}

/**
 * Finds stop-losses and take-profits that were open long after an order of a position action had closed the position which
 * they protected: they could open a new one.
 */
function findOutlivingStops(
  { history, exchange, entries }: Facts,
  changes: readonly Change[],
  entry: Entry,
  orders: readonly PaperOrder[],
): readonly Violation[] {
  if (ruleFor(entry) !== 'I19' || entry.status !== 'placed' || history.hasAlarm(entry)) return [];
  const last = changes.findLast(({ order }) => orders.includes(order));
  // What others closed beside it is for them to clean up.
  if (last === undefined || !last.after.eq(zero) || !last.order.remaining.eq(zero)) return [];
  if (isWholePart(entry, last.order)) return [];
  const { account, market, positionSide } = last.order;
  // Of an order that was reported as another one the owner was told to check the account.
  const isReported = ({ parentId }: PaperOrder) => {
    const parent = exchange.orders.get(parentId ?? 0);
    const made = entries.find((other) => other.clientOrderId === parent?.clientOrderId);
    return made !== undefined && history.hasAlarm(made);
  };
  return [...exchange.orders.values()]
    .filter(
      (order) =>
        order.parentId !== null &&
        !isReported(order) &&
        order.account === account &&
        order.market === market &&
        order.positionSide === positionSide &&
        order.side === last.order.side &&
        order.createdAtMs <= last.atMs &&
        (exchange.open.has(order.orderId) || order.updatedAtMs > last.atMs + cancelTimeMs),
    )
    .map(({ orderId }) =>
      broken('I19', entry, `closed the position, and left stop ${orderId} that could open another one`),
    );
}
