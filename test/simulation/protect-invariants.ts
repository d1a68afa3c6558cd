import { zero } from '../../lib/base/decimal.ts';
import type { Entry } from '../../lib/ledger/entry.ts';
import { stepFacts } from '../../lib/ledger/order-facts.ts';
import { isSpotOrder } from '../../lib/paper/engine/exchange-state.ts';
import { oddWord } from '../../lib/paper/faults/odd-lists.ts';
import { listPlaces, type TrueExit } from './guarded-positions.ts';
import { isCancel, isCreate, isTrade, keyText, type WireSend } from './history.ts';
import type { Facts, InvariantName, Violation } from './invariants.ts';

/** A signal with which the relay keeps the protection of a position, and what it sent for it. */
interface Act {
  readonly entry: Entry;
  readonly sends: readonly WireSend[];
}

/** Finds what the relay may not do to keep the protection of a position. */
export function findUnlawfulProtection(facts: Facts): readonly Violation[] {
  const exits = listPlaces(facts).flatMap(({ everyExit }) => everyExit);
  const acts = listActs(facts);
  return [
    ...acts.flatMap((act) => findForeignCancels(facts, exits, act)),
    ...acts.flatMap((act) => findGaps(facts, act)),
    ...findAgainstOwner(facts, exits),
    ...findHaste(acts),
  ];
}

function broken(invariant: InvariantName, entry: Entry, text: string): Violation {
  return { invariant, harm: 'other', text: `${keyText(entry)} ${text}` };
}

function listActs({ entries, history }: Facts): readonly Act[] {
  const sends = Map.groupBy(history.sends, ({ key }) => (key === null ? '' : keyText(key)));
  return entries
    .filter(({ signal }) => signal?.action === 'protect')
    .map((entry) => ({ entry, sends: sends.get(keyText(entry)) ?? [] }));
}

/** Finds cancellations of orders that protect nothing which the relay keeps. */
function findForeignCancels(
  { entries, exchange }: Facts,
  exits: readonly TrueExit[],
  { entry, sends }: Act,
): readonly Violation[] {
  const own = new Set([...exits.map(({ order }) => order.orderId), ...spotStopsOf(entry, entries, exchange)]);
  // A worker whose close another one has carried out meanwhile goes on with its message: it cancels entries by their names.
  const entryNames = new Set(
    entries.filter(({ signal }) => signal?.action !== 'protect').map(({ clientOrderId }) => clientOrderId),
  );
  return sends
    .filter(({ path }) => isCancel(path))
    .map(({ body }) => JSON.parse(body) as { readonly orderId?: number; readonly clientOrderId?: string })
    .filter(({ clientOrderId }) => clientOrderId === undefined || !entryNames.has(clientOrderId))
    .map(({ orderId = 0 }) => orderId)
    .filter((orderId) => !own.has(orderId))
    .map((orderId) => {
      const name = exchange.orders.get(orderId)?.clientOrderId ?? 'unknown';
      return broken('I36', entry, `cancelled order ${orderId} (${name}), which is no exit of an entry`);
    });
}

/** The stop-losses that the relay has placed on spot for the buy that an act protects. */
function spotStopsOf({ account, signal }: Entry, entries: readonly Entry[], exchange: Facts['exchange']) {
  const of = signal?.action === 'protect' ? signal.of : '';
  const names = new Set(
    entries
      .filter((other) => other.account === account && other.signal?.action === 'protect')
      .filter((other) => other.signal?.action === 'protect' && other.signal.of === of)
      .map(({ clientOrderId }) => clientOrderId),
  );
  return [...exchange.orders.values()]
    .filter((order) => isSpotOrder(order) && order.account === account && names.has(order.clientOrderId))
    .map(({ orderId }) => orderId);
}

/** A stop-loss is cancelled for another one only when that stands at the exchange; on spot the old one holds the balance. */
function findGaps({ exchange }: Facts, { entry, sends }: Act): readonly Violation[] {
  const { protective, spot } = stepFacts(entry, 'sending');
  if (protective === undefined || spot !== undefined || !('stopPrice' in protective)) return [];
  const placed = [...exchange.orders.values()].find(
    ({ account, clientOrderId }) => account === entry.account && clientOrderId === entry.clientOrderId,
  );
  const standsAtMs = placed?.createdAtMs ?? Number.POSITIVE_INFINITY;
  const isEarly = sends.some(({ path, atMs }) => isTrade(path) && !isCreate(path) && atMs < standsAtMs);
  return isEarly ? [broken('I37', entry, 'cancelled a stop-loss before the new one stood')] : [];
}

/** Lists have shown it by then, and a signal that was planned before it has ended. */
const noticedAfterMs = 3 * 60_000;

