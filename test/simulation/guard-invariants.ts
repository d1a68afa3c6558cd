import type { AlarmName } from '../../lib/base/alarms.ts';
import { type Decimal, formatDecimal, parseDecimal, zero } from '../../lib/base/decimal.ts';
import { replacedIn } from '../../lib/ledger/cancel-reports.ts';
import type { Entry } from '../../lib/ledger/entry.ts';
import type { PaperOrder } from '../../lib/paper/engine/exchange-state.ts';
import {
  listPlaces,
  sentAtMs,
  shareNewestFirst,
  type TrueExit,
  type TruePlace,
  type TrueSource,
} from './guarded-positions.ts';
import { keyText } from './history.ts';
import type { Facts, InvariantName, Violation } from './invariants.ts';
import { leastTrade } from './wanted-positions.ts';

/**
 * Finds exits that do not fit their position at the end of a run, and positions that lack the stop-loss that they should
 * have, where no alarm says so.
 */
export function findUnfitExits(facts: Facts): readonly Violation[] {
  if (facts.dialect !== 'live') return [];
  return listPlaces(facts)
    .filter(({ account }) => facts.settings.accounts[account]?.mode === 'live')
    .flatMap((place) => [
      ...findTooMuch(facts, place),
      ...(isKept(facts, place) ? [...findTooLittle(facts, place), ...findAskedMissing(facts, place)] : []),
    ]);
}

function isKept({ settings }: Facts, { account }: TruePlace): boolean {
  return settings.accounts[account]?.protection === 'keep';
}

function broken(invariant: InvariantName, { account, market }: TruePlace, text: string): Violation {
  return { invariant, harm: 'silent', text: `${account} ${market}: ${text}` };
}

/** The alarms after which the owner looks at a market. */
const warnings: ReadonlySet<AlarmName> = new Set([
  'orders_left_open',
  'protection_failed',
  'position_unprotected',
  'outcome_unknown',
  'order_contradicted',
]);

/** Whether the owner was told of the market since it is as it is. */
export function isMarketTold(
  { history, entries }: Facts,
  { account, market }: Pick<TruePlace, 'account' | 'market'>,
  sinceMs: number,
): boolean {
  return history.alarms.some(
    ({ name, atMs, facts }) =>
      warnings.has(name) &&
      atMs >= sinceMs &&
      facts['account'] === account &&
      (facts['market'] === market ||
        entries.some(
          ({ signalId, signal, ...entry }) =>
            entry.account === account && signalId === facts['signalId'] && signal?.market === market,
        )),
  );
}

/** The stop-losses together, and the take-profits together, close at most the position, and none of them opens one. */
function findTooMuch(facts: Facts, place: TruePlace): readonly Violation[] {
  const { amount, changedAtMs } = place;
  const exits = place.exits.filter((exit) => isKept(facts, place) || isShown(facts, place, exit));
  const closing = amount.gt(zero) ? 'sell' : 'buy';
  const isOfNothing = ({ order }: TrueExit) => amount.eq(zero) || order.side !== closing;
  const lost = exits.filter(isOfNothing).map(({ order }) => order);
  const tooMany = (['stop_loss', 'take_profit'] as const).flatMap((role) => {
    const open = exits.filter((exit) => exit.role === role && !isOfNothing(exit)).map(({ order }) => order);
    return sumOf(open).gt(amount.abs()) && !areHarmless(facts, place, open) ? open : [];
  });
  const found = [...lost, ...tooMany];
  // Where the relay only raises alarms, it tells of a position once, also when that is reduced further.
  const isToldOnce = !isKept(facts, place) && lost.length === 0;
  const sinceMs = Math.max(isToldOnce ? 0 : changedAtMs, ...found.map(({ createdAtMs }) => createdAtMs));
  if (found.length === 0 || isMarketTold(facts, place, sinceMs)) return [];
  if (!isKept(facts, place) && areNamed(facts, place, found)) return [];
  const orders = found.map(
    ({ orderId, side, remaining }) => `${orderId} (${side} ${formatDecimal(remaining)})`,
  );
  return [
    broken('I34', place, `the position is ${formatDecimal(amount)}, and open are ${orders.join(', ')}`),
  ];
}

