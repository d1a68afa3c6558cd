import type { Alarms } from '../base/alarms.ts';
import type { Clock } from '../base/clock.ts';
import { formatDecimal, parseDecimal, zero } from '../base/decimal.ts';
import { describeSafely } from '../base/describe-error.ts';
import { decimalIn, fieldsOf, type Json, numberIn } from '../base/json.ts';
import type { Log } from '../base/log.ts';
import { serverTime } from '../exchange/endpoints/server-time.ts';
import { ExchangeError } from '../exchange/errors.ts';
import { farthestBackMs, longestLagMs } from '../exchange/lag.ts';
import { type AccountDeal, type EndedOrder, listAccountDeals } from '../exchange/list-account.ts';
import type { AccountFacts, ContestedFacts } from '../ledger/account-facts.ts';
import type { Entry } from '../ledger/entry.ts';
import { type Executions, listFills } from '../ledger/executions.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { fillMarksOf } from '../ledger/order-facts.ts';
import { filledBy, type OrderRecord, orderRecordOf } from '../ledger/order-record.ts';
import type { Account } from '../model/account.ts';
import type { CostBooks, CostPosition } from '../model/average-cost.ts';
import { bookKeyOf, type FirstHoldings } from '../model/cost-books.ts';
import { type Fill, fillNameOf, isOfSignal, isStillOpen, positionMarksOf } from '../model/execution.ts';
import { currenciesInName } from '../model/market.ts';
import { isMarkedReducing } from '../model/order.ts';
import { type DealSource, type ListedFilled, withPlaces } from './deal-places.ts';
import { findDoubled, hasTwins } from './doubled-deals.ts';
import { findShown, nothingHeld, readHeld } from './first-held.ts';
import { listOwn } from './read-exposure.ts';

/**
 * The deals of an account that belong to no signal: orders by hand, a close on the website of the exchange, a liquidation,
 * an exit that no entry has claimed. They change what the account made and holds as the deals of signals do.
 *
 * They are read with the lists that followed orders need anyway; while a position may be open, every minute; and before an
 * opening order is judged by `maxDailyLoss` or `coolDownAfterLoss`. While nothing is open, no loss can arise, so an idle
 * account causes no request: what was dealt meanwhile is read, and counts, before the next order opens anything.
 */
export interface DealServices {
  readonly clock: Clock;
  readonly alarms: Alarms;
  readonly log: Log;
  readonly ledger: Pick<Ledger, 'findOrder' | 'openOrders'>;
  readonly executions: Executions;
  readonly facts: ContestedFacts;
}

/** The fact `deals`. Deals before the relay first read the account do not count: they are in what it held then. */
export interface DealsState {
  /** When the relay first read the account, on the exchange's clock; an older release took its own. */
  readonly sinceMs: number;
  /** What it held then. It comes before every fill of a later order, also before one that is dated on the relay's own clock. */
  readonly first: FirstHoldings;
  /**
   * Until when the deals of a market are in what it held then, on the exchange's clock, where that is not `sinceMs`: later ones
   * were shown, too, or the list of positions lagged behind.
   */
  readonly shownToMs: ReadonlyMap<string, number>;
  /** Until when the deals were read; stored now and then, so it may be somewhat earlier. */
  readonly readToMs: number;
}

/** How far the relay's clock may be ahead of the exchange's, or behind it. */
export const mostClockAheadMs = 10_000;
/** How far the stored time may be behind: each deal is then read again, which is cheaper than a write with each reading. */
export const storeEveryMs = 5 * 60_000;

/** @returns null while the account was never read @throws RelayError `store_unavailable` */
export async function readDealsState(facts: AccountFacts, account: string): Promise<DealsState | null> {
  const stored = fieldsOf(await facts.read(account, 'deals'));
  const [sinceMs, readToMs] = [numberIn(stored['sinceMs']), numberIn(stored['readToMs'])];
  if (sinceMs === null || readToMs === null) return null;
  // An older release kept no markets that had been dealt in within this time.
  const atMs = sinceMs - (numberIn(stored['aheadMs']) ?? 0);
  const { except } = stored;
  const markets = Array.isArray(except) ? (except as readonly Json[]).map(String) : [];
  const first = { atMs, books: parseBooks(stored['books']), except: new Set(markets) };
  // An older release kept no such times.
  const shown = Object.entries(fieldsOf(stored['shownToMs'])).flatMap(([market, toMs]) =>
    typeof toMs === 'number' ? [[market, toMs] as const] : [],
  );
  return { sinceMs, first, shownToMs: new Map(shown), readToMs };
}

