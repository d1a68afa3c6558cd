import { type Decimal, zero } from '../../lib/base/decimal.ts';
import type { Entry } from '../../lib/ledger/entry.ts';
import {
  isPositionSignal,
  type PositionSignal,
  placesOrder,
  type TargetSignal,
} from '../../lib/model/signal.ts';
import { isCreate, keyText } from './history.ts';
import type { Facts, Violation } from './invariants.ts';
import { orderForLeg, type PositionEntry } from './leg-orders.ts';
import { matchOrders } from './own-orders.ts';
import { createViews, type Decided, isHedged, type ViewOf } from './position-view.ts';
import { isByOthers, type PositionChange } from './true-positions.ts';
import { equitiesRead, leastTrade, reduceLegOf, wantedRange } from './wanted-positions.ts';

type TargetEntry = Entry & { readonly signal: TargetSignal };

/** The last target of a market that was carried out in full with nobody else trading there. */
export interface CarriedOut {
  readonly entry: Entry;
  /** Null: the position is what it asks for; else both, in words. */
  readonly difference: string | null;
}

/** Finds positions that are not what the last target of their market asks for, although nothing stood in its way. */
export function findMissedTargets(facts: Facts): readonly Violation[] {
  return judgeLastTargets(facts)
    .filter(({ difference }) => difference !== null)
    .map(({ entry, difference }) => ({
      invariant: 'I22',
      harm: 'silent',
      text: `${keyText(entry)} was the last target of its market, and ${difference}`,
    }));
}

export function judgeLastTargets(facts: Facts): readonly CarriedOut[] {
  const viewOf = createViews(facts);
  return lastOrders(facts).flatMap((entry) => {
    const { signal } = entry;
    if (signal?.action !== 'target' || isHedged(facts, entry)) return [];
    return judgeTarget(facts, viewOf, { ...entry, signal }) ?? [];
  });
}

/** The alert of each account and market that was stored last, among those that may place orders. */
function lastOrders({ history, entries }: Facts): readonly Entry[] {
  const placeOf = (entry: Entry) => history.stored.get(keyText(entry)) ?? 0;
  const orders = entries.filter(
    ({ signal }) => signal !== null && placesOrder(signal) && signal.action !== 'protect',
  );
  const byMarket = Map.groupBy(orders, ({ account, signal }) => `${account} ${signal?.market}`);
  return [...byMarket.values()].flatMap((group) =>
    group.toSorted((a, b) => placeOf(b) - placeOf(a)).slice(0, 1),
  );
}

/** @returns null when the ledger says why the position may be another one, or when others traded afterwards */
function judgeTarget(facts: Facts, viewOf: ViewOf, entry: TargetEntry): CarriedOut | null {
  const legs = [reduceLegOf(entry, facts.entries) ?? [], entry].flat();
  if (!legs.every((leg) => isCarriedOut(facts, leg))) return null;
  const decided = legs.flatMap((leg) => decisionOf(facts, leg) ?? []);
  const [first] = decided;
  const last = decided.at(-1);
  if (first === undefined || last === undefined || decided.length < legs.length) return null;
  const { truth, readAtMs } = viewOf(entry, first);
  const wanted = wantedRange(
    entry.signal.target,
    entry.signal.market,
    equitiesRead(facts.history, entry.account, last),
  );
  if (readAtMs === null || wanted === null) return null;
  const isOfNoTarget = (change: PositionChange) => isByOthers(change) || isByExit(facts, change);
  if (truth.changes.some((change) => isOfNoTarget(change) && change.atMs > readAtMs - settledMs)) return null;
  const position = truth.at(Number.POSITIVE_INFINITY);
  const tolerance = leastTrade(entry.signal.market);
  const isReached = position.gte(wanted.least.minus(tolerance)) && position.lte(wanted.most.plus(tolerance));
  const asked = `${wanted.least.toFixed()} to ${wanted.most.toFixed()}`;
  return { entry, difference: isReached ? null : `asks for ${asked}; the position is ${position.toFixed()}` };
}

/**
 * What the relay places for a stop-loss whose price has been passed fills at once, beyond that price, and ends the position
 * as the stop-loss that the exchange made would have. So does a take-profit, at its limit price or a better one.
 */
function isByExit({ entries, exchange }: Facts, { order }: PositionChange): boolean {
  const { account, clientOrderId, side, filled, filledNotional } = order;
  const own = entries.find((entry) => entry.account === account && entry.clientOrderId === clientOrderId);
  if (own?.signal?.action !== 'protect') return false;
  if (own.signal.role === 'take_profit') return order.price !== null;
  const { of } = own.signal;
  const source = entries.find((entry) => entry.account === account && entry.signalId === of);
  // Where it has moved to, or what an alert made it, is no price of the order.
  if (source?.signal?.action === 'protect_position' || isTrailing(source)) return true;
  const opening = [...exchange.orders.values()].find(
    (other) => other.account === account && other.clientOrderId === source?.clientOrderId,
  );
  const stop = opening?.oto?.stopLoss ?? null;
  if (stop === null) return false;
  const price = filledNotional.div(filled);
  return side === 'sell' ? price.lte(stop) : price.gte(stop);
}

