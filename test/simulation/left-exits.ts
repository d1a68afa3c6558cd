import type { PaperOrder } from '../../lib/paper/engine/exchange-state.ts';
import type { Facts } from './invariants.ts';

/**
 * A run as the relay may see it. An exit that no list and no position has ever shown may stand when its position is gone. The
 * relay has named its entry in an alarm then, and the owner looks after it: what it trades counts as his.
 */
export function withoutLeftExits(facts: Facts): Facts {
  const { exchange, entries, history } = facts;
  if (exchange.exitSettings.listsExits) return facts;
  const claimed = new Set(
    entries.flatMap(({ execution }) => (execution?.orders ?? []).map(({ orderId }) => orderId)),
  );
  const isLeft = ({ orderId, parentId, createdAtMs }: PaperOrder) =>
    parentId !== null &&
    !claimed.has(orderId) &&
    history.alarms.some(
      (alarm) =>
        alarm.name === 'orders_left_open' && alarm.atMs > createdAtMs && alarm.facts['orderId'] === parentId,
    );
  const seen = (orders: ReadonlyMap<number, PaperOrder>) =>
    new Map([...orders].map(([id, order]) => [id, isLeft(order) ? { ...order, parentId: null } : order]));
  return { ...facts, exchange: { ...exchange, orders: seen(exchange.orders), open: seen(exchange.open) } };
}