/** The clock of the exchange and that of this machine normally differ by less. */
const clockDifferenceMs = 1_000;

/** What a reading of the deals has found. */
export interface OtherDeals {
  /** Those that were not stored yet, also those of signals. */
  readonly fresh: readonly Fill[];
  /** Since when deals count. */
  readonly state: DealsState;
  /** Orders that had ended before the deals were read, as a list showed them after that. */
  readonly ended: readonly EndedOrder[];
}

/**
 * Reads the deals since the last reading, and stores those of no signal.
 *
 * @param listed orders of which lists were read just now: so much of what is listed of a signal's order counts before it is
 *   followed
 * @throws ExchangeError when the exchange cannot be read; RelayError `store_unavailable`
 */
export async function readOtherDeals(
  services: DealServices,
  account: Account,
  source: DealSource,
  listed: readonly ListedFilled[] = [],
): Promise<OtherDeals> {
  const nowMs = services.clock.nowMs();
  const state = await readDealsState(services.facts, account.name);
  if (state === null) return { fresh: [], state: await beginDeals(services, account, source), ended: [] };
  const deals = await listAccountDeals(source.client, dealsFromMs(state, nowMs), source.options);
  const read = { ...source, listed };
  const { fresh, isWhole, ended } = await storeOthers(services, account.name, state, deals, read);
  // The deals were read before this list: they must show only what had ended by then.
  const before = ended.filter(({ endedAtMs }) => endedAtMs < nowMs - clockDifferenceMs);
  if (isWhole) await noteRead(services, account.name, state, nowMs);
  return { fresh, state, ended: before };
}

/** Until when the deals of a market are in what the account held when it was first read: later ones count. */
export function heldToMs(
  { sinceMs, shownToMs }: Pick<DealsState, 'sinceMs' | 'shownToMs'>,
  market: string,
): number {
  return shownToMs.get(market) ?? sinceMs - 1;
}

/** From when on the deals must be read: a list may show a deal late. */
export function dealsFromMs({ sinceMs, shownToMs, readToMs }: DealsState, nowMs: number): number {
  const countFromMs = Math.min(sinceMs, ...shownToMs.values());
  const fromMs = Math.max(countFromMs, Math.min(readToMs, nowMs) - longestLagMs);
  // A time in the future was noted before the clock was set back.
  return Math.max(Math.min(fromMs, nowMs), nowMs - farthestBackMs);
}

/** Notes until when the deals were read. @returns the state from now on */
export async function noteRead(
  { facts }: Pick<DealServices, 'facts'>,
  account: string,
  state: DealsState,
  nowMs: number,
): Promise<DealsState> {
  if (Math.abs(nowMs - state.readToMs) < storeEveryMs) return state;
  const next = { ...state, readToMs: nowMs };
  await facts.write(account, 'deals', describeState(next));
  return next;
}

/**
 * Begins to count the deals of an account, with what it holds: without that, the close of an older position would count
 * as an order that opens the opposite one.
 *
 * It begins on the exchange's clock. On the relay's, a close of the seconds before it would come after it where that clock is
 * behind, and one of the seconds after it before it where that is ahead.
 *
 * @throws ExchangeError when time, positions or deals cannot be read; RelayError `store_unavailable`
 */
async function beginDeals(
  { ledger, executions, facts }: Pick<DealServices, 'ledger' | 'executions' | 'facts'>,
  account: Account,
  { client, options }: DealSource,
): Promise<DealsState> {
  const { name, markets } = account;
  const { nowMs: sinceMs } = await client.call(serverTime, {}, options);
  // A key for spot alone may not read positions.
  const isSpotAlone = Object.values(markets).every(({ tradesOn }) => tradesOn === 'spot');
  const held = isSpotAlone ? nothingHeld : await readHeld(client, sinceMs, options);
  const own = await listOwn({ ledger, executions }, account, null);
  const traded = new Set(
    own.flatMap((entry) => (hasOnlyToReduce(entry) ? [] : (entry.signal?.market ?? []))),
  );
  const atMs = sinceMs - mostClockAheadMs;
  for await (const { market } of listFills(executions, name, atMs, sinceMs + mostClockAheadMs))
    traded.add(market);
  const books = held.positions.flatMap(({ market, positionSide, amount, basePrice }) =>
    basePrice === null
      ? []
      : [[bookKeyOf(market, positionSide), { amount, cost: amount.abs().times(basePrice) }] as const],
  );
  const shownToMs = findShown(held, sinceMs, atMs);
  const first = { atMs, books: new Map(books), except: traded };
  const state = { sinceMs, first, shownToMs, readToMs: sinceMs };
  // Another process may have begun at the same time, and sent an order since.
  if (await facts.replace(name, 'deals', describeState(state), null)) return state;
  return (await readDealsState(facts, name)) ?? state;
}

