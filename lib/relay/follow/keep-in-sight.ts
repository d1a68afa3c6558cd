import { hasPassed } from '../../base/clock.ts';
import { formatDecimal, parseDecimal, zero } from '../../base/decimal.ts';
import { type Executions, mostFollowed } from '../../ledger/executions.ts';
import { type Ledger, mostBelieved } from '../../ledger/ledger.ts';
import { listRecords, type OrderRecord, orderRecordOf } from '../../ledger/order-record.ts';
import type { OrderExecution } from '../../model/execution.ts';
import type { PositionPlace } from '../../model/holdings.ts';
import { mayBeOneStrategy } from '../../model/one-strategy.ts';
import { isMarkedReducing, oppositeOf, type Side, sides } from '../../model/order.ts';
import { orderNamedBy } from '../../model/protect-id.ts';
import { isProtecting, type OrderSignal } from '../../model/signal.ts';
import { type FilledBefore, type SoldPart, soldOfBuys } from '../../protection/spot-lots.ts';
import { answerableMs, endsCredit } from '../../protection/stop-sales.ts';
import { asksForExits, guards } from './follow-protection.ts';
import type { FollowedEntry } from './followed-entry.ts';

interface UnfollowedServices {
  readonly ledger: Pick<Ledger, 'openOrders'>;
  readonly executions: Pick<Executions, 'followed'>;
}

/**
 * The orders with exits of a market that are sent, and not among the followed ones: what these were is not known yet, or has just
 * become known. What ends before they are followed may have been about them.
 *
 * @param followed with the markets that are looked at: those where an order ends that has filled
 * @throws RelayError `store_unavailable`
 */
export async function findUnfollowed(
  { ledger, executions }: UnfollowedServices,
  account: string,
  followed: readonly FollowedEntry[],
): Promise<readonly OrderRecord[]> {
  const known = new Set(followed.map(({ entry }) => entry.signalId));
  const ending = followed.filter(({ isDone, own }) => isDone && hasFilled(own));
  const markets = new Set(ending.map(({ market }) => market));
  if (markets.size === 0) return [];
  const open = await Promise.all([...markets].map((one) => ledger.openOrders(account, one, mostBelieved)));
  // One that turned out to be filled is open no more: by then it is followed.
  const since = await executions.followed(account, mostFollowed);
  return listRecords([...open.flat(), ...since]).filter(
    ({ signalId, market, exits }) => markets.has(market) && exits.length > 0 && !known.has(signalId),
  );
}

/**
 * Keeps the sales on spot in sight for as long as their market has a buy with a stop-loss of which a part is held, or may be, and
 * which may be of their strategy: no position tells there what is left of it.
 *
 * What a sale sold of a buy that ends is noted beside the sale. Without that it would count against the next buy, once the first
 * one is not read any more. What it sold of a buy that was open is noted, too: what that fills later does not belong to the sale.
 */
export function keepSpotSales(
  followed: readonly FollowedEntry[],
  unfollowed: readonly OrderRecord[],
  nowMs: number,
): void {
  const spot = followed.filter(({ isSpot }) => isSpot);
  const ending = new Set(spot.filter(({ isDone }) => isDone).map(({ entry }) => entry.signalId));
  const held = spot.filter((one) => guards(one) && !one.isDone);
  keepStops(spot, held, nowMs);
  const bought = unfollowed.filter(({ spot, asked }) => spot !== null && asked?.side === 'buy');
  const buys = [
    ...held.map(({ market, signal: { strategy } }) => ({ market, strategy })),
    ...bought.map(({ market, strategy }) => ({ market, strategy })),
  ];
  const markets = new Set(buys.map(({ market }) => market));
  if (markets.size === 0) return;
  const left = new Set(held.map(({ entry }) => entry.signalId));
  const bySignal = new Map(spot.map((one) => [one.entry.signalId, one]));
  const filledBefore: FilledBefore = (buy, sale, atMs) =>
    bySignal.get(buy.signalId)?.filledBefore(bySignal.get(sale.signalId), atMs) ?? zero;
  const records = listRecords(spot.map((one) => one.currentAt(nowMs))).map((record) => ({
    ...record,
    isFollowed: true,
  }));
  for (const market of markets) {
    const sold = soldOfBuys(records, market, filledBefore);
    for (const one of spot) {
      if (one.market !== market || !one.isSpotSale) continue;
      const noted = partsToNote(one, sold.get(one.entry.signalId)).filter(
        ([buy, { wasOpen }]) =>
          ending.has(buy) || one.soldOf[buy] !== undefined || (wasOpen && one.areOrdersWhole),
      );
      one.soldOf = Object.fromEntries(noted.map(([buy, { amount }]) => [buy, formatDecimal(amount)]));
      const rest = noted.reduce(
        (sum, [buy, { amount }]) => (left.has(buy) ? sum : sum.minus(amount)),
        parseDecimal(one.own?.filled ?? '0'),
      );
      const ofOne = buys.filter((buy) => mayBeOneStrategy(buy.strategy, one.signal.strategy));
      if (rest.gt(zero) && ofOne.some((buy) => buy.market === market)) one.isDone = false;
    }
  }
}

