import { heldToMs } from '../../lib/account/account-deals.ts';
import { type Decimal, formatDecimal, minimum, parseDecimal, zero } from '../../lib/base/decimal.ts';
import { longestLagMs } from '../../lib/exchange/lag.ts';
import type { Entry } from '../../lib/ledger/entry.ts';
import { orderSignalOf } from '../../lib/ledger/sent-order.ts';
import { type Fill, isOfSignal, type OrderExecution } from '../../lib/model/execution.ts';
import { isOrderEnd, isQuoteSized, type Side } from '../../lib/model/order.ts';
import { type ExchangeState, isSpotOrder, type PaperOrder } from '../../lib/paper/engine/exchange-state.ts';
import type { PaperDeal } from '../../lib/paper/engine/trade-records.ts';
import { oddWord } from '../../lib/paper/faults/odd-lists.ts';
import { keyText } from './history.ts';
import type { Facts, InvariantName, Violation } from './invariants.ts';

/** An entry that was placed, its order at the exchange, and the exits that the exchange made from it. */
interface PlacedEntry {
  readonly entry: Entry;
  readonly order: PaperOrder;
  readonly exits: readonly PaperOrder[];
  /** What the relay itself placed to protect what it filled. */
  readonly kept: readonly PaperOrder[];
}

/** Finds fills and ends of followed orders that differ from the exchange's, and positions that lost their stop in silence. */
export function findWrongFollowing(facts: Facts): readonly Violation[] {
  if (facts.dialect !== 'live') return [];
  const placed = listPlaced(facts);
  return [
    ...findWrongFills(facts, placed),
    ...placed.flatMap((one) => findWrongTotals(one)),
    ...placed.flatMap((one) => findWrongEnds(one, facts.exchange)),
    ...findSilentLacks(facts, placed),
  ];
}

function broken(invariant: InvariantName, text: string): Violation {
  return { invariant, harm: 'silent', text };
}

function listPlaced({ entries, exchange }: Facts): readonly PlacedEntry[] {
  const children = Map.groupBy(exchange.orders.values(), ({ parentId }) => parentId);
  const orderOf = ({ status, orderId }: Entry) =>
    status === 'placed' ? exchange.orders.get(orderId ?? -1) : undefined;
  const kept = Map.groupBy(entries, ({ account, signal }) =>
    signal?.action === 'protect' ? `${account} ${signal.of}` : '',
  );
  const claims = entries.flatMap((entry) => (entry.execution?.orders ?? []).map(({ orderId }) => orderId));
  const ownIds = new Set(entries.map(({ orderId }) => orderId));
  const isSwapped = ({ orderId, parentId }: PaperOrder) =>
    ownIds.has(parentId) && claims.filter((claim) => claim === orderId).length === 1;
  return entries.flatMap((entry) => {
    const order = orderOf(entry);
    if (order === undefined) return [];
    const keepers = kept.get(keyText(entry)) ?? [];
    const made = children.get(order.orderId) ?? [];
    const exits = withClaimedTwins(entry, made, exchange, isSwapped);
    return [{ entry, order, exits, kept: keepers.flatMap((keeper) => orderOf(keeper) ?? []) }];
  });
}

/**
 * Where nothing tells the exits of several entries apart, one may claim that of another one.
 *
 * @param isSwapped whether an order is the exit of one entry, and one entry claims it
 */
function withClaimedTwins(
  entry: Entry,
  made: readonly PaperOrder[],
  { orders }: ExchangeState,
  isSwapped: (exit: PaperOrder) => boolean,
): readonly PaperOrder[] {
  const told = new Set((entry.execution?.orders ?? []).map(({ orderId }) => orderId));
  const claimed = [...told].flatMap((orderId) => orders.get(orderId) ?? []);
  const strange = claimed.filter((one) => !made.includes(one) && isSwapped(one));
  return made.map((own) => {
    const mayBeSwapped = !told.has(own.orderId) && isSwapped(own);
    const place = mayBeSwapped ? strange.findIndex((other) => areTwins(own, other)) : -1;
    return place === -1 ? own : (strange.splice(place, 1)[0] ?? own);
  });
}

/** The exchange makes exits with the fills of their entry: the relay looks for them so long after the last one. */
const twinsWithinMs = 60_000;

/** Whether two exits that have filled nothing differ in their ids and the times of their making and their end alone. */
function areTwins(one: PaperOrder, other: PaperOrder): boolean {
  const textOf = (order: PaperOrder) => {
    const { account, market, side, type, positionSide, reduceOnly, amount, price, activationPrice } = order;
    const numbers = [amount, price ?? zero, activationPrice ?? zero].map(formatDecimal);
    return [account, market, side, type, positionSide, reduceOnly, ...numbers].join(' ');
  };
  return (
    one.filled.eq(zero) &&
    other.filled.eq(zero) &&
    Math.abs(one.createdAtMs - other.createdAtMs) <= twinsWithinMs &&
    textOf(one) === textOf(other)
  );
}

