import { listRecent, readPosition } from '../../account/read-position.ts';
import { type Decimal, formatDecimal, parseDecimal, zero } from '../../base/decimal.ts';
import { toJson } from '../../base/json.ts';
import type { ExchangeClient, SendOptions } from '../../exchange/client.ts';
import { listOpenOrders } from '../../exchange/list-open-orders.ts';
import type { SignalEntry } from '../../ledger/entry.ts';
import { listRecords, type OrderRecord } from '../../ledger/order-record.ts';
import { denyUnkept } from '../../limits/check-kept.ts';
import { type Account, findRehearsalReason } from '../../model/account.ts';
import { openingSideOf } from '../../model/holdings.ts';
import type { Side } from '../../model/order.ts';
import type { Denial } from '../../model/outcome.ts';
import type { ExitRole, PriceOrDistance, ProtectPositionSignal } from '../../model/signal.ts';
import type { PositionWish } from '../../model/step-facts.ts';
import { type Guard, guardPosition } from '../../protection/guards.ts';
import { type GuardedPosition, shareOut } from '../../protection/shares.ts';
import { namesOfWish, pricedFrom } from '../../protection/wanted.ts';
import {
  asksFor,
  holdsFor,
  parseSight,
  parseWishes,
  sightFactOf,
  wishFactOf,
  withWish,
} from '../../protection/wishes.ts';
import { checkExitPrices } from '../../signals/size-checks.ts';
import { deny, type Plan } from '../execute/action.ts';
import { readLastPrice } from '../execute/judge-trigger.ts';
import { checkPositions } from '../position/check-positions.ts';
import { denyTaken, readMarketOwner } from '../position/claim-market.ts';
import type { ExecuteServices } from '../services.ts';
import { askProtection, needOf, needOfWish, type ProtectionNeed } from './ask-protection.ts';
import { noteAskedPlace } from './asked-places.ts';
import { openUnread } from './read-ground.ts';
import { readTaken } from './taken-stops.ts';

/** A stored signal about the protection of a whole position. */
export type WishEntry = SignalEntry & { readonly signal: ProtectPositionSignal };

/**
 * Notes what protects a position from now on, and asks for its orders. Nothing is sent by this signal itself.
 *
 * @throws ExchangeError when the exchange cannot be read; RelayError `store_unavailable`
 */
export async function planWish(services: ExecuteServices, account: Account, entry: WishEntry): Promise<Plan> {
  const { signal, signalId } = entry;
  const { positionSide, trailing, strategy } = signal;
  const ground = await checkPositions(services, account, signal);
  if (!ground.ok) return ground.plan;
  const { market, client } = ground;
  if (account.protection !== 'keep') return { verdict: 'denied', denial: denyUnkept(account) };
  const query = { account: account.name, market: market.name, signalId, positionSide, isOfAlert: true };
  const limits = { timeoutMs: services.exchangeTimeoutMs / 2 };
  const reading = await readPosition(services, client, query, limits);
  if (reading.kind === 'waits') return { ...reading, verdict: 'waiting' };
  if (reading.kind === 'denied') return { verdict: 'denied', denial: reading.denial };
  const { amount, side } = reading.position;
  if (amount.eq(zero)) return denyFlat(market.name);
  const about = side === null ? signal : { ...signal, positionSide: side };
  const owner = await readMarketOwner(services, account, about);
  const opening = { ...reading.position, openedAtMs: reading.openedAtMs };
  const taken = await denyTaken(services, account, about, owner, opening);
  if (taken !== null) return { verdict: 'denied', denial: taken };
  const last = await readLastPrice(client, market.name, limits);
  if (last === null) return denyUnpriced(market.name);
  const position = { market: market.name, side, amount, openedAtMs: reading.openedAtMs };
  const begins = trailing !== undefined && signal.stopLoss === undefined;
  const stops = begins ? await listStandingStops(services, client, account, position, limits) : [];
  if (stops === null) return { ...openUnread, verdict: 'waiting' };
  const priced = pricesOf(signal, {
    entry: reading.basePrice,
    last,
    side: openingSideOf(amount),
    nearest: nearestStop(stops, openingSideOf(amount), last),
  });
  if (priced === null) return denyNoEntryPrice(market.name);
  const denial = checkWish({ ...market, ...priced, market: market.name, side: openingSideOf(amount), last });
  if (denial !== null) return { verdict: 'denied', denial };
  const wish: PositionWish = {
    signalId,
    market: market.name,
    ...(side === null ? {} : { side }),
    ...(strategy === undefined ? {} : { strategy }),
    atMs: services.clock.nowMs(),
    amount: formatDecimal(amount),
    ...(reading.openedAtMs === null ? {} : { openedAtMs: reading.openedAtMs }),
    ...priced,
    ...(trailing === undefined ? {} : { trailing, from: formatDecimal(last) }),
  };
  const rehearsal = findRehearsalReason(account.mode, services.isPaperExchange);
  if (rehearsal !== null)
    return {
      verdict: 'ended',
      outcome: {
        status: 'dry_run',
        note: `${rehearsal}: nothing was changed; this would protect the position: ${describeWish(wish)}`,
        evidence: toJson(wish),
      },
    };
  const endsTrailing = await noteWish(services, account.name, wish, position);
  return notedPlan(wish, endsTrailing ? ', and it does not follow the price any more' : '');
}