/** Whether a list shows an exit. Beside a position, the exchange shows the newest stop-loss and the newest take-profit. */
function isShown({ exchange }: Facts, { exits }: TruePlace, { role, order }: TrueExit): boolean {
  if (exchange.exitSettings.listsExits || order.parentId === null) return true;
  const ofRole = exits.filter((exit) => exit.role === role && exit.order.parentId !== null);
  return ofRole.every((exit) => exit.order.orderId <= order.orderId);
}

/** Whether an alarm has named these orders as too much for this position, or for none. */
function areNamed({ history }: Facts, place: TruePlace, orders: readonly PaperOrder[]): boolean {
  return history.alarms.some(({ name, atMs, facts }) => {
    const { account, market, held, orderIds } = facts;
    if (name !== 'protection_failed' || account !== place.account || market !== place.market) return false;
    if (!place.amount.eq(zero) && atMs < place.openedAtMs) return false;
    const isSameDirection =
      typeof held === 'string' &&
      directionOf(parseDecimal(held.split(' ').at(-1) ?? '')) === directionOf(place.amount);
    return (
      isSameDirection && Array.isArray(orderIds) && orders.every(({ orderId }) => orderIds.includes(orderId))
    );
  });
}

function directionOf(amount: Decimal): number {
  return amount.cmp(zero);
}

function sumOf(orders: readonly PaperOrder[]): Decimal {
  return orders.reduce((sum, { remaining }) => sum.plus(remaining), zero);
}

/**
 * One that only reduces may be too large for a position that is smaller than the smallest order. Where the relay only raises
 * alarms, it may be for any that is of its own entry alone: one that fires closes what that entry opened, and no more.
 */
function areHarmless(facts: Facts, place: TruePlace, orders: readonly PaperOrder[]): boolean {
  // In hedge mode, what closes a side opens none.
  if (!orders.every(({ reduceOnly, positionSide }) => reduceOnly || positionSide !== 'BOTH')) return false;
  const { amount, market, exits } = place;
  if (amount.abs().lt(leastTrade(market))) return true;
  if (isKept(facts, place)) return false;
  const opener = shareNewestFirst(place).find(({ share }) => share.eq(amount.abs()));
  const owners = exits.filter(({ order }) => orders.includes(order)).map(({ of }) => of);
  return owners.every((of) => of === opener?.entry);
}

/** What is left of each entry with a stop-loss has one of its size, or a stop by hand or of an alert protects it. */
function findTooLittle(facts: Facts, place: TruePlace): readonly Violation[] {
  const { amount, market, exits, handStops, alertStops } = place;
  const wanting = shareNewestFirst(place).filter(
    (source) =>
      source.hasStop &&
      source.share.gte(leastTrade(market)) &&
      !isReleased(facts, place, source) &&
      !isTold(facts, place, source),
  );
  const wanted = wanting.reduce((sum, { share }) => sum.plus(share), zero);
  const closing = amount.gt(zero) ? 'sell' : 'buy';
  const stops = exits.filter(
    ({ role, order }) => role === 'stop_loss' && order.side === closing && !order.activated,
  );
  const standing = sumOf([
    ...stops.map(({ order }) => order),
    ...handStops.filter(({ side }) => side === closing),
    ...alertStops.filter(({ side, activated }) => side === closing && !activated),
  ]);
  const missing = wanted.minus(standing).minus(toldOfGone(facts, place));
  if (missing.lt(leastTrade(market)) || isMarketTold(facts, place, changedFor(place, wanting))) return [];
  const sources = wanting.map(({ entry, share }) => `${keyText(entry)} ${formatDecimal(share)}`).join(', ');
  return [
    broken('I35', place, `${sources} should have stop-losses, and ${formatDecimal(standing)} is protected`),
  ];
}

/**
 * What the owner has left without a stop-loss of orders whose position had ended seconds before this one began, as he was told.
 * For so long the relay cannot tell to which of the two their rest belongs.
 */
function toldOfGone({ history }: Facts, { account, openedAtMs, everyExit, sources }: TruePlace): Decimal {
  const own = new Set(sources.map(({ entry }) => entry));
  const byHand = new Set(history.handCancels.map(({ orderId }) => orderId));
  const gone = everyExit.filter(({ of, order }) => !own.has(of) && byHand.has(order.orderId));
  return [...new Set(gone.map(({ of }) => of.signalId))].reduce((sum, signalId) => {
    const told = listLacks(history, { account, signalId }).findLast(({ atMs }) => atMs >= openedAtMs);
    const amount = told?.facts['amount'];
    return typeof amount === 'string' ? sum.plus(parseDecimal(amount)) : sum;
  }, zero);
}