/** Each deal of the relay's orders and of their exits must be in the ledger once, as that of its signal. */
function findWrongFills(facts: Facts, placed: readonly PlacedEntry[]): readonly Violation[] {
  const { fills, exchange } = facts;
  const own = new Set(placed.flatMap(({ order, exits }) => [order, ...exits].map(({ orderId }) => orderId)));
  const deals = exchange.deals.filter(({ orderId }) => own.has(orderId)).map(textOfDeal);
  const describe = describeFills(exchange);
  const stored = fills.filter(isOfSignal).map(describe);
  const missing = deals.filter((text) => !stored.includes(text));
  const invented = stored.filter((text) => !deals.includes(text));
  return [
    ...Object.keys(facts.settings.accounts).flatMap((account) => findWrongOthers(facts, account, placed)),
    ...missing.map((text) => broken('I27', `the ledger has no fill ${text}`)),
    ...invented.map((text) => broken('I27', `the exchange has no fill ${text}`)),
    ...(stored.length > new Set(stored).size ? [broken('I27', 'the ledger has a fill twice')] : []),
  ];
}

/**
 * Each other deal of the time that was read must be in the ledger once, as of no signal; nothing else may be. Two accounts
 * of the relay may have keys of one account of the exchange: what one of them deals is then of no signal of the other one.
 */
function findWrongOthers(
  { fills, exchange, deals: read, owners }: Facts,
  account: string,
  placed: readonly PlacedEntry[],
): readonly Violation[] {
  const ofAccount = placed.filter(({ entry }) => entry.account === account);
  const own = new Set(ofAccount.flatMap(({ order, exits }) => [order, ...exits].map((one) => one.orderId)));
  const ofNone = exchange.deals
    .filter((deal) => deal.account === owners.get(account) && !own.has(deal.orderId))
    .map((deal) => ({ ...deal, account }));
  const state = read.get(account);
  const due = ofNone.filter(({ market, atMs }) => {
    // What the positions showed when they were first read is in them.
    return state !== undefined && atMs > heldToMs(state, market) && atMs <= state.readToMs - longestLagMs;
  });
  const stored = fills.filter((fill) => fill.account === account && !isOfSignal(fill));
  const others = stored.map(describeFills(exchange));
  const uncounted = due.map(textOfDeal).filter((text) => !others.includes(text));
  const known = new Set(ofNone.map(textOfDeal));
  const wronglyOther = others.filter((text) => !known.has(text));
  return [
    ...uncounted.map((text) => broken('I32', `the ledger has no deal ${text}`)),
    ...wronglyOther.map((text) =>
      broken('I32', `no signal's is in the ledger, and not at the exchange: ${text}`),
    ),
  ];
}

/** Of a role in a word that nobody knows, nothing is expected. */
function describeFills(exchange: ExchangeState): (fill: Fill) => string {
  const roles = new Map(exchange.deals.map(({ orderId, dealId, role }) => [`${orderId} ${dealId}`, role]));
  return (fill) => {
    const isKnown = fill.liquidity === 'maker' || fill.liquidity === 'taker';
    const role = isKnown ? fill.liquidity : roles.get(`${fill.orderId} ${fill.dealId}`);
    return textOfFill({ ...fill, liquidity: role ?? fill.liquidity });
  };
}

function textOfDeal(deal: PaperDeal): string {
  const { dealId, orderId, account, market, side, role, feeAsset, atMs } = deal;
  const numbers = [deal.amount, deal.price, deal.notional, deal.fee].map(formatDecimal);
  return [dealId, orderId, account, market, side, role, feeAsset, atMs, ...numbers].join(' ');
}

function textOfFill(fill: Fill): string {
  const { dealId, orderId, account, market, side, liquidity, feeAsset, atMs } = fill;
  const numbers = [fill.amount, fill.price, fill.notional, fill.fee];
  return [dealId, orderId, account, market, side, liquidity, feeAsset, atMs, ...numbers].join(' ');
}

function findWrongTotals({ entry, order, exits }: PlacedEntry): readonly Violation[] {
  const known = new Map([order, ...exits].map((one) => [one.orderId, one]));
  return (entry.execution?.orders ?? []).flatMap((told) => {
    const real = known.get(told.orderId);
    if (real === undefined)
      return [broken('I27', `${keyText(entry)} claims order ${told.orderId}, which was not made from it`)];
    const isSame =
      parseDecimal(told.filled).eq(real.filled) &&
      parseDecimal(told.filledNotional).eq(real.filledNotional) &&
      feesOf(told).eq(real.fee);
    const text = `${keyText(entry)} counts ${told.filled} (${told.filledNotional}, fees ${formatDecimal(feesOf(told))}) of order ${told.orderId}, of which ${formatDecimal(real.filled)} (${formatDecimal(real.filledNotional)}, fees ${formatDecimal(real.fee)}) filled`;
    return isSame ? [] : [broken('I27', text)];
  });
}

