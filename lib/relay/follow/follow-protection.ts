import { protectionBoundMs } from '../../account/find-protection.ts';
import { showsExits } from '../../account/rehearsed.ts';
import { hasPassed } from '../../base/clock.ts';
import { parseDecimal, sumOf, zero } from '../../base/decimal.ts';
import { describeSafely } from '../../base/describe-error.ts';
import { tradeBalance } from '../../exchange/endpoints/trade-balance.ts';
import { ExchangeError } from '../../exchange/errors.ts';
import { longestLagMs, longestOrderLagMs } from '../../exchange/lag.ts';
import { listPositions, type Positions } from '../../exchange/list-positions.ts';
import { mayHide } from '../../exchange/listed.ts';
import type { AccountFacts } from '../../ledger/account-facts.ts';
import type { Entry } from '../../ledger/entry.ts';
import { isStillOpen, type OrderExecution } from '../../model/execution.ts';
import { currenciesInName } from '../../model/market.ts';
import type { Order } from '../../model/order.ts';
import { type ExitRole, exitRoles, isProtecting } from '../../model/signal.ts';
import { isMarketOrder } from '../../orders/order-kinds.ts';
import { findAskedStops, waitsForGain } from './asked-stops.ts';
import { mayLeave, noteAttached } from './end-hidden-exits.ts';
import { lacksStop, openStops, wouldStop } from './entry-stops.ts';
import type { AccountMemory, AccountReading, GoneFills } from './follow-memory.ts';
import type { Watch } from './follow-services.ts';
import type { FollowedEntry, Watched } from './followed-entry.ts';
import { readSights } from './market-sight.ts';
import { type RestingStop, tellUnprotected, tellUnseen } from './tell-unprotected.ts';
import { createUncovered, findKeepers, type Keepers, type Naked } from './uncovered.ts';
import { createUncoveredSpot, type SpotBalances } from './uncovered-spot.ts';

/** The positions as they were read for the watch. */
export interface WatchedPositions {
  readonly positions: Positions;
  /** The balances for spot trading; null when none was needed, or when they could not be read. */
  readonly balances: SpotBalances | null;
  /** When the reading began. */
  readonly readAtMs: number;
}

/**
 * Watches that what filled has its stop-loss, as long as the position stands; otherwise raises an alarm. Decides also which
 * entries are done: those whose orders and exits have ended, and those whose position is gone.
 *
 * @returns null when no position had to be read, or none could be
 */
