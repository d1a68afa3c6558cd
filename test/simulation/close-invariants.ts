import { type Decimal, zero } from '../../lib/base/decimal.ts';
import type { Entry } from '../../lib/ledger/entry.ts';
import { isMarkedReducing } from '../../lib/model/order.ts';
import { isPositionSignal, type PositionSignal } from '../../lib/model/signal.ts';
import { isSpotOrder, type PaperOrder } from '../../lib/paper/engine/exchange-state.ts';
import { isCreate, keyText } from './history.ts';
import type { Facts, Violation } from './invariants.ts';
import { matchOrders, type OwnOrders } from './own-orders.ts';
import { isHedged } from './position-view.ts';
import { truePositions } from './true-positions.ts';

/** The entry of a signal that closes all of a position. */
type CloseEntry = Entry & { readonly signal: PositionSignal };

/** Finds closes that left an entry which could fill later, and closes that left a part of the position, without a word. */
export function findUnendedCloses(facts: Facts): readonly Violation[] {
  return [...findUntriedRests(facts), ...findSilentCloses(facts)];
}

function findSilentCloses(facts: Facts): readonly Violation[] {
  const own = matchOrders(facts.exchange, facts.entries);
  const closes = facts.entries.flatMap((entry) => {
    const { signal } = entry;
    return isWholeClose(signal) && !facts.history.hasAlarm(entry) ? [{ ...entry, signal }] : [];
  });
  return closes.flatMap((entry) => [
    ...findLaterFills(facts, own, entry),
    ...findUntoldRest(facts, own, entry),
  ]);
}

function isWholeClose(signal: Entry['signal']): signal is PositionSignal {
  if (signal === null || !isPositionSignal(signal)) return false;
  switch (signal.action) {
    case 'close':
      return signal.part === undefined;
    case 'reverse':
      return signal.leg === 'reduce';
    case 'target':
      return signal.target.unit === 'flat';
  }
}

/** When nothing of the relay may rest any more; null when the signal closed nothing and found nothing closed. */
function closedAtMs({ history }: Facts, entry: CloseEntry): number | null {
  const key = keyText(entry);
  if (entry.status === 'satisfied') return history.satisfied.get(key)?.atMs ?? null;
  if (entry.status !== 'placed') return null;
  const sent = history.sends.find(
    (send) => isCreate(send.path) && send.key !== null && keyText(send.key) === key,
  );
  return sent?.atMs ?? null;
}

function findLaterFills(facts: Facts, own: OwnOrders, entry: CloseEntry): readonly Violation[] {
  const { history, exchange, entries } = facts;
  const atMs = closedAtMs(facts, entry);
  if (atMs === null || entry.signal.keepEntries === true || isOfOtherWish(entry, facts)) return [];
  const placeOf = (one: Entry) => history.stored.get(keyText(one)) ?? Number.POSITIVE_INFINITY;
  const before = entries.filter(
    (other) =>
      other.account === entry.account &&
      other.signal?.market === entry.signal.market &&
      placeOf(other) < placeOf(entry) &&
      // Of an order that was reported as another one, or whose cancellation was, the owner was told.
      !history.hasAlarm(other),
  );
  return before
    .flatMap((other) => own.of(other))
    .filter((order) => mayOpen(facts, entry, order) && order.createdAtMs < atMs)
    .filter(({ orderId }) => {
      const isOpen = exchange.open.has(orderId);
      return isOpen || exchange.deals.some((deal) => deal.orderId === orderId && deal.atMs > atMs);
    })
    .map(({ orderId }) =>
      broken(entry, `closed all of the position, and left entry ${orderId}, which could open another one`),
    );
}

/** An alert that closes another position than the one that it presumes, or the one that it names, leaves the rest alone. */
function isOfOtherWish(entry: CloseEntry, facts: Facts): boolean {
  const { signal } = entry;
  if (signal.action !== 'close') return false;
  if (entry.status !== 'satisfied') return false;
  if (signal.unless !== undefined) return true;
  const positionOf = truePositions(facts.exchange);
  const atMs = closedAtMs(facts, entry) ?? 0;
  return !positionOf(entry.account, signal.market).at(atMs).eq(zero);
}