/**
 * The state of an account, which begins now if the account was never read.
 *
 * @returns null when it is not known what the account holds: the next reading tries again
 * @throws RelayError `store_unavailable`
 */
export async function findDealsState(
  services: Pick<DealServices, 'ledger' | 'executions' | 'facts' | 'log'>,
  account: Account,
  source: DealSource,
): Promise<DealsState | null> {
  const state = await readDealsState(services.facts, account.name);
  if (state !== null) return state;
  try {
    return await beginDeals(services, account, source);
  } catch (error) {
    if (!(error instanceof ExchangeError)) throw error;
    services.log.warn('what the account holds could not be read; the relay tries again', {
      account: account.name,
      reason: describeSafely(error),
    });
    return null;
  }
}

/** Whether its order can only reduce what the account held before, and has not done so yet. */
function hasOnlyToReduce(entry: Entry): boolean {
  const record = orderRecordOf(entry);
  const { status, asked = null } = record ?? {};
  if (record === null || status !== 'placed' || asked === null) return false;
  return isMarkedReducing(asked) && filledBy(record).eq(zero);
}

/**
 * Stores the deals that belong to no signal. Those of an order that is followed are stored when it is. One that turns out
 * later to be a signal's becomes that signal's fill when the signal is followed, because both have the same key.
 *
 * @param deals without those of followed orders
 * @returns `fresh`: those that were not stored yet, also those of signals; `open`: the names of those that are not settled: no
 *   list shows yet that their order filled so much, or what they changed; `isWhole`: false when a list that would tell it could
 *   not be read, so that the deals must be read again; `ended`: orders that a list has shown meanwhile as ended
 * @throws RelayError `store_unavailable`
 */
export async function storeOthers(
  services: DealServices,
  account: string,
  state: DealsState,
  deals: readonly AccountDeal[],
  source: DealSource & { readonly listed?: readonly ListedFilled[] },
): Promise<{
  readonly fresh: readonly Fill[];
  readonly open: ReadonlySet<string>;
  readonly isWhole: boolean;
  readonly ended: readonly EndedOrder[];
}> {
  const { ledger, executions } = services;
  const open = new Set<string>();
  const counted = deals.filter(({ atMs, market }) => atMs > heldToMs(state, market));
  if (counted.length === 0) return { fresh: [], open, isWhole: true, ended: [] };
  const times = counted.map(({ atMs }) => atMs);
  const stored = new Set<string>();
  const others: Fill[] = [];
  const storedOthers: Fill[] = [];
  const known = new Map<string, Fill[]>();
  for await (const fill of listFills(executions, account, Math.min(...times), Math.max(...times) + 1)) {
    stored.add(fillNameOf(fill));
    const key = `${fill.market} ${fill.orderId}`;
    if (!isOfSignal(fill)) storedOthers.push(fill);
    else known.set(key, [...(known.get(key) ?? []), fill]);
  }
  const fresh = counted.filter(
    ({ market, id, orderId }) => !stored.has(fillNameOf({ market, dealId: id, orderId })),
  );
  const ofSignals: Fill[] = [];
  for (const [key, ofOrder] of Map.groupBy(fresh, ({ market, orderId }) => `${market} ${orderId}`)) {
    const [{ market, orderId } = { market: '', orderId: 0 }] = ofOrder;
    // What is listed of such an order beyond what it has filled is a deal under a second id; the rest is stored when it is followed.
    const followed = known.get(key);
    if (followed !== undefined) {
      ofSignals.push(...takeListed(account, followed, ofOrder, source.listed ?? []));
      continue;
    }
    const isOfOrder = (one: { readonly market: string; readonly orderId: number }) =>
      one.market === market && one.orderId === orderId;
    const order = {
      market,
      orderId,
      stored: storedOthers.filter(isOfOrder),
      fresh: ofOrder.map((deal) => fillOf(account, deal)),
    };
    const doubled = hasTwins(order)
      ? await findDoubled(services, account, order, counted.filter(isOfOrder), source)
      : null;
    const fills = order.fresh.filter(({ dealId }) => doubled?.ids.has(dealId) !== true);
    if (doubled?.mayChange === true)
      for (const dealId of doubled.ids) open.add(fillNameOf({ market, dealId, orderId }));
    const entry = await ledger.findOrder(account, market, orderId);
    const record = entry === null ? null : orderRecordOf(entry);
    if (!isTold(entry)) others.push(...fills);
    else if (entry !== null && record !== null && record.isFollowed !== false)
      ofSignals.push(...fills.map((fill) => ({ ...ofRecord(fill, record), ...fillMarksOf(entry) })));
  }
  const { placed, isRead, ended } = await withPlaces(others, source, services.clock.nowMs());
  const settled: Fill[] = [];
  for (const { fill, mayBeTold } of placed)
    if (mayBeTold) open.add(fillNameOf(fill));
    else settled.push(fill);
  await executions.recordOthers(settled);
  return { fresh: [...placed.map(({ fill }) => fill), ...ofSignals], open, isWhole: isRead, ended };
}

