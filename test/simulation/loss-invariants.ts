import { type DealsState, heldToMs } from '../../lib/account/account-deals.ts';
import { type Decimal, formatDecimal, parseDecimal, zero } from '../../lib/base/decimal.ts';
import { decimalIn, type Json } from '../../lib/base/json.ts';
import { endedOrder } from '../../lib/exchange/endpoints/ended-order.ts';
import { executedHistory } from '../../lib/exchange/endpoints/executed-history.ts';
import { isSpotOrder } from '../../lib/paper/engine/exchange-state.ts';
import { closesOnly } from '../../lib/paper/engine/positions.ts';
import type { PaperDeal } from '../../lib/paper/engine/trade-records.ts';
import { isCreate, keyText, type WireSend, widestSkewMs } from './history.ts';
import type { Facts, Violation } from './invariants.ts';
import { longestPositionLagMs } from './network.ts';
import { matchOrders, type OwnOrders } from './own-orders.ts';
import { readingsFor } from './readings.ts';
import { type RealisedDeal, realisedAlone, realisedDeals } from './realised-deals.ts';
import { describeSent, listSentOrders, type SentOrder } from './sent-orders.ts';
import { isOfResponse } from './true-positions.ts';

/**
 * Finds orders that open or enlarge a position although losses that the relay had been told of had reached a limit of loss:
 * by the list of deals of the same invocation, by what was stored before that began, or by the response to an order. Also
 * those after a loss whose deal no list showed, although the list of positions showed what it had closed, or that of the ended
 * orders which order had filled.
 */
export function findAfterLosses(facts: Facts): readonly Violation[] {
  if (facts.dialect !== 'live') return [];
  const orders = matchOrders(facts.exchange, facts.entries);
  const known: Known = { facts, orders, deals: realisedDeals(facts.exchange) };
  return listSentOrders(facts)
    .filter((sent) => mayOpen(known, sent))
    .flatMap((sent) => [
      ...findInCoolDown(known, sent),
      ...findBeyondDailyLoss(known, sent),
      ...findAfterVisible(known, sent),
      ...findAfterEnded(known, sent),
    ]);
}

interface Known {
  readonly facts: Facts;
  readonly orders: OwnOrders;
  /** Of all accounts, oldest first. */
  readonly deals: readonly RealisedDeal[];
}

function broken(text: string): Violation {
  return { invariant: 'I44', harm: 'other', text };
}

interface ReadPosition {
  readonly market: string;
  readonly amount: string | null;
  readonly unrealizedPnl?: string;
  /** In seconds. */
  readonly modifyDate?: number;
}

function positionsRead({ facts }: Known, { send, market }: SentOrder): readonly ReadPosition[][] {
  return readingsFor(facts.history, send, market.name, 'positions') as ReadPosition[][];
}

/** Whether it came to the exchange, and every reading of the positions says that it opens or enlarges one. */
function mayOpen(known: Known, sent: SentOrder): boolean {
  const [order] = known.orders.of(sent.entry);
  if (order === undefined || isSpotOrder(order) || closesOnly(order)) return false;
  if (order.positionSide !== 'BOTH') return true;
  return positionsRead(known, sent).every((positions) => {
    const held = positions.find(({ market }) => market === sent.market.name)?.amount ?? '0';
    return parseDecimal(held)
      .times(sent.side === 'buy' ? '1' : '-1')
      .gte(zero);
  });
}

/** A clock that is set back shows a time that had passed already when the order was judged. */
const clockMs = 2 * widestSkewMs;

function findInCoolDown(known: Known, sent: SentOrder): readonly Violation[] {
  const coolDownMs = sent.account.limits?.coolDownMs ?? null;
  if (coolDownMs === null) return [];
  const loss = dealsTold(known, sent).findLast(({ isClosing, realised }) => isClosing && realised.lt(zero));
  if (loss === undefined || sent.send.relayNowMs >= loss.deal.atMs + coolDownMs - clockMs) return [];
  const afterMs = sent.send.relayNowMs - loss.deal.atMs;
  return [broken(`${describeSent(sent)} was sent ${afterMs} ms after deal ${loss.deal.dealId}, a loss`)];
}