export async function watchProtection(
  watch: Watch,
  followed: readonly FollowedEntry[],
  memory: AccountMemory,
  { open, ended, hiddenOpen }: AccountReading,
  nowMs: number,
): Promise<WatchedPositions | null> {
  const keepers = findKeepers(followed);
  const { services, account } = watch;
  const hasAskedStop = await findAskedStops(services.facts, account, followed, keepers);
  // One that has triggered and rests in the book stops out nothing any more. Where the relay keeps the protection, it replaces
  // its own.
  const made = new Set(followed.flatMap(protectiveIds));
  const isResting = ({ orderId, activationPrice, activated }: Order) =>
    !(watch.keeps && made.has(orderId)) && activationPrice !== undefined && activated === true;
  const inBook = open.filter(isResting);
  const resting = new Set(inBook.map(({ orderId }) => orderId));
  const restingOf = (one: FollowedEntry, isFree: boolean): readonly RestingStop[] => {
    const own = new Set(openStops(one, keepers).map(({ orderId }) => orderId));
    const others = inBook.filter((order) => !isFree && !made.has(order.orderId) && wouldStop(one, order));
    return [...inBook.filter(({ orderId }) => own.has(orderId)), ...others].map((order) => ({
      ...order,
      isOwn: own.has(order.orderId),
    }));
  };
  // The exchange may have ended one that the lists do not show any more, also where none tells how.
  const isMissing = (market: string, orderId: number) => {
    const { missingSinceMs } = memory.knownOf({ market, orderId });
    return missingSinceMs !== null && hasPassed(missingSinceMs, longestOrderLagMs, nowMs);
  };
  const standing = new Map(
    followed.map((one) => [
      one,
      openStops(one, keepers).filter(
        ({ orderId }) => !resting.has(orderId) && !isMissing(one.market, orderId),
      ),
    ]),
  );
  const stopsOf = (one: FollowedEntry) => standing.get(one) ?? [];
  for (const one of followed) noteLack(one, { keepers, stopsOf }, hasAskedStop(one), nowMs);
  const doubtful = new Set(
    followed.filter((one) => needsPosition(one, nowMs) || (watch.keeps && guards(one))),
  );
  const readAtMs = watch.services.clock.nowMs();
  const judged = [
    ...doubtful,
    ...(watch.keeps ? followed.filter((one) => mayProtect(one) || mayBeEndedByHand(one)) : []),
    ...(watch.tells ? followed.filter((one) => hasOpenExit(one) || (!one.isSpot && mayProtect(one))) : []),
  ];
  const onSpot = judged.some(({ isSpot }) => isSpot);
  const elsewhere =
    watch.places.length > 0 || [...judged, ...followed.filter(mayLeave)].some(({ isSpot }) => !isSpot);
  const read = elsewhere ? await readPositions(watch) : noPositions;
  const isTrading = watch.keeps || watch.tells;
  if (read !== null && isTrading) noteAttached(followed, { open, ended }, read, nowMs);
  const balances = onSpot ? await readBalances(watch) : null;
  const uncovered =
    read === null ? null : createUncovered(read.positions, open, followed, { nowMs, resting, stopsOf });
  const current = onSpot ? followed.map((one) => one.currentAt(nowMs)) : [];
  const uncoveredSpot = createUncoveredSpot(balances, open, current);
  let sights: ReturnType<typeof readSights> | undefined;
  for (const one of followed.toReversed()) {
    const isHidden = !one.isSpot && mayHide(read?.hidden ?? [], one.market);
    const source = one.isSpot ? uncoveredSpot : uncovered;
    const held = !doubtful.has(one)
      ? undefined
      : isHidden
        ? null
        : (source?.take(one, mayHide(hiddenOpen, one.market)) ?? null);
    const stops = stopsOf(one);
    if (startsAnew(watch, one, held, stops)) one.watched = calm(one);
    // Only the position tells whether a stop-loss that the relay made to fit is too small. That it is not read is an alarm itself.
    const isUntold = !one.isSpot && held === null && stops.some(({ role }) => role === 'order');
    if (held !== undefined && !isUntold && isAlarmDue(watch, one, held, nowMs)) {
      sights ??= readSights(watch.client, watch.options);
      const resting = restingOf(one, one.isSpot && isFreeIn(balances, one.market, held));
      const sight = (await sights)(one.market);
      const lack = { held, isPart: stops.length > 0, resting, sight };
      await tellUnprotected(services, one, lack, nowMs);
    }
    one.isDone = isDone(one, memory, held, { nowMs, keeps: watch.keeps });
    if (isTrading && mayLeave(one)) {
      one.isDone = false;
      if (hasPassed(one.own?.endedAtMs ?? nowMs, longestOrderLagMs, nowMs)) memory.hidesExits.add(one.market);
    }
    const gone = isTrading ? noteGone(one, memory, held, nowMs) : null;
    if (gone !== null && !gone.isTold && hasPassed(gone.sinceMs, unseenAfterMs, nowMs)) {
      if (await mayHaveLeft(services.facts, one, keepers, memory)) await tellUnseen(watch.teller, one);
      gone.isTold = true;
    }
    if (one.isDone) finish(one, memory);
  }
  return (!onSpot && !elsewhere) || read === null ? null : { positions: read, balances, readAtMs };
}

/** Whether no order holds what nothing stops out: then those that rest are of what is held besides. */
function isFreeIn(balances: SpotBalances | null, market: string, held: Naked | null): boolean {
  const { available = zero } = balances?.[currenciesInName(market).base] ?? {};
  return held !== null && available.gte(held.uncovered);
}

/** Whether a part of a position may be left that its stop-loss or take-profit should fit. */
export function guards(one: FollowedEntry): boolean {
  return asksForExits(one) && one.held.gt(zero) && one.watched.exitsEnded !== true;
}

/** The orders that the exchange made of an entry, or that the relay placed to protect one. */
function protectiveIds({ entry, names }: FollowedEntry): readonly number[] {
  const protective = isProtecting(entry.signal) ? names : names.slice(1);
  return protective.map(({ orderId }) => orderId);
}

/** Whether it asked for a stop-loss or take-profits. */
export function asksForExits({ wanted, signal }: FollowedEntry): boolean {
  return wanted.length > 0 || signal.takeProfits !== undefined;
}

/** Whether it is an open order that protects a position, or what a spot buy bought, whose size may change under it. */
function mayProtect(one: FollowedEntry): boolean {
  return one.entry.signal?.action === 'protect' && !one.areOrdersWhole;
}

/**
 * Whether it protected a position until this reading, and the owner may have ended it. That must be noted now, also where nothing
 * else is followed: the next reading does not have it.
 */
function mayBeEndedByHand({ entry, own, isSpot, areOrdersWhole }: FollowedEntry): boolean {
  return entry.signal?.action === 'protect' && !isSpot && areOrdersWhole && own?.status !== 'filled';
}

/** Whether an exit stands that the exchange made of it, and that may be too large for what is left. */
function hasOpenExit(one: FollowedEntry): boolean {
  return exitRoles.some((role) => one.exits(role).some(({ status }) => isStillOpen(status)));
}