function feesOf({ fees }: OrderExecution): Decimal {
  return Object.values(fees).reduce((sum, fee) => sum.plus(parseDecimal(fee)), zero);
}

/** Of every order that ended, the end must be told; of every other one, none. An open exit need be told only where a list of orders shows it. */
function findWrongEnds(
  { entry, order, exits }: PlacedEntry,
  { exitSettings }: ExchangeState,
): readonly Violation[] {
  const told = new Map((entry.execution?.orders ?? []).map((one) => [one.orderId, one]));
  return [order, ...exits].flatMap((real) => {
    const known = told.get(real.orderId);
    const status = known?.status ?? 'nothing';
    // Of an order in quote units, nobody can tell from its amounts whether it has filled.
    const isUnsure = known?.endReason === oddWord && isQuoteSized(real);
    if (known === undefined && real !== order && !exitSettings.listsExits && !isOrderEnd(real.status))
      return [];
    const isSame = isOrderEnd(real.status)
      ? (status === real.status || (isUnsure && status === 'cancelled')) &&
        known?.endedAtMs === real.updatedAtMs
      : status === real.status;
    const isOpenAsTold = real !== order || !isOrderEnd(real.status) || !entry.orderOpen;
    const text = `${keyText(entry)} says ${status} of order ${real.orderId}, which is ${real.status} since ${real.updatedAtMs}`;
    return isSame && isOpenAsTold ? [] : [broken('I28', text)];
  });
}

/** A position whose stop-loss is missing, while its entry is followed, must have raised an alarm. */
function findSilentLacks({ exchange, history }: Facts, placed: readonly PlacedEntry[]): readonly Violation[] {
  const left = new Map<string, Decimal>();
  // A position is reduced from its oldest entry on.
  return placed.toReversed().flatMap((one) => {
    const { entry, order } = one;
    const held = heldWithoutStop(one);
    if (held === null || entry.execution?.isFollowed !== true) return [];
    const key = `${order.account} ${order.market} ${order.side}`;
    const rest = left.get(key) ?? uncoveredOf(exchange, order);
    const uncovered = minimum(held, rest);
    left.set(key, rest.minus(uncovered));
    // Its stop-loss covers a part: what that lacks is told by other rules.
    if (hasStop(one)) return [];
    const isTold = history.alarms.some(
      ({ name, facts }) =>
        name === 'position_unprotected' &&
        facts['account'] === entry.account &&
        facts['signalId'] === entry.signalId,
    );
    const text = `${keyText(entry)} holds ${formatDecimal(uncovered)} without its stop-loss, and no alarm says so`;
    return uncovered.gt(zero) && !isTold ? [broken('I29', text)] : [];
  });
}

/** What an entry with a stop-loss holds that no open one of its own covers; null when it asks for none, or holds nothing. */
function heldWithoutStop({ entry, order, ...one }: PlacedEntry): Decimal | null {
  const signal = orderSignalOf(entry);
  if (signal?.stopLoss === undefined || isSpotOrder(order)) return null;
  const exits = [...one.exits, ...one.kept];
  const sold = exits.reduce((sum, exit) => sum.plus(exit.filled), zero);
  const covered = exits.filter(isOpenStop).reduce((sum, exit) => sum.plus(exit.remaining), zero);
  const held = order.filled.minus(sold).minus(covered);
  return held.gt(zero) ? held : null;
}

function hasStop({ exits, kept }: PlacedEntry): boolean {
  return [...exits, ...kept].some(isOpenStop);
}

function isOpenStop({ activationPrice, status }: PaperOrder): boolean {
  return activationPrice !== null && !isOrderEnd(status);
}

/** The part of the position that no stop order of the exchange would stop out. */
function uncoveredOf(exchange: ExchangeState, { account, market, side }: PaperOrder): Decimal {
  const positions = exchange.accounts.get(account)?.collateral.positions.values() ?? [];
  const position = [...positions]
    .filter((one) => one.market === market && one.amount.gt(zero) === (side === 'buy'))
    .reduce((sum, { amount }) => sum.plus(amount.abs()), zero);
  const covered = [...exchange.open.values()]
    .filter((order) => order.account === account && order.market === market && stopsOut(side, order))
    .reduce((sum, { remaining }) => sum.plus(remaining), zero);
  const rest = position.minus(covered);
  return rest.lt(zero) ? zero : rest;
}

function stopsOut(side: Side, order: PaperOrder): boolean {
  return (
    order.side !== side &&
    order.activationCondition === (side === 'buy' ? 'lte' : 'gte') &&
    (order.reduceOnly || order.clientOrderId === '')
  );
}