/** The loss is the least that the relay can have computed: every gain counts, whether or not it was told of it. */
function findBeyondDailyLoss(known: Known, sent: SentOrder): readonly Violation[] {
  const most = sent.account.limits?.maxDailyLoss ?? null;
  const readings = positionsRead(known, sent);
  if (most === null || readings.length === 0) return [];
  const { exchange } = known.facts;
  const own = known.deals.filter(({ deal }) => deal.account === sent.entry.account);
  // What the relay makes on spot is in no event of a position.
  if (
    exchange.deals.some(({ account, orderId }) => account === sent.entry.account && isSpot(exchange, orderId))
  )
    return [];
  const told = new Map(dealsTold(known, sent).map((one) => [one.deal, one]));
  // What a fill has opened that no position shows yet counts at the price of that moment: perhaps as a gain.
  if ([...told.values()].some((one) => !one.isClosing && !isListed(one, readings, sent))) return [];
  const earlier = own.filter(({ deal }) => deal.atMs <= sent.send.atMs);
  const gains = earlier.map((one) => told.get(one.deal) ?? one).filter(({ realised }) => realised.gt(zero));
  const lost = [...told.values()].filter(({ realised }) => realised.lt(zero));
  const losses = readings.map((positions) => {
    const floating = positions.reduce(
      (sum, { unrealizedPnl = '0' }) => sum.plus(parseDecimal(unrealizedPnl)),
      zero,
    );
    return sumOf(gains)
      .plus(sumOf(lost.filter((one) => isShown(one, positions, sent))))
      .plus(floating)
      .neg();
  });
  if (!losses.every((loss) => loss.gte(most))) return [];
  const text = `${describeSent(sent)} was sent after a loss of ${losses.map(formatDecimal).join(', ')}, and ${formatDecimal(most)} is allowed`;
  return [broken(text)];
}

/**
 * An order of an account with a limit of loss that was sent after a stop-out which the relay could see: the position was in
 * its last reading, is smaller in each of this order, and no deal that it was told of says at which price.
 */
function findAfterVisible(known: Known, sent: SentOrder): readonly Violation[] {
  const { maxDailyLoss = null, coolDownMs = null } = sent.account.limits ?? {};
  const readings = positionsRead(known, sent);
  if ((maxDailyLoss === null && coolDownMs === null) || readings.length === 0) return [];
  const { account } = sent.entry;
  const { history, exchange } = known.facts;
  const told = new Set(dealsTold(known, sent).map(({ deal }) => deal));
  const startedAtMs = sent.send.invocation?.startedAtMs ?? Number.NEGATIVE_INFINITY;
  // Another worker may have been answered while this one planned its order.
  const mayBeTold = toldBy(known, sent, sent.send.atMs);
  // A lookup reports an order as its response would have.
  const reported = new Set(
    known.facts.entries.flatMap(({ steps }) =>
      steps.flatMap(({ atMs, facts }) => (atMs < sent.send.relayNowMs ? (facts?.report?.orderId ?? []) : [])),
    ),
  );
  const kept = history.keptPositions.findLast((one) => one.account === account && one.atMs < startedAtMs);
  // Without any deal that it was told of, it may be one of those that do not count.
  if (kept === undefined || told.size === 0) return [];
  const earlier = known.deals.filter(({ deal }) => deal.account === account && deal.atMs < sent.send.atMs);
  return kept.positions.flatMap(({ market, positionSide, amount: before, modifiedAtMs }) => {
    const since = earlier.filter(({ deal }) => deal.market === market && deal.atMs > (modifiedAtMs ?? 0));
    // A record that is odd in a field that does not matter is stored.
    const isKnown = since.some(({ deal }) => told.has(deal) || mayBeTold(deal) || reported.has(deal.orderId));
    const isMade = since.every(
      ({ deal }) => exchange.orders.get(deal.orderId)?.positionSide === positionSide,
    );
    const isVisible = readings.every((positions) => {
      const now = parseDecimal(positions.find((one) => one.market === market)?.amount ?? '0');
      return now.times(before).gte(zero) && now.abs().lt(before.abs());
    });
    if (positionSide !== 'BOTH' || modifiedAtMs === null || since.length === 0) return [];
    // A list without it may be older than the reading before.
    const isGone = readings.some((positions) => !positions.some((one) => one.market === market));
    if (isGone && sent.send.atMs - modifiedAtMs < listedAfterMs) return [];
    if (isKnown || !isMade || !isVisible) return [];
    return [
      broken(
        `${describeSent(sent)} was sent after the position in ${market} was seen to be smaller than ${formatDecimal(before)}, and no deal of that was known`,
      ),
    ];
  });
}

/**
 * An order of an account with a limit of loss that was sent after an order which had closed at a loss, as the list of ended
 * orders showed that was read for it, and of that loss no deal was known.
 */
