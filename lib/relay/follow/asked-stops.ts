import { type Decimal, formatDecimal, parseDecimal, zero } from '../../base/decimal.ts';
import { decimalIn } from '../../base/json.ts';
import type { AccountFacts } from '../../ledger/account-facts.ts';
import { orderRecordOf, sentOrCreatedAtMs } from '../../ledger/order-record.ts';
import { isStillOpen, type OrderExecution } from '../../model/execution.ts';
import { openingSideOf, type PositionPlace, placeOf } from '../../model/holdings.ts';
import { hasOtherTrigger, isMarkedReducing, type Side } from '../../model/order.ts';
import { isProtecting } from '../../model/signal.ts';
import type { PositionWish } from '../../model/step-facts.ts';
import { trailed } from '../../protection/wanted.ts';
import { asksFor, parseSight, parseWishes, sightFactOf, wishFactOf } from '../../protection/wishes.ts';
import type { FollowedEntry } from './followed-entry.ts';
import { heldOf, type Keepers, unfilledOf } from './uncovered.ts';

/** The open stop-losses that a `protect` asked for: they take the place of those of the entries before it. */
interface AskedStops extends PositionPlace {
  /** Of the orders that opened the position. */
  readonly opens: Side;
  readonly atMs: number;
  /** How much they would still stop out, in base units. */
  readonly amount: Decimal;
}

/**
 * Finds the entries whose stop-loss was replaced by one that a `protect` asked for.
 *
 * @returns whether an entry is older than such a `protect`, and its open stop-losses are enough for all entries that are
 * @throws RelayError `store_unavailable`
 */
export async function findAskedStops(
  facts: AccountFacts,
  account: string,
  followed: readonly FollowedEntry[],
  keepers: Keepers,
): Promise<(one: FollowedEntry) => boolean> {
  const asked = await listAskedStops(facts, account, followed, keepers);
  const enough = asked.filter((stops) => areEnough(stops, followed, keepers));
  return (one) => enough.some((stops) => isBefore(one, stops));
}

/** Reads what was asked for only where a stop-loss stands that no followed entry asked for. */
async function listAskedStops(
  facts: AccountFacts,
  account: string,
  followed: readonly FollowedEntry[],
  keepers: Keepers,
): Promise<readonly AskedStops[]> {
  const entries = new Set(followed.map(({ entry }) => entry.signalId));
  const kept = [...keepers].flatMap(([of, orders]) => (of === '' || entries.has(of) ? [] : orders));
  const places = new Map(kept.map((one) => [wishFactOf(placeOf(one.signal)), placeOf(one.signal)]));
  const ofPlaces = [...places].map(async ([fact, place]) => {
    const wishes = parseWishes(await facts.read(account, fact));
    return wishes.map((wish): AskedStops => {
      const stops = keepers.get(wish.signalId) ?? [];
      const amount = stops.reduce((sum, one) => sum.plus(restOfStop(one)), zero);
      return { ...place, ...aboutOf(wish), amount };
    });
  });
  return (await Promise.all(ofPlaces)).flat().filter(({ amount }) => amount.gt(zero));
}

/**
 * Where the stop-loss of an entry should be: that of the latest `protect` since, or its own. One that follows the price is where
 * the best price has brought it by now.
 *
 * @param own the price of its own, before that follows the price
 * @throws RelayError `store_unavailable`
 */
export async function readAskedPrice(
  facts: AccountFacts,
  account: string,
  one: FollowedEntry,
  own: Decimal,
): Promise<Decimal> {
  const place = placeOf(one.signal);
  const wishes = parseWishes(await facts.read(account, wishFactOf(place)));
  const last = wishes.findLast(
    (wish) => asksFor(wish, 'stop_loss') && isBefore(one, { ...place, ...aboutOf(wish) }),
  );
  const { signalId, trailing } = last ?? { signalId: one.entry.signalId, trailing: one.signal.trailing };
  const planned = last === undefined ? own : decimalIn(last.stopLoss);
  const { best } = parseSight(await facts.read(account, sightFactOf(place)));
  const from = best.get(signalId) ?? decimalIn(last?.from) ?? undefined;
  return trailed(planned, { trailing, best: from, side: one.signal.side }).price ?? own;
}

function aboutOf({ amount, atMs }: PositionWish): Pick<AskedStops, 'opens' | 'atMs'> {
  return { opens: openingSideOf(parseDecimal(amount)), atMs };
}

/**
 * Null for an order that is not a stop-loss of the relay, has ended, or waits for the price to move in favour. Its amount is known
 * from its record.
 */
export function openStopOf({ entry, own }: FollowedEntry): OrderExecution | null {
  const { signal } = entry;
  const isStop = isProtecting(signal) && signal.role === 'stop_loss';
  if (!isStop || own === null || !isStillOpen(own.status) || waitsForGain({ entry })) return null;
  const amount = orderRecordOf(entry)?.amount ?? null;
  return amount === null ? own : { ...own, amount: formatDecimal(amount) };
}

/** Whether the price had passed a stop-loss by the time it reached the exchange: then it waits for the price to come back. */
export function waitsForGain({ entry }: Pick<FollowedEntry, 'entry'>): boolean {
  const reported = orderRecordOf(entry)?.reported ?? null;
  return reported !== null && hasOtherTrigger(reported);
}

/** What an open stop-loss would still stop out, in base units; zero for any other order. */
function restOfStop(one: FollowedEntry): Decimal {
  const stop = openStopOf(one);
  return stop === null ? zero : unfilledOf(stop);
}

/** A newer entry has a stop-loss of its own. */
function isBefore(one: FollowedEntry, { market, side, opens, atMs }: Omit<AskedStops, 'amount'>): boolean {
  const place = placeOf(one.signal);
  const isOfPosition = place.market === market && place.side === side && one.signal.side === opens;
  if (!isOfPosition || isMarkedReducing(one.signal)) return false;
  const record = orderRecordOf(one.entry);
  return record !== null && sentOrCreatedAtMs(record) <= atMs;
}

function areEnough(asked: AskedStops, followed: readonly FollowedEntry[], keepers: Keepers): boolean {
  const entries = followed.filter((one) => isBefore(one, asked));
  const held = entries.reduce((sum, one) => sum.plus(heldOf(one, keepers)), zero);
  return held.lte(asked.amount);
}