/** Whether the outcome of the order was not known yet when its exit was cancelled: then no list told of that exit. */
function hadNoOrderYet({ statuses }: Facts['history'], { of, order }: TrueExit): boolean {
  const placed = statuses.get(keyText(of))?.find(({ status }) => status === 'placed');
  return placed === undefined || placed.atMs > order.updatedAtMs;
}

/** Finds stop-losses and take-profits that were placed again after the owner had cancelled them. */
function findAgainstOwner({ history, exchange }: Facts, exits: readonly TrueExit[]): readonly Violation[] {
  return history.handCancels.flatMap(({ orderId, atMs }) => {
    const ended = exits.find(({ order }) => order.orderId === orderId);
    if (ended === undefined || isOddlyEnded(ended) || hadNoOrderYet(history, ended)) return [];
    const wentWithIt = exits.filter(
      ({ of, placedBy, order }) =>
        placedBy === null && ended.placedBy === null && of === ended.of && order.updatedAtMs === atMs,
    );
    const ids = [orderId, ...wentWithIt.map(({ order }) => order.orderId)];
    if (isBeingReplaced(history, ids, atMs)) return [];
    const others = exits.filter((exit) => exit !== ended && isOfSame(exit, ended));
    const later = others.filter(({ placedBy, order }) => placedBy !== null && order.createdAtMs >= atMs);
    const beside = others.filter(
      (exit) =>
        !later.includes(exit) && (exchange.open.has(exit.order.orderId) || exit.order.updatedAtMs > atMs),
    );
    // The relay had placed its successor already: that one the owner has left.
    if (beside.some(({ placedBy }) => placedBy !== null)) return [];
    // Of what was made with each fill, what the owner has left may be replaced.
    const left = beside.reduce((sum, { order }) => sum.plus(order.amount), zero);
    const [first] = later.filter(({ order }) => left.eq(zero) || order.amount.gt(left));
    // What was placed before it could be noticed stands in its place, and is kept as it was.
    if (first === undefined || first.order.createdAtMs <= atMs + noticedAfterMs) return [];
    const { placedBy, of, order } = first;
    return [
      broken(
        'I36',
        placedBy ?? of,
        `placed order ${order.orderId} again, which the owner had cancelled as ${orderId}`,
      ),
    ];
  });
}

/** Whether a list said in a word that nobody knows how it ended. */
function isOddlyEnded({ of, order: { orderId } }: TrueExit): boolean {
  return of.execution?.orders.find((order) => order.orderId === orderId)?.endReason === oddWord;
}

/** No request travels longer before it is given up. */
const longestTravelMs = 10_000;

/**
 * Whether the relay was about to cancel an order itself when the owner did, or had just asked for it, to replace it. A process
 * that dies then never learns whose it was, and the next one rightly replaces what the relay has noted to replace.
 *
 * @param orderIds of the order, and of the exits that go with it
 */
function isBeingReplaced(
  { sends, started }: Facts['history'],
  orderIds: readonly number[],
  untilMs: number,
): boolean {
  return sends.some(({ path, body, key, atMs }) => {
    const begunAtMs = key === null ? atMs : (started.get(keyText(key))?.atMs ?? atMs);
    if (!isCancel(path) || begunAtMs > untilMs || atMs < untilMs - longestTravelMs) return false;
    return orderIds.includes((JSON.parse(body) as { readonly orderId?: number }).orderId ?? 0);
  });
}

/** Each of several take-profits is one of its own. */
function isOfSame(one: TrueExit, other: TrueExit): boolean {
  return one.of === other.of && one.role === other.role && partOf(one) === partOf(other);
}

function partOf({ placedBy }: TrueExit): number | undefined {
  return placedBy?.signal?.action === 'protect' ? placedBy.signal.part : undefined;
}

const mostInMinute = 30;
const minuteMs = 60_000;

/** Finds markets in which the relay placed more than so many orders within a minute to protect positions. */
function findHaste(acts: readonly Act[]): readonly Violation[] {
  const byMarket = Map.groupBy(acts, ({ entry }) => `${entry.account} ${entry.signal?.market}`);
  return [...byMarket].flatMap(([market, own]) => {
    const times = own
      .flatMap(({ sends }) => sends.filter(({ path }) => isCreate(path)).map(({ atMs }) => atMs))
      .sort((a, b) => a - b);
    const isHasty = times.some(
      (atMs, place) => atMs - (times[place - mostInMinute] ?? Number.NEGATIVE_INFINITY) < minuteMs,
    );
    const text = `${market}: more than ${mostInMinute} orders were sent within a minute to protect positions`;
    return isHasty ? [{ invariant: 'I38', harm: 'other', text }] : [];
  });
}