function notedPlan(wish: PositionWish, ended = ''): Plan {
  const note = `what protects the position of ${formatDecimal(parseDecimal(wish.amount))} is noted: ${describeWish(wish)}${ended}; its orders are signals of their own`;
  return {
    verdict: 'ended',
    outcome: { status: 'satisfied', note, evidence: toJson(wish), facts: { wish } },
  };
}

/**
 * The plan of a signal whose worker ended after it had noted what the alert asks for: that holds, whatever the position and the
 * rules of the account are by now. Following asks for its orders.
 *
 * @returns null when nothing of it is noted
 * @throws RelayError `store_unavailable`
 */
export async function findNotedWish(
  { facts }: Pick<ExecuteServices, 'facts'>,
  { account, signalId, signal: { market, positionSide } }: WishEntry,
): Promise<Plan | null> {
  const sides =
    positionSide === 'LONG' || positionSide === 'SHORT' ? [positionSide] : ([null, 'LONG', 'SHORT'] as const);
  for (const side of sides) {
    const wishes = parseWishes(await facts.read(account, wishFactOf({ market, side })));
    const own = wishes.find((wish) => wish.signalId === signalId);
    if (own === undefined) continue;
    await noteAskedPlace(facts, account, { market, side, atMs: own.atMs });
    return notedPlan(own);
  }
  return null;
}

/**
 * The stop-losses that stand, or are about to: without those that the owner has ended.
 *
 * @returns null while the open orders cannot be read whole
 */
async function listStandingStops(
  services: ExecuteServices,
  client: ExchangeClient,
  { name: account, stopKind }: Account,
  position: GuardedPosition,
  limits: SendOptions,
): Promise<readonly Guard[] | null> {
  const { facts, clock } = services;
  const { market } = position;
  const { entries: recent } = await listRecent(services, account, market);
  const entries = recent.filter(({ signal }) => signal?.market === market);
  const wishes = parseWishes(await facts.read(account, wishFactOf(position)));
  const sight = parseSight(await facts.read(account, sightFactOf(position)));
  const taken = await readTaken(facts, account, market);
  const { orders: open, isWhole } = await listOpenOrders(client, market, limits);
  if (!isWhole) return null;
  const view = { entries, open, nowMs: clock.nowMs(), wishes, sight, taken, stopKind };
  return guardPosition(position, view).guards.filter(
    ({ role, amount, isReleased, standing }) =>
      role === 'stop_loss' && amount.gt(zero) && !(isReleased && standing.length === 0),
  );
}