function roleOf({ signal }: Entry): ExitRole | null {
  return signal?.action === 'protect' ? signal.role : null;
}

/** The stop-losses of entries, and the orders that they are of. */
interface Stops {
  readonly keepers: Keepers;
  stopsOf(one: FollowedEntry): readonly OrderExecution[];
}

function noteLack(
  one: FollowedEntry,
  { keepers, stopsOf }: Stops,
  hasAskedStop: boolean,
  nowMs: number,
): void {
  if (hasAskedStop || !lacksStop(one, { stops: stopsOf(one), keepers }, nowMs)) {
    one.watched = calm(one);
    return;
  }
  // The owner may end what the relay has placed since, before any list has shown it: that is told, too.
  if (hasPlacedSince(one, keepers, nowMs)) one.watched = calm(one);
  const { unprotectedSinceMs = nowMs, unprotectedAtMs } = one.watched;
  one.watched = {
    ...calm(one),
    unprotectedSinceMs: Math.min(unprotectedSinceMs, nowMs),
    ...(unprotectedAtMs === undefined ? {} : { unprotectedAtMs }),
  };
}

/** Whether the relay has placed a stop-loss that waits for its price after it was told that there is none. */
function hasPlacedSince({ entry, watched }: FollowedEntry, keepers: Keepers, nowMs: number): boolean {
  const { unprotectedAtMs } = watched;
  const kept = keepers.get(entry.signalId) ?? [];
  return kept.some(
    (one) =>
      unprotectedAtMs !== undefined &&
      roleOf(one.entry) === 'stop_loss' &&
      'stopPrice' in one.signal &&
      one.entry.createdAtMs > unprotectedAtMs &&
      // A time in the future was noted before the clock was set back.
      one.entry.createdAtMs <= nowMs,
  );
}

function calm({ watched: { exitsEnded } }: FollowedEntry): Watched {
  return exitsEnded === undefined ? {} : { exitsEnded };
}

/** Whether it depends on the position what must be done about an entry. */
function needsPosition(one: FollowedEntry, nowMs: number): boolean {
  const { unprotectedSinceMs } = one.watched;
  if (unprotectedSinceMs !== undefined) return nowMs - unprotectedSinceMs >= protectionBoundMs;
  return one.held.gt(zero) && lacksExit(one);
}

function hasFilled({ own }: FollowedEntry): boolean {
  return parseDecimal(own?.filled ?? '0').gt(zero);
}

/**
 * Whether the time without a stop-loss begins anew. On spot nothing but the lists tells that one stands: the exchange makes none
 * of its own. Elsewhere exits may have sold all of an entry: its old time would make an alarm of a list that lags behind. The same
 * holds while the stop-losses of some of its fills stop out all that is left. An alarm that was told is over once something covers
 * the entry: when that ends, too, it is told again.
 */
function startsAnew(
  { keeps }: Watch,
  { isSpot, watched }: FollowedEntry,
  held: Naked | null | undefined,
  stops: readonly OrderExecution[],
) {
  if (held == null || held.uncovered.gt(zero)) return false;
  return isSpot || watched.unprotectedAtMs !== undefined || stops.length > 0 || (keeps && held.isGone);
}

function lacksExit(one: FollowedEntry): boolean {
  return one.wanted.some(({ role }) => one.exits(role).length === 0);
}

const noPositions: Positions = { positions: [], hidden: [] };

/** @returns null when they cannot be read */
async function readPositions({ services, account, client, options }: Watch) {
  try {
    return await listPositions(client, options);
  } catch (error) {
    if (!(error instanceof ExchangeError)) throw error;
    services.log.warn('the positions could not be read; the relay tries again', {
      account,
      reason: describeSafely(error),
    });
    return null;
  }
}

/** @returns null when they cannot be read */
async function readBalances({ services, account, client, options }: Watch): Promise<SpotBalances | null> {
  try {
    return await client.call(tradeBalance, {}, options);
  } catch (error) {
    if (!(error instanceof ExchangeError)) throw error;
    services.log.warn('the spot balances could not be read; the relay tries again', {
      account,
      reason: describeSafely(error),
    });
    return null;
  }
}

/** @param held null: the position could not be read. What is not known for sure must not silence the alarm for long. */
function isAlarmDue(
  { services, keeps }: Watch,
  one: FollowedEntry,
  held: Naked | null,
  nowMs: number,
): boolean {
  const { unprotectedSinceMs, unprotectedAtMs } = one.watched;
  if (unprotectedSinceMs === undefined || nowMs - unprotectedSinceMs < protectionBoundMs) return false;
  if (held?.isSure !== true && nowMs - unprotectedSinceMs < 2 * protectionBoundMs) return false;
  if (held !== null && !held.uncovered.gt(zero)) return false;
  if (unprotectedAtMs === undefined) return true;
  // Where the relay keeps the protection, the owner has ended it, which is told once; or it cannot be placed, which each
  // further try tells.
  return !keeps && hasPassed(unprotectedAtMs, services.settings.unknownAlarmAfterMs, nowMs);
}