function mayOpen(facts: Facts, entry: CloseEntry, order: PaperOrder): boolean {
  if (isSpotOrder(order) || isMarkedReducing(order)) return false;
  if (!isHedged(facts, entry)) return true;
  const { signal } = entry;
  return signal.action === 'close' && order.positionSide === signal.positionSide;
}

/** Finds orders that closed only a part of what they were to close, although the rest stayed. */
function findUntoldRest(facts: Facts, own: OwnOrders, entry: CloseEntry): readonly Violation[] {
  if (entry.status !== 'placed' || isHedged(facts, entry) || isToldBefore(facts, entry)) return [];
  const position = truePositions(facts.exchange)(entry.account, entry.signal.market);
  // What tries again comes after the alarm.
  const again = facts.entries.filter(({ signalId }) => signalId.startsWith(`${entry.signalId}:rest-`));
  const tries = new Set(again.flatMap((other) => own.of(other)).map(({ orderId }) => orderId));
  return own
    .of(entry)
    .filter(({ remaining }) => remaining.gt(zero))
    .filter((order) => {
      const { orderId, createdAtMs } = order;
      const others = position.changes.filter(
        (change) =>
          change.atMs > createdAtMs &&
          change.atMs <= createdAtMs + readMs &&
          change.order.orderId !== orderId &&
          !tries.has(change.order.orderId),
      );
      const held = [position.at(createdAtMs), ...others.map(({ after }) => after)];
      return held.every((amount) => isAgainst(order, amount));
    })
    .map(({ remaining }) => broken(entry, `left ${remaining.toFixed()} of the position, and told nobody`));
}

/** What a further try leaves is told by the alarm of the first close, which says that the relay tries again, and by the last try. */
function isToldBefore({ history }: Facts, { account, signalId }: CloseEntry): boolean {
  const [first = signalId, tried] = signalId.split(/:rest-(?=\d$)/);
  return tried !== undefined && Number(tried) < mostTries && history.hasAlarm({ account, signalId: first });
}

/** After the first, as many closes as may follow it. */
const mostTries = 3;
/** What a store may fail, or a process die of, before the next close is stored. */
const storesWithinMs = 30_000;

/** Finds closes that are known to have left a part in a thin book, and that nothing followed. */
function findUntriedRests({ entries, history }: Facts): readonly Violation[] {
  const stored = new Set(entries.map(keyText));
  return entries.flatMap((entry) => {
    const { signal, signalId, account } = entry;
    if (!isWholeClose(signal) || signal.action === 'reverse' || entry.status !== 'placed') return [];
    if (entry.steps.at(-1)?.facts?.rest === undefined) return [];
    const [first = signalId, tried = '0'] = signalId.split(/:rest-(?=\d$)/);
    if (Number(tried) >= mostTries) return [];
    if (stored.has(keyText({ account, signalId: `${first}:rest-${Number(tried) + 1}` }))) return [];
    const statuses = history.statuses.get(keyText(entry)) ?? [];
    const wasLost = statuses.some(({ status }) => status === 'unknown');
    const atMs = statuses.find(({ status }) => status === 'placed')?.atMs ?? 0;
    const mayHaveFailed = history.timeline.some(
      (row) =>
        Math.abs(row.atMs - atMs) <= storesWithinMs &&
        (row.fault?.startsWith('store: ') === true || row.what.startsWith('dies: ')),
    );
    return wasLost || mayHaveFailed
      ? []
      : [broken(entry, 'left a part of the position, and nothing closes it')];
  });
}

/** For longer than the relay reads the position after a close. */
const readMs = 30_000;

function isAgainst({ side }: PaperOrder, amount: Decimal): boolean {
  return side === 'sell' ? amount.gt(zero) : amount.lt(zero);
}

function broken(entry: Entry, text: string): Violation {
  return { invariant: 'I33', harm: 'silent', text: `${keyText(entry)} ${text}` };
}
