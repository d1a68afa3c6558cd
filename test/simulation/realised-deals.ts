import { type Decimal, zero } from '../../lib/base/decimal.ts';
import type { ExchangeState } from '../../lib/paper/engine/exchange-state.ts';
import { settlePosition } from '../../lib/paper/engine/position-fills.ts';
import type { PositionEvent } from '../../lib/paper/engine/position-records.ts';
import { closablePart, closesOnly, positionAmountOf } from '../../lib/paper/engine/positions.ts';
import type { PaperDeal } from '../../lib/paper/engine/trade-records.ts';
import { openTrading } from '../../lib/paper/engine/trading.ts';

/** A deal on the collateral account, and what the exchange booked for it. */
export interface RealisedDeal {
  readonly deal: PaperDeal;
  /** The profit of what it closed less its fee, in the quote currency. */
  readonly realised: Decimal;
  /** Whether it closed a position, or a part of one. */
  readonly isClosing: boolean;
}

/** The deals of positions, oldest first. A deal that turns a position made two events of the exchange. */
export function realisedDeals({ deals, positionEvents }: ExchangeState): readonly RealisedDeal[] {
  const held = new Map<number, Decimal>();
  const closing = new Set<PositionEvent>();
  for (const event of positionEvents) {
    if (event.amount.abs().lt(held.get(event.positionId)?.abs() ?? zero)) closing.add(event);
    held.set(event.positionId, event.amount);
  }
  const waiting = Map.groupBy(positionEvents, ({ orderId }) => orderId);
  return deals.flatMap((deal) => {
    const events = waiting.get(deal.orderId) ?? [];
    const own: PositionEvent[] = [];
    for (let left = deal.amount; left.gt(zero) && events.length > 0; ) {
      const [event] = events.splice(0, 1);
      if (event === undefined) break;
      own.push(event);
      left = left.minus(event.tradeAmount);
    }
    if (own.length === 0) return [];
    const realised = own.reduce((sum, { realizedPnl }) => sum.plus(realizedPnl), zero);
    return [{ deal, realised, isClosing: own.some((event) => closing.has(event)) }];
  });
}

/**
 * What the exchange would have booked for these deals if they were all that there are. Of an order that can only close, nothing
 * is opened by what then exceeds the position.
 *
 * @param some of the deals of positions, oldest first
 */
export function realisedAlone(
  { orders }: ExchangeState,
  some: readonly PaperDeal[],
): readonly RealisedDeal[] {
  const { state } = openTrading(null);
  return some.flatMap((deal) => {
    const order = orders.get(deal.orderId);
    if (order === undefined) return [];
    const closing = closablePart(positionAmountOf(state, order), deal.side, deal.amount);
    const amount = closesOnly(order) ? closing : deal.amount;
    const profit = settlePosition(state, order, { ...deal, amount, feeRate: zero });
    return [{ deal, realised: profit.minus(deal.fee), isClosing: closing.gt(zero) }];
  });
}
