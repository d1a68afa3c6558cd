import { zero } from '../../lib/base/decimal.ts';
import type { Entry } from '../../lib/ledger/entry.ts';
import { isMarkedReducing } from '../../lib/model/order.ts';
import { placesOrder } from '../../lib/model/signal.ts';
import { isCreate, keyText } from './history.ts';
import type { Facts, Violation } from './invariants.ts';
import { matchOrders } from './own-orders.ts';
import { createViews, isHedged } from './position-view.ts';
import type { TruePosition } from './true-positions.ts';

/**
 * Finds orders of a strategy that were sent while another one held the position of the market, in accounts that allow one
 * strategy there, and in markets of targets where the account says nothing.
 */
export function findSecondStrategies(facts: Facts): readonly Violation[] {
  const viewOf = createViews(facts);
  const ownerOf = ownersIn(facts);
  const byKey = new Map(facts.entries.map((entry) => [keyText(entry), entry]));
  return facts.history.sends.flatMap((send) => {
    const entry = send.key === null ? undefined : byKey.get(keyText(send.key));
    const strategy = entry?.signal?.strategy;
    if (!isCreate(send.path) || entry === undefined || strategy === undefined || isHedged(facts, entry))
      return [];
    // Everyone may close.
    if (isClosing(entry)) return [];
    const { truth, believable } = viewOf(entry, send);
    // Without a reading, nothing shows what it should have known; such an order is found by another rule.
    if (believable.length === 0 || believable.some((position) => position.eq(zero))) return [];
    const owner = ownerOf(truth, send.atMs);
    if (owner?.signal?.strategy === undefined || owner.signal.strategy === strategy) return [];
    if (!isExclusive(facts, owner)) return [];
    const text = `${keyText(entry)} of ${strategy} was sent while ${keyText(owner)} of ${owner.signal.strategy} held the position`;
    return [{ invariant: 'I26', harm: 'other', text }];
  });
}

function isClosing({ signal }: Entry): boolean {
  return signal?.action === 'close' || (signal?.action === 'order' && isMarkedReducing(signal));
}

/** Whether the position that this entry opened belongs to its strategy alone. */
function isExclusive({ settings }: Facts, { account, signal }: Entry): boolean {
  const said = settings.accounts[account]?.oneStrategyPerMarket ?? null;
  return said ?? signal?.action === 'target';
}

/** The entry whose order opened the position that is open at a time; null where an order has turned it. */
function ownersIn({ exchange, entries }: Facts): (truth: TruePosition, atMs: number) => Entry | null {
  const { of } = matchOrders(exchange, entries);
  const byOrder = new Map(
    entries
      .filter(({ signal }) => signal !== null && placesOrder(signal))
      .flatMap((entry) => of(entry).map(({ orderId }) => [orderId, entry] as const)),
  );
  return (truth, atMs) => {
    const opening = truth.changes.findLast(
      (change) =>
        change.atMs <= atMs && change.before.times(change.after).lte(zero) && !change.after.eq(zero),
    );
    // What a resting order of one strategy has turned was claimed by the other one.
    if (opening === undefined || !opening.before.eq(zero)) return null;
    return byOrder.get(opening.order.orderId) ?? null;
  };
}