function findAfterEnded(known: Known, sent: SentOrder): readonly Violation[] {
  const { maxDailyLoss = null, coolDownMs = null } = sent.account.limits ?? {};
  if (maxDailyLoss === null && coolDownMs === null) return [];
  const { account } = sent.entry;
  const { history, exchange } = known.facts;
  const filled = filledListed(known.facts, sent);
  const isTold = toldBy(known, sent);
  const { isHeldAtFirst } = countedOf(known.facts, account);
  const lost = known.deals.filter(({ deal, isClosing, realised }) => {
    const order = exchange.orders.get(deal.orderId);
    const isListed = order !== undefined && filled.get(deal.orderId)?.eq(order.filled) === true;
    if (!isListed || !isClosing || realised.gte(zero) || deal.account !== account) return false;
    const sinceMs = sent.send.atMs - order.updatedAtMs;
    if (sinceMs < 0 || sinceMs > endedCountsMs || isHeldAtFirst({ ...deal, atMs: order.updatedAtMs }))
      return false;
    return !isTold(deal) && !wasStored(history, deal, sent.send.atMs);
  });
  return lost.map(({ deal }) =>
    broken(
      `${describeSent(sent)} was sent although order ${deal.orderId} was listed as filled, and its deal ${deal.dealId}, a loss, was not known`,
    ),
  );
}

/** Shorter than the relay lets an ended order count, on a clock that is off. */
const endedCountsMs = 150_000;

function isSpot(exchange: Facts['exchange'], orderId: number): boolean {
  const order = exchange.orders.get(orderId);
  return order !== undefined && isSpotOrder(order);
}

/** A fill that a list of positions does not show yet counts with the position that is still listed. */
function isShown({ deal }: RealisedDeal, positions: readonly ReadPosition[], { send }: SentOrder): boolean {
  const isLate = send.atMs - deal.atMs < listedAfterMs;
  return !isLate || positions.every(({ market }) => market !== deal.market);
}

/** Whether every list of positions shows what a deal has made of its position. */
function isListed(
  { deal }: RealisedDeal,
  readings: readonly (readonly ReadPosition[])[],
  { send }: SentOrder,
): boolean {
  if (send.atMs - deal.atMs >= listedAfterMs) return true;
  return readings.every((positions) =>
    positions.some(
      ({ market, modifyDate }) => market === deal.market && (modifyDate ?? 0) * 1000 >= deal.atMs,
    ),
  );
}

/** Longer than the relay takes a list of positions to lag, on a clock that is off. */
const listedAfterMs = 20_000;

/**
 * The deals of the account that the relay had been told of when it judged the order, and that it counts. What each of them
 * closed, and at which profit, depends on those before it: where the relay had not been told of all of them, the better of
 * what the exchange booked and of what it would have booked without the others counts.
 */
function dealsTold(known: Known, sent: SentOrder): readonly RealisedDeal[] {
  const { facts, deals } = known;
  const { account } = sent.entry;
  const { read, isHeldAtFirst } = countedOf(facts, account);
  // Of what a report leaves out, as it says, nobody knows the cost.
  if (read === undefined || facts.profits.get(account)?.isWhole !== true) return [];
  const unknown = marketsWithoutCost(facts, account, read);
  const isTold = toldBy(known, sent);
  const own = deals.filter(({ deal }) => deal.account === account && deal.atMs <= sent.send.atMs);
  const counted = own.filter(({ deal }) => isTold(deal) || isHeldAtFirst(deal));
  const alone =
    counted.length === own.length
      ? own
      : realisedAlone(
          facts.exchange,
          counted.map(({ deal }) => deal),
        );
  return counted
    .map((one, index) => betterOf(one, alone[index] ?? one))
    .filter(({ deal }) => !isHeldAtFirst(deal) && !unknown.has(deal.market) && isTold(deal));
}

/** Since when the deals of the account count. Of the earlier ones the positions that were first read show what is left of them. */
function countedOf(facts: Facts, account: string) {
  const read = facts.deals.get(account);
  const isHeldAtFirst = ({ atMs, market }: Pick<PaperDeal, 'atMs' | 'market'>) =>
    read === undefined || atMs <= heldToMs(read, market);
  return { read, isHeldAtFirst };
}

/**
 * Whether the relay had been told of a deal when it judged the order: by a list, by what was stored, or by a response.
 *
 * @param beforeMs what came later does not count; absent: what came after the order was begun
 */
function toldBy(
  { facts, orders }: Known,
  sent: SentOrder,
  beforeMs = sent.send.invocation?.startedAtMs ?? Number.NEGATIVE_INFINITY,
): (deal: PaperDeal) => boolean {
  const { history, entries, exchange } = facts;
  const { account } = sent.entry;
  const listed = idsListed(facts, sent);
  const answered = new Set(
    entries
      .filter((entry) => entry.account === account && entry.status === 'placed')
      .filter((entry) => wasAnswered(facts, keyText(entry), beforeMs))
      .flatMap((entry) => orders.of(entry))
      .map(({ orderId }) => orderId),
  );
  const isAnswered = ({ orderId, atMs, role }: PaperDeal) => {
    const order = exchange.orders.get(orderId);
    return answered.has(orderId) && order !== undefined && isOfResponse({ order, atMs, role });
  };
  return (deal) => listed.has(deal.dealId) || wasStored(history, deal, beforeMs) || isAnswered(deal);
}

