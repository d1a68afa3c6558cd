import { type DatedPosition, entriesOfSide, findLastMoves, isTrusted } from '../../account/trust-reading.ts';
import { type Clock, hasPassed } from '../../base/clock.ts';
import { type Decimal, formatDecimal, parseDecimal, sumOf, zero } from '../../base/decimal.ts';
import type { Positions } from '../../exchange/list-positions.ts';
import { type HiddenMarkets, mayHide } from '../../exchange/listed.ts';
import type { AccountFacts } from '../../ledger/account-facts.ts';
import type { Entry } from '../../ledger/entry.ts';
import { type Ledger, type LedgerEntrance, mostBelieved } from '../../ledger/ledger.ts';
import { listRecords, type OrderRecord } from '../../ledger/order-record.ts';
import type { Account } from '../../model/account.ts';
import { type PositionPlace, placeOf, positionAt, type SpotBalance } from '../../model/holdings.ts';
import { currenciesInName } from '../../model/market.ts';
import type { Order } from '../../model/order.ts';
import type { PositionWish } from '../../model/step-facts.ts';
import type { Guard, GuardView, PositionGuards } from '../../protection/guards.ts';
import { type GuardVerdict, judgeGuard } from '../../protection/judge-guard.ts';
import { areSoldOut } from '../../protection/left-of.ts';
import { type GuardedPosition, shareOut } from '../../protection/shares.ts';
import { isGuardedBuy, isSpotStop } from '../../protection/spot-lots.ts';
import { trailPrices } from '../../protection/trailing.ts';
import { describeGuard, releasedGuards, type WantedGuard, type WantedView } from '../../protection/wanted.ts';
import {
  describeSight,
  type ProtectionSight,
  parseSight,
  parseWishes,
  sightFactOf,
  wishFactOf,
} from '../../protection/wishes.ts';
import { askProtection, needOf, needOfWish, type ProtectionNeed } from './ask-protection.ts';
import type { AskedPlace } from './asked-places.ts';
import { guardRehearsed } from './guard-rehearsed.ts';
import { noteGrowth } from './note-growth.ts';
import { heldIn, spotPosition } from './read-ground.ts';
import { readTaken } from './taken-stops.ts';
import { isBalanceTrusted } from './trust-balance.ts';

/** The lists of an account as following has read them, the positions last. */
export interface KeptReading {
  /** The followed entries, with what this reading has told of them, oldest first. */
  readonly entries: readonly Entry[];
  readonly open: readonly Order[];
  readonly hiddenOpen: HiddenMarkets;
  readonly positions: Positions;
  /** Where alerts asked to protect a position, whoever opened it. */
  readonly places: readonly AskedPlace[];
  /** The balances for spot trading; null when none was needed, or when they could not be read. */
  readonly balances: Readonly<Record<string, SpotBalance>> | null;
  /** When the reading of the positions began. */
  readonly readAtMs: number;
}

/** What was asked for, and how often; of one account, in one process. */
export class AskedActs {
  readonly #asked = new Map<
    string,
    { readonly sign: string; readonly atMs: number; readonly times: number }
  >();

  /** Whether this must be asked for: for the first time, or again after a while in which nothing has changed. */
  isDue(name: string, sign: string, nowMs: number): boolean {
    const last = this.#asked.get(name);
    const times = last?.sign === sign ? last.times : 0;
    if (last !== undefined && times > 0 && !hasPassed(last.atMs, pauseAfter(times), nowMs)) return false;
    this.#asked.set(name, { sign, atMs: nowMs, times: times + 1 });
    return true;
  }

  /** How often it was asked for, with nothing that changed in between. */
  timesOf(name: string): number {
    return this.#asked.get(name)?.times ?? 0;
  }

