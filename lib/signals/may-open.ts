import type { Account, TradingGround } from '../model/account.ts';
import { isMarkedReducing } from '../model/order.ts';
import type { OrderSignal, Signal } from '../model/signal.ts';

/**
 * Whether the signal may open or enlarge a position. What it would do to the position of the moment is not looked at: a
 * sell without `reduceOnly` may open one.
 */
export function mayOpen(signal: Signal, { markets }: Account): boolean {
  switch (signal.action) {
    case 'order':
      return !saysItReduces(signal, markets[signal.market]?.tradesOn);
    case 'reverse':
    case 'target':
      return signal.leg === 'open';
    case 'close':
    case 'protect':
    case 'protect_position':
    case 'cancel':
    case 'cancel_all':
      return false;
  }
}

/** Whether the order says itself that it only reduces, whatever the position is. On spot nothing can be sold that is not held. */
export function saysItReduces(signal: OrderSignal, tradesOn: TradingGround | undefined): boolean {
  const { side, size } = signal;
  if (tradesOn === 'spot') return side === 'sell';
  return isMarkedReducing(signal) || (size.unit === 'percent' && size.of === 'position');
}

/** Whether the alert asks for a stop-loss or take-profits: those of an order that only reduces would protect nothing. */
export function namesExits({ stopLoss, takeProfit, takeProfits, trailing }: OrderSignal): boolean {
  return [stopLoss, takeProfit, takeProfits, trailing].some((asked) => asked !== undefined);
}