function wasStored(
  { storedDeals, storedOthers }: Facts['history'],
  { account, dealId }: PaperDeal,
  beforeMs: number,
): boolean {
  // On one machine they are read before they are on the disk, and what is sent waits for the same flush.
  return [storedDeals.get(dealId), storedOthers.get(`${account} ${dealId}`)].some(
    (storedAtMs = Number.POSITIVE_INFINITY) => storedAtMs <= beforeMs,
  );
}

function betterOf(one: RealisedDeal, other: RealisedDeal): RealisedDeal {
  const realised = one.realised.gt(other.realised) ? one.realised : other.realised;
  return { ...one, realised, isClosing: one.isClosing && other.isClosing };
}

/**
 * Markets in which an order was sent although the account could not be read before it: the fills that the relay knows tell what
 * was held there, and some deals from before are not among them. Markets, too, without a position in that reading, which may have lagged behind a
 * deal of the seconds before it. What closed that had no cost that it could know.
 */
function marketsWithoutCost(
  { exchange, fills }: Facts,
  name: string,
  { first, sinceMs, shownToMs }: DealsState,
): ReadonlySet<string> {
  const known = new Set(fills.filter(({ account }) => account === name).map(({ dealId }) => dealId));
  const missing = exchange.deals.filter(({ account, dealId }) => account === name && !known.has(dealId));
  const mayLag = ({ market, atMs }: PaperDeal) =>
    !shownToMs.has(market) && atMs < sinceMs && atMs >= sinceMs - longestPositionLagMs;
  return new Set(
    missing.filter((deal) => first.except.has(deal.market) || mayLag(deal)).map(({ market }) => market),
  );
}

/** Whether the response to its order was received as it was, and stored, before that time. */
function wasAnswered({ history }: Facts, key: string, beforeMs: number): boolean {
  const placedAtMs = history.statuses.get(key)?.find(({ status }) => status === 'placed')?.atMs;
  if (placedAtMs === undefined || placedAtMs >= beforeMs) return false;
  return history.sends.some(
    (send) =>
      isCreate(send.path) &&
      send.key !== null &&
      keyText(send.key) === key &&
      !send.isContradicted &&
      send.outcome?.kind === 'answered' &&
      send.outcome.status === 200 &&
      send.outcome.body.startsWith('{'),
  );
}

interface ListedDeal {
  readonly id?: unknown;
  readonly amount?: unknown;
  readonly price?: unknown;
  readonly fee?: unknown;
}

/** The deals in the last list of them that was read for the order, but for records that cannot be read. */
function idsListed({ history, exchange }: Facts, { send }: SentOrder): ReadonlySet<number> {
  const rows = readLastList<ListedDeal>(history, send, executedHistory.path.live, /"clientOrderId"/);
  const known = new Map(exchange.deals.map((deal) => [deal.dealId, deal]));
  return new Set(
    rows.flatMap(({ id, amount, price, fee }) => {
      const deal = known.get(Number(id));
      const isWhole = [amount, price, fee].every((value) => typeof value === 'string' && value !== '');
      return deal !== undefined && isWhole ? [deal.dealId] : [];
    }),
  );
}

/**
 * The records of the last list that was read to judge the order; none of one that was not answered as it should be.
 *
 * @param other what stands in the bodies of requests for another list
 */
function readLastList<Row>(
  { sends }: Facts['history'],
  { signer, invocation, atMs }: WireSend,
  path: string,
  other: RegExp,
): readonly Row[] {
  const outcome = sends.findLast(
    (one) =>
      one.path === path &&
      one.signer === signer &&
      one.invocation === invocation &&
      one.atMs <= atMs &&
      !other.test(one.body),
  )?.outcome;
  if (outcome?.kind !== 'answered' || outcome.status !== 200 || !/^[[{]/.test(outcome.body)) return [];
  return Object.values(JSON.parse(outcome.body) as Readonly<Record<string, readonly Row[]>>).flat();
}

interface ListedEnd {
  readonly id?: unknown;
  readonly dealStock?: unknown;
}

/** What the orders had filled that stand in the last list of ended orders that was read to judge the order. */
function filledListed({ history }: Facts, { send }: SentOrder): ReadonlyMap<number, Decimal> {
  const rows = readLastList<ListedEnd>(history, send, endedOrder.path.live, /"(?:clientOrderId|startDate)"/);
  return new Map(
    rows.flatMap(({ id, dealStock }) => {
      const filled = decimalIn(dealStock as Json);
      return filled === null ? [] : [[Number(id), filled] as const];
    }),
  );
}

function sumOf(deals: readonly RealisedDeal[]): Decimal {
  return deals.reduce((sum, { realised }) => sum.plus(realised), zero);
}