/** What a sale sold of buys. Of a stop-loss nothing is noted, unless it sold of others than its own. */
function partsToNote(
  { entry: { signal } }: FollowedEntry,
  sold: ReadonlyMap<string, SoldPart> = new Map(),
): readonly (readonly [string, SoldPart])[] {
  if (!isProtecting(signal)) return [...sold];
  const ofOthers = [...sold].filter(([buy]) => buy !== signal.of);
  const ofOwn = sold.get(signal.of)?.amount ?? zero;
  return ofOthers.length === 0 ? [] : [[signal.of, { amount: ofOwn, wasOpen: true }], ...ofOthers];
}

/** Keeps in sight what stop-losses sold for as long as it counts as sold by a later sale. */
function keepStops(spot: readonly FollowedEntry[], held: readonly FollowedEntry[], nowMs: number): void {
  const buys = spot
    .filter(({ signal, own }) => signal.side === 'buy' && hasFilled(own))
    .flatMap(({ entry }) => orderRecordOf(entry) ?? []);
  for (const stop of spot) {
    const { entry, market, own } = stop;
    const endedAtMs = own?.endedAtMs ?? null;
    const isStop = entry.signal?.action === 'protect' || orderNamedBy(entry.signalId) !== null;
    if (!isStop || !hasFilled(own)) continue;
    const later = buys.filter((buy) => buy.market === market);
    if (later.some((buy) => endsCredit(buy, entry.signal?.strategy, endedAtMs))) continue;
    const isBeside = held.some(
      (one) => one.market === market && one.entry.createdAtMs < (endedAtMs ?? Number.MAX_SAFE_INTEGER),
    );
    if (isBeside || !hasPassed(endedAtMs ?? nowMs, answerableMs, nowMs)) stop.isDone = false;
  }
}

function hasFilled(own: OrderExecution | null): boolean {
  return parseDecimal(own?.filled ?? '0').gt(zero);
}

/**
 * Keeps an order without exits that opened a part of a position in sight for as long as another part is protected, or an alert has
 * asked for that. Once it was not read any more, its part would count as one of the older orders, or as what the alert was about,
 * and stop-losses and take-profits would grow to it.
 *
 * @param places of the positions that alerts asked to protect
 */
export function keepOpeners(
  followed: readonly FollowedEntry[],
  unfollowed: readonly OrderRecord[],
  places: readonly PositionPlace[],
): void {
  const going = followed.filter(({ isSpot, isDone }) => !isSpot && !isDone);
  const protectedPlaces = new Set(
    going.flatMap((one) => {
      if (isProtective(one)) return placeOf(one, oppositeOf(one.signal.side));
      return guards(one) ? placeOf(one, one.signal.side) : [];
    }),
  );
  for (const { market, side } of places)
    for (const opening of sides)
      protectedPlaces.add(placeOf({ market, signal: { positionSide: side ?? 'BOTH' } }, opening));
  for (const { market, spot, asked } of unfollowed)
    if (spot === null && asked !== null) protectedPlaces.add(placeOf({ market, signal: asked }, asked.side));
  for (const one of followed) {
    if (one.isSpot || isProtective(one) || isMarkedReducing(one.signal) || asksForExits(one)) continue;
    if (one.held.gt(zero) && protectedPlaces.has(placeOf(one, one.signal.side))) one.isDone = false;
  }
}

function isProtective({ entry }: FollowedEntry): boolean {
  return entry.signal?.action === 'protect';
}

/** The market, and the side of the orders that open its position. */
function placeOf(
  {
    market,
    signal: { positionSide = 'BOTH' },
  }: Pick<FollowedEntry, 'market'> & { readonly signal: Pick<OrderSignal, 'positionSide'> },
  side: Side,
): string {
  return `${market} ${positionSide} ${side}`;
}