/** @param held undefined: it does not depend on the position; null: the position could not be read */
function isDone(
  one: FollowedEntry,
  memory: AccountMemory,
  held: Naked | null | undefined,
  { nowMs, keeps }: { readonly nowMs: number; readonly keeps: boolean },
): boolean {
  const { signalId } = one.entry;
  if (!one.areOrdersWhole) return false;
  const isClosed = !one.held.gt(zero);
  // Of the two exits of what filled, the one that has closed it may have been listed first.
  const isEndMissing = isClosed && hasFilled(one) && lacksExit(one);
  if (isClosed && !isEndMissing) return true;
  if (held === undefined && !isClosed) return !lacksExit(one) && one.watched.unprotectedSinceMs === undefined;
  const isGone = isClosed || one.watched.exitsEnded === true || held?.position.eq(zero) === true;
  const isKept = keeps && guards(one);
  const isCovered = held !== null && held !== undefined && !held.uncovered.gt(zero);
  const isCalm = isGone || (!isKept && isCovered && !lacksExit(one));
  if (!isCalm) {
    memory.calmSinceMs.delete(signalId);
    return false;
  }
  const sinceMs = Math.min(memory.calmSinceMs.get(signalId) ?? nowMs, nowMs);
  memory.calmSinceMs.set(signalId, sinceMs);
  // The list of positions may lag behind as other lists do.
  return nowMs - sinceMs >= longestLagMs;
}

/**
 * Notes since when the position of what it filled is gone. The order itself may rest, and fill on: what it fills then may have
 * exits of its own.
 *
 * @param held as for {@link isDone}
 */
function noteGone(
  one: FollowedEntry,
  { gone }: AccountMemory,
  held: Naked | null | undefined,
  nowMs: number,
): GoneFills | null {
  const { signalId } = one.entry;
  const filled = one.own?.filled ?? '0';
  if (!one.held.gt(zero) || held?.position.eq(zero) !== true) {
    gone.delete(signalId);
    return null;
  }
  const before = gone.get(signalId);
  const noted =
    before !== undefined && before.filled === filled && before.sinceMs <= nowMs
      ? before
      : { filled, sinceMs: nowMs, isTold: false };
  gone.set(signalId, noted);
  return noted;
}

/** By then the lists show what became of exits. They lag by seconds mostly; the alarm must come before the price has moved far. */
const unseenAfterMs = 5 * 60_000;

/**
 * Whether nothing has ever shown an exit that it asked for: the exchange has made none, or hides it. Not where a rehearsal has
 * found out that the open orders show it, or that there is none.
 */
async function mayHaveLeft(
  facts: Pick<AccountFacts, 'read'>,
  one: FollowedEntry,
  keepers: Keepers,
  { hidesExits }: AccountMemory,
): Promise<boolean> {
  const { entry, watched, held } = one;
  if (one.isSpot || watched.exitsEnded === true || !held.gt(zero)) return false;
  // What sold at market at once, and what waits for a price in favour, took the place of nothing.
  const resting = (keepers.get(entry.signalId) ?? []).filter(
    (keeper) => !isMarketOrder(keeper.signal.orderType) && !waitsForGain(keeper),
  );
  const kept = resting.map((keeper) => roleOf(keeper.entry));
  // Where exits of others are hidden, that the relay has placed one of its own does not say that there was none.
  const isProof = !hidesExits.has(one.market);
  const unseen = one.wanted.filter(({ role }) => !isSeen(one, role) && !(isProof && kept.includes(role)));
  if (unseen.length === 0) return false;
  return !(await showsExits(facts, entry.account, one.market));
}

/** Whether there was such an exit, or one of each fill. Nothing tells the amount of one that the list of positions alone shows. */
function isSeen(one: FollowedEntry, role: ExitRole): boolean {
  const exits = one.exits(role);
  if (exits.length === 0) return one.attached?.seen.includes(role) === true;
  const ofParts = exits.flatMap(({ amount }) => (amount === undefined ? [] : parseDecimal(amount)));
  return ofParts.length < exits.length || sumOf(ofParts).gte(one.own?.filled ?? '0');
}

function finish(one: FollowedEntry, memory: AccountMemory): void {
  one.watched = calm(one);
  memory.calmSinceMs.delete(one.entry.signalId);
  memory.gone.delete(one.entry.signalId);
}