  keepOnly(names: ReadonlySet<string>): void {
    for (const name of this.#asked.keys()) if (!names.has(name)) this.#asked.delete(name);
  }
}

const firstPauseMs = 10_000;
const longestPauseMs = 10 * 60_000;

function pauseAfter(times: number): number {
  return Math.min(firstPauseMs * 2 ** (times - 1), longestPauseMs);
}

/** Nothing is rounded here: the rules of the market are known where the order is planned. */
const anySteps = { amountStep: parseDecimal('0.00000001'), minAmount: zero };

/** What keeping the protection of an account needs. */
export interface KeepServices {
  readonly entrance: Pick<LedgerEntrance, 'accept'>;
  readonly facts: AccountFacts;
  readonly clock: Clock;
  readonly ledger: Pick<Ledger, 'readPause' | 'openOrders'>;
}

/** What of a position has no stop-loss, since the one that an alert asked for was ended by another than the relay. */
export interface Unstopped {
  readonly position: GuardedPosition;
  readonly guard: WantedGuard;
  readonly wish: PositionWish;
  /** In base units. */
  readonly amount: Decimal;
}

/** What keeping the protection of an account has found. */
export interface Kept {
  readonly unstopped: readonly Unstopped[];
  /** Whether every position could be looked at. */
  readonly areAllKnown: boolean;
}

/**
 * Compares what protects each position with what should, and asks for an act where it does not fit. The act itself looks at
 * everything once more: it is carried out in the line of its market.
 *
 * @param readPrice the last price of a market, read only where a stop-loss follows it; null when it cannot be read
 * @throws RelayError `store_unavailable`
 */
export async function keepProtection(
  services: KeepServices,
  { name: account, stopKind }: Pick<Account, 'name' | 'stopKind'>,
  reading: KeptReading,
  asked: AskedActs,
  readPrice: (market: string) => Promise<Decimal | null>,
): Promise<Kept> {
  const nowMs = services.clock.nowMs();
  const names = new Set<string>();
  const needs: ProtectionNeed[] = [];
  const unstopped: Unstopped[] = [];
  const records = listRecords(reading.entries);
  const onSpot = await spotPositionsOf(services, account, reading, records);
  let pause: string | null = null;
  let areAllKnown = true;
  for (const { position, taken } of [...positionsOf(reading, records).map(neverTaken), ...onSpot]) {
    if (!isKnown(position, reading)) {
      areAllKnown = false;
      continue;
    }
    const { entries, open } = inMarket(reading, position.market);
    const wishes = parseWishes(await services.facts.read(account, wishFactOf(position)));
    const before = parseSight(await services.facts.read(account, sightFactOf(position)));
    const ofMarket = { position, wishes, records: listRecords(entries), open };
    const trailed = await trailPrices(ofMarket, before, readPrice);
    const seen = await noteGrowth(services, account, ofMarket, reading, trailed);
    const view = { entries, open, nowMs, wishes, sight: seen, taken, stopKind };
    const { guards, byHand } = await guardKnown(services.facts, account, position, view);
    const sight = withReleased(seen, wishes, guards);
    unstopped.push(...findUnstopped(position, { ...ofMarket, sight }, byHand));
    if (JSON.stringify(describeSight(sight)) !== JSON.stringify(describeSight(before)))
      await services.facts.write(account, sightFactOf(position), describeSight(sight));
    let unknown: string | null = null;
    for (const guard of guards) {
      const verdict = judgeGuard(guard, anySteps);
      const name = describeGuard(guard);
      if (verdict.kind === 'fits') continue;
      names.add(name);
      // What a pause or an unknown outcome has stopped is asked for again as soon as it has ended.
      pause ??= await describePause(services, account);
      unknown ??= await describeUnknown(services, account, position.market);
      if (!asked.isDue(name, `${pause} ${unknown} ${describeVerdict(guard, verdict)}`, nowMs)) continue;
      const wish = wishes.find(({ signalId }) => signalId === guard.of);
      // Of an entry that is done, only its order is left.
      const record = guard.record ?? orderOfGuard(entries, guard);
      if (wish !== undefined) needs.push(needOfWish(account, wish, guard));
      else if (record !== null) needs.push(needOf(record, guard));
    }
  }
  // Right after an act the lists may not show it: what was asked for then counts on, so that it is not tried at full speed.
  if (areAllKnown) asked.keepOnly(names);
  await askProtection(services, needs);
  return { unstopped, areAllKnown };
}

/** What entries lack that asked for a stop-loss themselves is told of those. */
function findUnstopped(position: GuardedPosition, view: WantedView, byHand: Decimal): readonly Unstopped[] {
  const released = releasedGuards(position, view);
  if (released.length === 0) return [];
  const ofEntries = shareOut(view.records, position)
    .filter(({ record }) => record.unprotectedSinceMs !== null)
    .map(({ amount }) => amount);
  return released.flatMap((guard) => {
    const wish = view.wishes.find(({ signalId }) => signalId === guard.of);
    const amount = guard.amount.minus(byHand).minus(sumOf(ofEntries));
    const isBare = guard.role === 'stop_loss' && amount.gt(zero);
    return isBare && wish !== undefined ? [{ position, guard, wish, amount }] : [];
  });
}

/** An order that the relay has placed for a guard; null without one. */
function orderOfGuard(entries: readonly Entry[], guard: Guard): OrderRecord | null {
  const name = describeGuard(guard);
  return (
    listRecords(entries).find(({ protects }) => protects !== null && describeGuard(protects) === name) ?? null
  );
}

/** What the relay itself has cancelled is read only where something seems to have been ended by hand. */
async function guardKnown(
  facts: AccountFacts,
  account: string,
  position: GuardedPosition,
  view: GuardView,
): Promise<PositionGuards> {
  const first = await guardRehearsed(facts, account, position, view);
  const isByHand = first.guards.some(({ isReleased, isCut }) => isReleased || isCut);
  if (position.isSpot === true || !isByHand) return first;
  const taken = await readTaken(facts, account, position.market);
  return await guardRehearsed(facts, account, position, { ...view, taken });
}

/** What a wish placed and the owner has ended by hand; of an entry, its own record tells it. */
function withReleased(
  sight: ProtectionSight,
  wishes: readonly PositionWish[],
  guards: readonly Guard[],
): ProtectionSight {
  const known = (name: string) => wishes.some(({ signalId }) => name.startsWith(`${signalId} `));
  const released = guards
    .filter(({ record, amount }) => record === null && amount.gt(zero))
    .filter(({ isReleased, standing }) => isReleased && standing.length === 0)
    .map(describeGuard);
  return { ...sight, released: new Set([...sight.released, ...released].filter(known)) };
}

async function describePause({ ledger }: KeepServices, account: string): Promise<string> {
  const pause = await ledger.readPause(account);
  return pause === null ? 'running' : `${pause.kind} since ${pause.sinceMs}`;
}

/** The orders of the market whose outcome is unknown: an act may wait for them. */
async function describeUnknown({ ledger }: KeepServices, account: string, market: string): Promise<string> {
  const open = await ledger.openOrders(account, market, mostBelieved);
  return open.flatMap(({ status, signalId }) => (status === 'unknown' ? [signalId] : [])).join(' ');
}

function describeVerdict({ standing, amount, price }: Guard, { kind }: GuardVerdict): string {
  return [kind, formatDecimal(amount), price?.toFixed(), ...standing.map(({ orderId }) => orderId)].join(' ');
}

/**
 * The positions that followed orders opened, or may have opened, and those that alerts asked to protect; of one that is gone,
 * its absence.
 */
export function positionsOf(
  { positions, places: asked }: Pick<KeptReading, 'positions' | 'places'>,
  records: readonly OrderRecord[],
): readonly GuardedPosition[] {
  const places = new Map<string, PositionPlace>(asked.map((one) => [`${one.market} ${one.side}`, one]));
  for (const record of records) {
    const place = placeOf(record);
    if (record.spot === null) places.set(`${place.market} ${place.side}`, place);
  }
  return [...places.values()].map(({ market, side }) => {
    const held = positionAt(positions.positions, { market, side });
    const { amount = zero, openedAtMs = null, tpsl = null } = held ?? {};
    return { market, side, amount, openedAtMs, tpsl };
  });
}

interface PlacedPosition {
  readonly position: GuardedPosition;
  /** The ids of stop-losses that the relay has cancelled itself. */
  readonly taken: ReadonlySet<number>;
}

function neverTaken(position: GuardedPosition): PlacedPosition {
  return { position, taken: new Set() };
}

export function inMarket({ entries, open }: Pick<KeptReading, 'entries' | 'open'>, name: string) {
  return {
    entries: entries.filter(({ signal }) => signal?.market === name),
    open: open.filter(({ market }) => market === name),
  };
}

/**
 * What of the spot balance can be protected, in each market where a followed buy asked for a stop-loss, or where the stop-loss
 * of one may have been left.
 */
async function spotPositionsOf(
  { facts }: KeepServices,
  account: string,
  reading: KeptReading,
  records: readonly OrderRecord[],
): Promise<readonly PlacedPosition[]> {
  const { balances } = reading;
  if (balances === null) return [];
  const markets = new Set(
    records.filter((record) => isGuardedBuy(record) || isSpotStop(record)).map(({ market }) => market),
  );
  const read = await Promise.all(
    [...markets].map(async (market) => ({ market, taken: await readTaken(facts, account, market) })),
  );
  return read.map(({ market, taken }) => {
    const { base } = currenciesInName(market);
    const ofBase = read.filter((one) => currenciesInName(one.market).base === base);
    const held = new Map(
      ofBase.map((one) => [
        one.market,
        heldIn(one.market, { ...inMarket(reading, one.market), taken: one.taken }),
      ]),
    );
    const balance = balances[base] ?? { available: zero, freeze: zero };
    return { position: spotPosition(market, balance, held, records), taken };
  });
}

/** Whether the lists show all that the relay's own last orders have done in the market. */
export function isKnown(
  { market, side, amount, isSpot }: GuardedPosition,
  { entries, positions, hiddenOpen, readAtMs }: KeptReading,
): boolean {
  if (isSpot === true) {
    return !mayHide(hiddenOpen, market) && isBalanceTrusted(amount, entries, market, readAtMs);
  }
  if (mayHide(positions.hidden, market) || mayHide(hiddenOpen, market)) return false;
  const held = positionAt(positions.positions, { market, side });
  const dated: DatedPosition = {
    position: { amount, side },
    readAtMs,
    modifiedAtMs: held?.modifiedAtMs ?? null,
  };
  const ofMarket = positions.positions.filter((one) => one.market === market);
  const own = entriesOfSide(entries, side, ofMarket);
  if (amount.eq(zero) && areSoldOut(own, market)) return true;
  return findLastMoves(own, market).every((move) => isTrusted(dated, move));
}