/** The one that is nearest to the price; null when the price has passed all of them. */
function nearestStop(stops: readonly Guard[], side: Side, last: Decimal): Decimal | null {
  const distance = (price: Decimal) => (side === 'buy' ? last.minus(price) : price.minus(last));
  return stops
    .flatMap(({ price }) => (price !== null && distance(price).gt(zero) ? [price] : []))
    .reduce<Decimal | null>(
      (best, price) => (best === null || distance(price).lt(distance(best)) ? price : best),
      null,
    );
}

/**
 * Noted before its outcome is: what a process has noted that dies between the two, the next one finds.
 *
 * @returns whether a stop-loss that follows the price has ended with it
 */
async function noteWish(
  services: ExecuteServices,
  account: string,
  wish: PositionWish,
  position: GuardedPosition,
): Promise<boolean> {
  const fact = wishFactOf(position);
  const before = parseWishes(await services.facts.read(account, fact));
  await services.facts.write(account, fact, toJson(withWish(before, wish)));
  await noteAskedPlace(services.facts, account, { ...position, atMs: wish.atMs });
  const { entries } = await listRecent(services, account, position.market);
  const records = listRecords(entries);
  await askProtection(services, needsAfter(account, wish, records, position));
  if (wish.stopLoss === undefined || wish.trailing !== undefined) return false;
  const earlier = before.filter((one) => one.signalId !== wish.signalId && holdsFor(one, position));
  return (
    earlier.some(({ trailing }) => trailing !== undefined) ||
    shareOut(records, position).some(
      ({ record, amount }) => amount.gt(zero) && record.asked?.trailing !== undefined,
    )
  );
}

/**
 * The exchange cancels both exits of a pair when one of them goes: the stop-loss of the pair is replaced first, and then
 * what the alert does not name of it. Following asks for whatever else does not fit.
 */
function needsAfter(
  account: string,
  wish: PositionWish,
  records: readonly OrderRecord[],
  position: GuardedPosition,
): readonly ProtectionNeed[] {
  const asked = namesOfWish(wish).map((name) => needOfWish(account, wish, name));
  const pairs = shareOut(records, position).flatMap(({ record, amount }) =>
    amount.gt(zero) && hasPair(record) ? record : [],
  );
  const ofPairs = (['stop_loss', 'take_profit'] as const)
    .filter((role) => !asksFor(wish, role))
    .flatMap((role) => pairs.map((record) => needOf(record, { of: record.signalId, role })));
  return [...ofPairs, ...asked].toSorted(stopsFirst);
}

function hasPair({ exits }: OrderRecord): boolean {
  return (['stop_loss', 'take_profit'] as const).every((role) => exits.some((exit) => exit.role === role));
}

function stopsFirst(one: ProtectionNeed, other: ProtectionNeed): number {
  return Number(one.role === 'take_profit') - Number(other.role === 'take_profit');
}

type Prices = Pick<PositionWish, 'stopLoss' | 'takeProfits'>;

interface PriceGround {
  /** The average entry price; null when the exchange does not say it. */
  readonly entry: Decimal | null;
  readonly last: Decimal;
  /** Of the orders that opened the position. */
  readonly side: Side;
  /** The nearest stop-loss that should stand before a stop-loss follows the price; null without one. */
  readonly nearest: Decimal | null;
}

/**
 * A stop-loss that follows the price begins at its distance from the last price, or nearer to it where one stands already, if
 * the alert names no other beginning.
 *
 * @returns null when a distance counts from a price that is not known
 */
