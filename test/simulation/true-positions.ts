import { type Decimal, zero } from '../../lib/base/decimal.ts';
import type { PositionState } from '../../lib/model/signal.ts';
import { type ExchangeState, isSpotOrder, type PaperOrder } from '../../lib/paper/engine/exchange-state.ts';
import type { PaperDeal } from '../../lib/paper/engine/trade-records.ts';
import { handPrefix } from './own-orders.ts';

/** One fill's change of a position, signed in base units. */
export interface PositionChange {
  readonly atMs: number;
  readonly dealId: number;
  readonly role: PaperDeal['role'];
  readonly order: PaperOrder;
  readonly before: Decimal;
  readonly after: Decimal;
}

/** The position of an account in a market, from the fills of the exchange. */
export class TruePosition {
  /** Oldest first. */
  readonly changes: readonly PositionChange[];

  constructor(changes: readonly PositionChange[]) {
    this.changes = changes;
  }

  at(atMs: number): Decimal {
    return this.changes.findLast((change) => change.atMs <= atMs)?.after ?? zero;
  }

  /** Every position that there was from one time to another, the one at its start included. */
  within(fromMs: number, untilMs: number): readonly Decimal[] {
    const later = this.changes.filter(({ atMs }) => atMs > fromMs && atMs <= untilMs);
    return [this.at(fromMs), ...later.map(({ after }) => after)];
  }

  /**
   * The time before a moment since which the position changed only by what the relay does not know: it knows the fills of
   * what it sent at market, however far a list lags behind, and those of orders that had rested once they are stored.
   */
  lastKnownFill(beforeMs: number, isKnown: (change: PositionChange) => boolean): number {
    const known = this.changes.findLast((change) => change.atMs <= beforeMs && isKnown(change));
    return known?.atMs ?? Number.NEGATIVE_INFINITY;
  }

  changesOf({ orderId }: PaperOrder): readonly PositionChange[] {
    return this.changes.filter(({ order }) => order.orderId === orderId);
  }
}

export function isByOthers(change: PositionChange): boolean {
  const { clientOrderId } = change.order;
  // Exits, and what the exchange's own page placed, have no client order id.
  return !isOfResponse(change) || clientOrderId === '' || clientOrderId.startsWith(handPrefix);
}

/** Whether the response to the order tells of the fill: it says that an order waits or rests, even if the price reaches it in the same moment. */
export function isOfResponse({
  order: { activationPrice, createdAtMs },
  atMs,
  role,
}: Pick<PositionChange, 'order' | 'atMs' | 'role'>): boolean {
  return activationPrice === null && role === 'taker' && atMs <= createdAtMs;
}

/** The positions of all accounts in one-way mode; in hedge mode a market of perpetuals has two. */
export function truePositions(exchange: ExchangeState): (account: string, market: string) => TruePosition {
  const changes = new Map<string, PositionChange[]>();
  for (const { dealId, orderId, account, market, side, amount, atMs, role } of exchange.deals) {
    const order = exchange.orders.get(orderId);
    if (order === undefined || isSpotOrder(order) || order.positionSide !== 'BOTH') continue;
    const known = changes.get(`${account} ${market}`) ?? [];
    const before = known.at(-1)?.after ?? zero;
    const after = side === 'buy' ? before.plus(amount) : before.minus(amount);
    known.push({ atMs, dealId, role, order, before, after });
    changes.set(`${account} ${market}`, known);
  }
  return (account, market) => new TruePosition(changes.get(`${account} ${market}`) ?? []);
}

export function stateOf(position: Decimal): PositionState {
  if (position.eq(zero)) return 'flat';
  return position.gt(zero) ? 'long' : 'short';
}
