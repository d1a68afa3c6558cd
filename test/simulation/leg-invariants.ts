import type { Decimal } from '../../lib/base/decimal.ts';
import { parseDecimal, zero } from '../../lib/base/decimal.ts';
import type { Entry } from '../../lib/ledger/entry.ts';
import { isFinal, type Status } from '../../lib/model/outcome.ts';
import { isPositionSignal, passesUnknown, placesOrder, type Signal } from '../../lib/model/signal.ts';
import { marketNamed } from '../../lib/paper/engine/markets.ts';
import { type History, isCreate, keyText, type WireSend } from './history.ts';
import type { Facts, InvariantName, Violation } from './invariants.ts';
import { orderForLeg, type PositionEntry } from './leg-orders.ts';
import { createViews, isHedged, type PositionView, type ViewOf } from './position-view.ts';
import { stateOf } from './true-positions.ts';
import { reduceLegOf } from './wanted-positions.ts';

/** A create that was sent for a signal whose meaning depends on the position. */
interface DependentSend {
  readonly send: WireSend;
  readonly entry: Entry & { readonly signal: Signal };
  readonly view: PositionView;
  /** Signed: above zero for a buy. */
  readonly amount: Decimal;
}

/** Finds orders that the position, as it could be read, does not allow. */
export function findUnlawfulLegs(facts: Facts): readonly Violation[] {
  const viewOf = createViews(facts);
  return listSends(facts, viewOf).flatMap((sent) => [
    ...findEarlySend(facts, sent),
    ...findMissingReading(sent),
    ...findPresumption(sent),
    ...findWrongAmount(facts, viewOf, sent),
  ]);
}

/** Whether a signal is executed or not depending on the position. */
export function needsPosition(signal: Signal | null): boolean {
  if (signal === null) return false;
  return isPositionSignal(signal) || (signal.action === 'order' && signal.requirePosition !== undefined);
}

function listSends(facts: Facts, viewOf: ViewOf): readonly DependentSend[] {
  const byKey = new Map(facts.entries.map((entry) => [keyText(entry), entry]));
  return facts.history.sends.flatMap((send) => {
    const entry = send.key === null ? undefined : byKey.get(keyText(send.key));
    const signal = entry?.signal ?? null;
    if (!isCreate(send.path) || entry === undefined || signal === null || !needsPosition(signal)) return [];
    if (isHedged(facts, entry)) return [];
    const { side, amount } = JSON.parse(send.body) as { readonly side: string; readonly amount: string };
    const signed = side === 'buy' ? parseDecimal(amount) : parseDecimal(amount).neg();
    return [{ send, entry: { ...entry, signal }, view: viewOf(entry, send), amount: signed }];
  });
}

function broken(invariant: InvariantName, { entry, amount }: DependentSend, text: string): Violation {
  return { invariant, harm: 'other', text: `${keyText(entry)} sent ${amount.toFixed()}, ${text}` };
}

const inFlight: ReadonlySet<Status> = new Set(['sending', 'unknown']);

export function statusAt({ statuses }: History, entry: Entry, atMs: number): Status | null {
  return statuses.get(keyText(entry))?.findLast((seen) => seen.atMs <= atMs)?.status ?? null;
}

/** Finds orders that were sent while an earlier order of their market could still change the position. */
function findEarlySend(facts: Facts, sent: DependentSend): readonly Violation[] {
  const { history, entries } = facts;
  const { entry, send } = sent;
  const reduce = reduceLegOf(entry, entries);
  const earlier = earlierOrders(history, entries, entry)
    .map((other) => ({ other, status: statusAt(history, other, send.atMs) }))
    .filter(({ other, status }) => {
      if (status === null || isAsStanding(history, other, status, send.atMs)) return false;
      if (status === 'unknown' && passesUnknown(entry.signal) && isShown(history, other, status, send.atMs))
        return false;
      if (wasCancelled(facts, other, send.atMs)) return false;
      return inFlight.has(status) || (other === reduce && !isFinal(status));
    });
  return earlier.map(({ other, status }) =>
    broken(other === reduce ? 'I20' : 'I25', sent, `while ${keyText(other)} was ${status}`),
  );
}