function pricesOf(
  { stopLoss, takeProfits, trailing }: ProtectPositionSignal,
  { entry, last, side, nearest }: PriceGround,
): Prices | null {
  const write = (exact: Decimal | null) => exact?.round(pricePlaces).toFixed() ?? null;
  const price = (text: PriceOrDistance | 'entry', role: ExitRole): string | null =>
    write(text === 'entry' ? entry : pricedFrom(text, entry, role, side));
  const begin = trailing === undefined ? null : pricedFrom(trailing, last, 'stop_loss', side);
  const isNearer = nearest !== null && begin !== null && nearest.gt(begin) === (side === 'buy');
  const first = begin === null ? undefined : write(isNearer ? nearest : begin);
  const stop = stopLoss === undefined ? first : price(stopLoss, 'stop_loss');
  const targets = takeProfits?.map((part) => ({ ...part, price: price(part.price, 'take_profit') }));
  if (stop === null) return null;
  const known = targets?.flatMap(({ price: exact, share }) =>
    exact === null ? [] : [{ price: exact, share }],
  );
  if (known?.length !== targets?.length) return null;
  return {
    ...(stop === undefined ? {} : { stopLoss: stop }),
    ...(known === undefined ? {} : { takeProfits: known }),
  };
}

/** Enough for every price; an average has no end. */
const pricePlaces = 8;

function denyFlat(market: string): Plan {
  return deny(
    'no_position',
    'an open position',
    'flat',
    `there is no open position in ${market} to protect; nothing was changed`,
  );
}

function denyUnpriced(market: string): Plan {
  return deny(
    'no_last_price',
    'a last price',
    'none',
    `the exchange reports no last price of ${market}, so nobody knows whether the stop-loss would close the position at once; nothing was changed. Send it again`,
  );
}

function denyNoEntryPrice(market: string): Plan {
  return deny(
    'no_entry_price',
    'an average entry price',
    'none',
    `the exchange does not say the average entry price of the position in ${market}, which a distance and "entry" count from; write prices`,
  );
}

function describeWish({ stopLoss, trailing, takeProfits = [] }: PositionWish): string {
  return [
    ...(stopLoss === undefined ? [] : [`stop-loss at ${formatDecimal(parseDecimal(stopLoss))}`]),
    ...(trailing === undefined
      ? []
      : [`${stopLoss === undefined ? 'stop-loss' : 'which follows'} ${trailing} behind the best price`]),
    ...takeProfits.map(({ price, share }) => `take-profit at ${price} for ${share}`),
  ].join(', ');
}

/** The prices that an alert asked for, and what they are compared with. */
interface WishPrices extends Pick<PositionWish, 'stopLoss' | 'takeProfits'> {
  /** Of the orders that opened the position. */
  readonly side: Side;
  readonly last: Decimal;
  readonly market: string;
  readonly quote: string;
}

/**
 * Denies a stop-loss that would close the position at once, and a take-profit that would: they are most likely meant for the
 * other side, or too late.
 */
function checkWish(wish: WishPrices): Denial | null {
  const { stopLoss, takeProfits = [], side, last, market } = wish;
  const tooFar = checkExitPrices(wish, last, wish, 'last price');
  if (tooFar !== null) return tooFar;
  const price = formatDecimal(last);
  const isLong = side === 'buy';
  if (stopLoss !== undefined && isLong !== parseDecimal(stopLoss).lt(last))
    return {
      rule: 'stop_loss_passed',
      limit: `${isLong ? 'below' : 'above'} ${price}`,
      actual: stopLoss,
      message: `the last price of ${market} is ${price}, and has passed the stop-loss of ${stopLoss}: it would close the position at once; nothing was changed. ${adviseOn(market)}`,
    };
  const reached = takeProfits.find((part) => isLong !== parseDecimal(part.price).gt(last));
  if (reached === undefined) return null;
  return {
    rule: 'take_profit_reached',
    limit: `${isLong ? 'above' : 'below'} ${price}`,
    actual: reached.price,
    message: `the last price of ${market} is ${price}, and has reached the take-profit of ${reached.price}: it would close ${reached.share} of the position at once; nothing was changed. ${adviseOn(market)}`,
  };
}

function adviseOn(market: string): string {
  return `Correct it, or close the position: "action": "close", or \`npx relay close ${market}\``;
}
