import { usualTriggerSides } from '../model/order.ts';
import type { OrderSignal, ProtectSignal } from '../model/signal.ts';
import type { ProtectiveOrder } from '../model/step-facts.ts';

/** An order that keeps the protection of a position, as an alert would ask for it: one that only reduces. */
export function protectiveSignal(
  { ticker, market, timeMs, maxLagMs }: ProtectSignal,
  { orderType, side, amount, stopPrice = '0', limitPrice = '0', positionSide }: ProtectiveOrder,
): OrderSignal {
  const shared = {
    ticker,
    market,
    timeMs,
    maxLagMs,
    action: 'order' as const,
    side,
    size: { unit: 'base' as const, quantity: amount },
    reduceOnly: true,
    ...(positionSide === undefined ? {} : { positionSide }),
  };
  // A stop-loss that would wait for the price to move the other way protects nothing.
  const expectTrigger = usualTriggerSides[side];
  switch (orderType) {
    case 'stop_limit':
      return { ...shared, orderType, stopPrice, limitPrice, expectTrigger };
    case 'stop_market':
      return { ...shared, orderType, stopPrice, expectTrigger };
    case 'limit':
      return { ...shared, orderType, limitPrice };
    case 'market':
      return { ...shared, orderType };
  }
}