/** Whether its order had been cancelled by then without a fill: it changes no position, although its own signal does not say so yet. */
function wasCancelled({ exchange }: Facts, { account, clientOrderId }: Entry, atMs: number): boolean {
  return [...exchange.orders.values()].some(
    (order) =>
      order.account === account &&
      order.clientOrderId === clientOrderId &&
      order.status === 'cancelled' &&
      order.filled.eq(zero) &&
      order.updatedAtMs <= atMs,
  );
}

/** Clocks of two processes may differ by less than the rest of the ten seconds for which the list of positions lags. */
const leastShownMs = 5_000;

/** An order that protects a position is like one that stands, once the list of positions shows what it filled at once. */
function isAsStanding(history: History, entry: Entry, status: Status, atMs: number): boolean {
  return (
    entry.signal?.action === 'protect' && status === 'unknown' && isShown(history, entry, 'sending', atMs)
  );
}

/** Whether the list of positions shows by then what an order had filled when its entry got a status. */
function isShown({ statuses }: History, entry: Entry, since: Status, atMs: number): boolean {
  const seen = statuses.get(keyText(entry))?.find(({ status }) => status === since);
  return seen !== undefined && atMs - seen.atMs > leastShownMs;
}

/** The orders of the same market that were stored before an entry. */
export function earlierOrders(history: History, entries: readonly Entry[], entry: Entry): readonly Entry[] {
  const placeOf = (one: Entry) => history.stored.get(keyText(one));
  const place = placeOf(entry);
  return entries.filter((other) => {
    const before = placeOf(other);
    const isSameMarket = other.account === entry.account && other.signal?.market === entry.signal?.market;
    if (!isSameMarket || other.signal === null || !placesOrder(other.signal)) return false;
    return before !== undefined && place !== undefined && before < place;
  });
}

function findMissingReading(sent: DependentSend): readonly Violation[] {
  if (sent.view.readAtMs !== null) return [];
  return [broken(isPositionSignal(sent.entry.signal) ? 'I21' : 'I23', sent, 'and had read no position')];
}

/** Finds orders that presumed another position than any that the relay can have read. */
function findPresumption(sent: DependentSend): readonly Violation[] {
  const { entry, view } = sent;
  if (entry.signal.action !== 'order' || view.readAtMs === null) return [];
  const { requirePosition } = entry.signal;
  if (view.believable.some((position) => stateOf(position) === requirePosition)) return [];
  const seen = view.believable.map((position) => position.toFixed()).join(', ');
  return [broken('I23', sent, `presuming to be ${requirePosition}, and the position was ${seen}`)];
}

/** Finds orders that do not lead from any position that the relay can have read to the one that is wanted. */
function findWrongAmount(facts: Facts, viewOf: ViewOf, sent: DependentSend): readonly Violation[] {
  const { entry, view, send, amount } = sent;
  if (!isPositionSignal(entry.signal) || view.readAtMs === null) return [];
  const leg: PositionEntry = { ...entry, signal: entry.signal };
  const orderFor = orderForLeg(leg, {
    history: facts.history,
    decided: send,
    reduced: viewOfReduceLeg(facts, viewOf, leg),
  });
  const step = marketNamed(entry.signal.market).amountStep;
  const fits = view.believable.some((position) => {
    const order = orderFor(position);
    return order !== null && amount.gte(order.least.minus(step)) && amount.lte(order.most.plus(step));
  });
  if (fits) return [];
  const isOpening = entry.signal.action !== 'close' && entry.signal.leg === 'open';
  const isOldSide = isOpening && view.believable.every((position) => position.times(amount).lt(zero));
  const seen = view.believable.map((position) => position.toFixed()).join(', ');
  return [broken(isOldSide ? 'I20' : 'I21', sent, `and the position was ${seen}`)];
}

function viewOfReduceLeg(
  { history, entries }: Facts,
  viewOf: ViewOf,
  leg: PositionEntry,
): PositionView | null {
  const reduce = reduceLegOf(leg, entries);
  const sends = history.sends.filter(
    ({ key, path }) =>
      isCreate(path) && key !== null && reduce !== undefined && keyText(key) === keyText(reduce),
  );
  if (reduce === undefined) return null;
  // It may have ended after it read the position, and before it sent anything.
  const decided = sends[0] ?? history.started.get(keyText(reduce));
  return decided === undefined ? null : viewOf(reduce, decided);
}
