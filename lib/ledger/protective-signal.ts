import type { OrderSignal, ProtectSignal } from '../model/signal.ts';
import type { ProtectiveOrder } from '../model/step-facts.ts';

/** An order that keeps the protection of a position, as an alert would ask for it: one that only reduces. */
export function protectiveSignal(
  { ticker, market, timeMs, maxLagMs }: ProtectSignal,
  { amount, exact: _, ofShare: __, ...order }: ProtectiveOrder,
): OrderSignal {
  const size = { unit: 'base', quantity: amount } as const;
  return { ticker, market, timeMs, maxLagMs, action: 'order', size, reduceOnly: true, ...order };
}