/** What an alert asked for the whole position has a stop-loss as long as that position stands, whoever opened it. */
function findAskedMissing(facts: Facts, place: TruePlace): readonly Violation[] {
  const { account, market, positionSide, amount, openedAtMs, exits, everyExit, handStops, alertStops } =
    place;
  const asked = facts.entries.flatMap((entry) => {
    const wish = entry.account === account ? entry.steps.at(-1)?.facts?.wish : undefined;
    const isOfPlace = wish?.market === market && (wish.side ?? 'BOTH') === positionSide;
    const namesStop = wish?.stopLoss !== undefined || wish?.trailing !== undefined;
    return wish !== undefined && isOfPlace && namesStop ? [{ entry, wish }] : [];
  });
  const last = asked.toSorted((one, other) => one.wish.atMs - other.wish.atMs).at(-1);
  if (last === undefined || last.wish.atMs < openedAtMs || !isOfDirection(last.wish.amount, amount))
    return [];
  const { entry, wish } = last;
  const newer = shareNewestFirst(place).filter((source) => sentAtMs(source.entry) > wish.atMs);
  const left = newer.reduce((rest, { share }) => rest.minus(share), amount.abs());
  if (left.lt(leastTrade(market))) return [];
  const replaced = replacedIn(facts.entries);
  const own = everyExit.filter(({ of, role }) => of === entry && role === 'stop_loss');
  const isEndedByHand = own.some(({ order }) => order.status === 'cancelled' && !replaced.has(order.orderId));
  const stands = exits.some(({ of, role }) => of === entry && role === 'stop_loss');
  if (stands || isEndedByHand || handStops.length + alertStops.length > 0) return [];
  // An alarm that stop-losses of a position cannot be placed holds for what is asked for after it, too.
  if (isMarketTold(facts, place, openedAtMs)) return [];
  return [
    broken('I35', place, `${keyText(entry)} asked for a stop-loss, and none stands for ${left.toFixed()}`),
  ];
}

function isOfDirection(text: string, amount: Decimal): boolean {
  return directionOf(parseDecimal(text)) === directionOf(amount);
}

/** When the position changed last but for exits of other entries: what those close is no part of what is left of these. */
function changedFor({ deals, everyExit }: TruePlace, sources: readonly TrueSource[]): number {
  const own = new Set(sources.map(({ entry }) => entry));
  const ofOthers = new Set(everyExit.filter(({ of }) => !own.has(of)).map(({ order }) => order.orderId));
  const last = deals.findLast(({ orderId }) => !ofOthers.has(orderId));
  return last?.atMs ?? Number.NEGATIVE_INFINITY;
}

/** Whether the owner was told of the lack of this very entry after its order, and the last of its exits, had ended. */
function isTold({ history }: Facts, { everyExit }: TruePlace, { entry }: TrueSource): boolean {
  const exits = everyExit.filter(({ of }) => of === entry).map(({ order }) => order.updatedAtMs);
  const ends = [entry.execution?.orders[0]?.endedAtMs ?? Number.POSITIVE_INFINITY, ...exits];
  return listLacks(history, entry).some(({ atMs }) => ends.every((endedAtMs) => atMs >= endedAtMs));
}

/** The alarms that the position of an entry lacks its stop-loss. */
function listLacks({ alarms }: Facts['history'], { account, signalId }: Pick<Entry, 'account' | 'signalId'>) {
  return alarms.filter(
    ({ name, facts }) =>
      name === 'position_unprotected' && facts['account'] === account && facts['signalId'] === signalId,
  );
}

/**
 * Whether its stop-loss, the pair that it was of, or one that an alert had asked for the whole position in its place was ended
 * by hand or by an alert, and the owner was told what that left.
 */
function isReleased({ history, entries }: Facts, { everyExit }: TruePlace, { entry }: TrueSource): boolean {
  const replaced = replacedIn(entries);
  const cancelled = everyExit.filter(
    ({ of, order }) =>
      (of === entry || of.signal?.action !== 'order') &&
      order.status === 'cancelled' &&
      !replaced.has(order.orderId),
  );
  const told = listLacks(history, entry);
  return cancelled.some(({ order }) => told.some(({ atMs }) => atMs >= order.updatedAtMs));
}
