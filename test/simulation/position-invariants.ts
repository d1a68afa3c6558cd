import { type Decimal, zero } from '../../lib/base/decimal.ts';
import type { Entry } from '../../lib/ledger/entry.ts';
import { isSpotOrder } from '../../lib/paper/exchange-state.ts';
import { keyText } from './history.ts';
import type { Facts, Violation } from './invariants.ts';
import { matchOrders } from './own-orders.ts';

/**
 * Replays every fill of the exchange, and finds fills of orders that may only reduce a position but open or enlarge
 * one.
 */
export function findEnlargedPositions({ exchange, entries }: Facts): readonly Violation[] {
  const { of } = matchOrders(exchange, entries);
  const reducing = new Map(
    entries.filter(onlyReduces).flatMap((entry) => of(entry).map(({ orderId }) => [orderId, entry] as const)),
  );
  const positions = new Map<string, Decimal>();
  return exchange.deals.flatMap(({ orderId, account, market, side, amount }) => {
    const order = exchange.orders.get(orderId);
    if (order === undefined || isSpotOrder(order)) return [];
    const name = `${account} ${market} ${order.positionSide}`;
    const before = positions.get(name) ?? zero;
    const after = side === 'buy' ? before.plus(amount) : before.minus(amount);
    positions.set(name, after);
    const entry = reducing.get(orderId);
    const isReduced = after.abs().lt(before.abs()) && after.times(before).gte(zero);
    if (entry === undefined || isReduced) return [];
    return [
      {
        invariant: 'I16',
        harm: 'other',
        text: `${keyText(entry)} may only reduce, and changed the position in ${market} from ${before.toFixed()} to ${after.toFixed()}`,
      },
    ];
  });
}

function onlyReduces({ signal }: Entry): boolean {
  if (signal?.action !== 'order') return false;
  return signal.reduceOnly === true || (signal.size.unit === 'percent' && signal.size.of === 'position');
}
