import type { Account } from '../model/account.ts';
import { isMarkedReducing } from '../model/order.ts';
import type { OrderSignal, Signal } from '../model/signal.ts';

/**
 * Whether the signal may open or enlarge a position. What it would do to the position of the moment is not looked at: a
 * sell without `reduceOnly` may open one.
 */
export function mayOpen(signal: Signal, account: Account): boolean {
  switch (signal.action) {
    case 'order':
      return !reduces(signal, account);
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

function reduces(order: OrderSignal, { markets }: Account): boolean {
  const { side, size, market } = order;
  // On spot nothing can be sold that is not held.
  const isSpotSale = side === 'sell' && markets[market]?.tradesOn === 'spot';
  return isMarkedReducing(order) || isSpotSale || (size.unit === 'percent' && size.of === 'position');
}