function isTrailing(source: Entry | undefined): boolean {
  return source?.signal != null && 'trailing' in source.signal;
}

/** Longer than any list of positions lags behind. */
const settledMs = 30_000;

function isCarriedOut({ exchange, entries }: Facts, leg: Entry): boolean {
  if (leg.status === 'satisfied') return true;
  if (leg.status !== 'placed') return false;
  return matchOrders(exchange, entries)
    .of(leg)
    .every(({ remaining }) => remaining.eq(zero));
}

/** When it was decided what a leg has to do. */
function decisionOf({ history }: Facts, leg: Entry): Decided | null {
  const key = keyText(leg);
  if (leg.status === 'satisfied') return history.satisfied.get(key) ?? null;
  return (
    history.sends.find((send) => isCreate(send.path) && send.key !== null && keyText(send.key) === key) ??
    null
  );
}

/** Finds signals that ended as satisfied although the position was not as wanted, or although something was sent. */
export function findFalselySatisfied(facts: Facts): readonly Violation[] {
  const viewOf = createViews(facts);
  return facts.entries
    .filter(({ status }) => status === 'satisfied')
    .flatMap((entry) => [...findSent(facts, entry), ...findUnsatisfied(facts, viewOf, entry)]);
}

function broken(entry: Entry, text: string): Violation {
  return { invariant: 'I24', harm: 'silent', text: `${keyText(entry)} is satisfied, and ${text}` };
}

function findSent({ history }: Facts, entry: Entry): readonly Violation[] {
  const isSent = history.sends.some(
    ({ path, key }) => isCreate(path) && key !== null && keyText(key) === keyText(entry),
  );
  return isSent ? [broken(entry, 'an order was sent for it')] : [];
}

function findUnsatisfied(facts: Facts, viewOf: ViewOf, entry: Entry): readonly Violation[] {
  const { signal } = entry;
  const decided = facts.history.satisfied.get(keyText(entry));
  if (decided === undefined || signal === null || !isPositionSignal(signal) || isHedged(facts, entry))
    return [];
  const { believable, readAtMs, truth } = viewOf(entry, decided);
  if (readAtMs === null) return [broken(entry, 'no position was read')];
  // What a later reading shows is told, with the alarm before it.
  if (entry.steps.at(-1)?.facts?.turned !== undefined && facts.history.hasAlarm(entry)) return [];
  if (isOfAnother(signal, truth.changes)) return [];
  const leg: PositionEntry = { ...entry, signal };
  const hasReduced = reduceLegOf(entry, facts.entries)?.status === 'placed';
  const isSo = (position: Decimal) => isAsWanted(facts, leg, decided, position, hasReduced);
  if (believable.some(isSo)) return [];
  return [broken(entry, `the position was ${believable.map((position) => position.toFixed()).join(', ')}`)];
}

/** Whether a further try of a close came when the position that it was to close was gone: what stood then was opened later. */
function isOfAnother(signal: PositionSignal, changes: readonly PositionChange[]): boolean {
  const { openedByMs = null, only } = signal.action === 'close' ? signal : {};
  if (openedByMs === null) return false;
  const sign = only === 'short' ? '-1' : '1';
  return changes.some(({ atMs, after }) => atMs > openedByMs && after.times(sign).lte(zero));
}

/** Whether a leg has nothing to do that the market could carry out. */
function isAsWanted(
  { history }: Facts,
  leg: PositionEntry,
  decided: Decided,
  position: Decimal,
  hasReduced: boolean,
): boolean {
  const order = orderForLeg(leg, { history, decided, reduced: null })(position);
  if (order === null) return true;
  const least = leastTrade(leg.signal.market);
  const isTiny = order.least.abs().lte(least) || order.most.abs().lte(least);
  // A price that moved between the legs must not undo the first one.
  const isReduced = hasReduced && leg.signal.action === 'target' && !position.eq(zero);
  const isBetween = order.least.times(order.most).lte(zero);
  // Others enlarged the position after the first leg: there is nothing to open.
  const isOpening = leg.signal.action === 'target' && leg.signal.leg === 'open';
  const isBeyond = isOpening && order.least.times(position).lt(zero) && order.most.times(position).lt(zero);
  return isBeyond || isTiny || isReduced || isBetween;
}