/** The deals of an order, of which some are stored, up to what a list of orders says that it has filled. */
function takeListed(
  account: string,
  stored: readonly Fill[],
  deals: readonly AccountDeal[],
  listed: readonly ListedFilled[],
): readonly Fill[] {
  const [like] = stored;
  if (like === undefined) return [];
  const { market, orderId, signalId, role } = like;
  const filled = listed.find((order) => order.market === market && order.orderId === orderId)?.filled ?? zero;
  let left = stored.reduce((rest, { amount }) => rest.minus(parseDecimal(amount)), filled);
  return [...deals]
    .sort((one, other) => one.atMs - other.atMs || one.id - other.id)
    .flatMap((deal) => {
      if (deal.amount.gt(left)) return [];
      left = left.minus(deal.amount);
      return [{ ...like, ...fillOf(account, deal), signalId, role }];
    });
}

/** A fill of the order of a signal, as following will store it. */
function ofRecord(fill: Fill, { signalId, asked }: OrderRecord): Fill {
  return { ...fill, signalId, role: 'order', ...positionMarksOf(asked ?? {}) };
}

/** Whether the fills of an entry's own order are told by following it: it is followed, or has ended with all of them. */
function isTold(entry: Entry | null): boolean {
  const record = entry === null ? null : orderRecordOf(entry);
  if (record === null) return entry !== null;
  const { followed, isFollowed } = record;
  if (isFollowed !== false) return true;
  return followed !== null && followed.status !== 'gone' && !isStillOpen(followed.status);
}

function fillOf(account: string, deal: AccountDeal): Fill {
  const { market, id, atMs, orderId, side, role, amount, price, notional, fee, feeAsset } = deal;
  return {
    account,
    market,
    dealId: id,
    atMs,
    signalId: '',
    orderId,
    role: 'other',
    side,
    liquidity: role,
    amount: formatDecimal(amount),
    price: formatDecimal(price),
    notional: formatDecimal(notional),
    fee: formatDecimal(fee),
    feeAsset: feeAsset ?? currenciesInName(market).quote,
  };
}

function describeState({ sinceMs, first, shownToMs, readToMs }: DealsState): Json {
  const { atMs, books, except } = first;
  const aheadMs = sinceMs - atMs;
  const shown = shownToMs.size === 0 ? {} : { shownToMs: Object.fromEntries(shownToMs) };
  return { sinceMs, aheadMs, readToMs, books: describeBooks(books), except: [...except], ...shown };
}

/** Books as a fact keeps them. */
export function describeBooks(books: CostBooks): Json {
  const open = [...books].filter(([, { amount }]) => !amount.eq(zero));
  return Object.fromEntries(
    open.map(([key, { amount, cost }]) => [key, { amount: formatDecimal(amount), cost: cost.toFixed() }]),
  );
}

export function parseBooks(fact: Json | undefined): CostBooks {
  const books = Object.entries(fieldsOf(fact)).flatMap(([key, book]): (readonly [string, CostPosition])[] => {
    const { amount, cost } = fieldsOf(book);
    const position = { amount: decimalIn(amount), cost: decimalIn(cost) };
    return position.amount === null || position.cost === null
      ? []
      : [[key, { amount: position.amount, cost: position.cost }]];
  });
  return new Map(books);
}
