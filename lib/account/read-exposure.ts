import type { Clock } from '../base/clock.ts';
import { type Decimal, sumOf, zero } from '../base/decimal.ts';
import type { ExchangeClient, SendOptions } from '../exchange/client.ts';
import { longestPositionLagMs } from '../exchange/lag.ts';
import { listOpenOrders } from '../exchange/list-open-orders.ts';
import { cancelReportsIn } from '../ledger/cancel-reports.ts';
import type { Entry } from '../ledger/entry.ts';
import type { Executions } from '../ledger/executions.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { listRecords } from '../ledger/order-record.ts';
import { limitsOf } from '../limits/check-order.ts';
import type { CountedOrder, CountedPosition, Exposure } from '../limits/counted-holdings.ts';
import type { Account } from '../model/account.ts';
import { isOfSignal } from '../model/execution.ts';
import type { OpenPosition } from '../model/holdings.ts';
import { currenciesInName } from '../model/market.ts';
import { isMarkedReducing, isOrderEnd, type Order, positionSides } from '../model/order.ts';
import { countExcess } from './excess-exits.ts';
import { exitTest } from './exits.ts';
import { findUnlisted, type OwnView } from './find-unlisted.ts';
import type { OwnOrder } from './own-orders.ts';
import { describeHidden, type PositionsReading, readPositions } from './read-positions.ts';
import type { UsdtPrices } from './usdt-prices.ts';

export interface AccountServices {
  readonly clock: Clock;
  readonly ledger: Ledger;
  readonly executions: Executions;
}

/** What an account has at stake, and on what that is based. */
export interface ExposureReading {
  readonly exposure: Exposure;
  readonly reading: PositionsReading;
  /** The open orders that are listed. */
  readonly open: readonly Order[];
  /** The floating profit of the positions, in USDT. */
  readonly floating: Decimal;
  /** The floating profit of each position that was read, in USDT; zero where it is not known. */
  readonly floatings: readonly Decimal[];
  /** What was opened by fills of the last seconds that no position shows yet. */
  readonly justOpened: readonly JustOpened[];
  /** When those seconds ended, on this machine's clock. */
  readonly countedAtMs: number;
  /** What could not be counted, one sentence each; while there is any, nothing may be opened. */
  readonly unknown: readonly string[];
  /** What of it is about orders. */
  readonly unknownOrders: readonly string[];
  /** The signals whose orders are counted, or listed by the exchange. */
  readonly seen: ReadonlySet<string>;
}

/** What an order has opened by fills that no position shows yet. */
export interface JustOpened extends Pick<OwnOrder, 'signalId' | 'market' | 'positionSide' | 'side'> {
  /** In base units. */
  readonly amount: Decimal;
  /** Its profit at the price of now, in USDT. */
  readonly floating: Decimal;
}

export interface ExposureScope {
  readonly client: ExchangeClient;
  readonly limits: SendOptions;
  readonly prices: UsdtPrices;
  /** Whose open orders are counted; null: of all markets. */
  readonly market: string | null;
  /** Whether the open orders of all markets are listed, whichever of them are counted. */
  readonly listsAll: boolean;
}

/** The most orders of the relay that are counted. */
const mostOwn = 1000;

/**
 * Reads positions and open orders of an account. The ledger is read first, then the open orders, then the positions: an
 * order that is filled meanwhile is counted twice rather than not at all.
 *
 * @throws ExchangeError when the exchange cannot be read; RelayError `store_unavailable`
 */
export async function readExposure(
  services: AccountServices,
  account: Account,
  scope: ExposureScope,
): Promise<ExposureReading> {
  const { client, limits, prices, market, listsAll } = scope;
  const { entries, records, fills, late } = await listOwnAndFilled(services, account, market);
  const all = await listOpenOrders(client, listsAll ? null : market, limits);
  const open = { ...all, orders: all.orders.filter((order) => market === null || order.market === market) };
  const reading = await readPositions({ client, clock: services.clock, limits });
  const { positions } = reading;
  const view = { account, listed: open.orders, positions, nowMs: services.clock.nowMs() };
  const unlisted = findUnlisted({ ...view, records, fills });
  const isExit = exitTest(
    records,
    reading.positions.map(({ tpsl }) => tpsl),
  );
  const unknownOrders: string[] = open.isWhole ? [] : ['the list of open orders cannot be read completely'];
  const valued = await valuePositions(reading.positions, prices);
  // What the owner has on spot is no part of a position.
  const openOrders = open.orders.filter(
    ({ status, market: of, onSpot }) =>
      !isOrderEnd(status) && (onSpot !== true || limitsOf(account, of)?.tradesOn === 'spot'),
  );
  const listed = await Promise.all(openOrders.map((order) => countListed(account, order, isExit, prices)));
  const counted = await Promise.all(unlisted.map((order) => countOwn(order, prices)));
  const take = (values: readonly (CountedOrder | string)[]): readonly CountedOrder[] =>
    values.flatMap((value) => {
      if (typeof value !== 'string') return [value];
      unknownOrders.push(value);
      return [];
    });
  const exits = openOrders.flatMap((order, index) => {
    const one = listed[index];
    return one === undefined || typeof one === 'string' || !isExit(order) ? [] : [{ order, counted: one }];
  });
  const unseen = take(counted);
  const listedOrders = take(listed);
  const excess = countExcess(exits, valued.positions, unseen);
  const countsLoss = (account.limits?.maxDailyLoss ?? null) !== null;
  const justFilled = await openedBy(countsLoss ? findUnlisted({ ...view, ...late }) : [], prices);
  return {
    exposure: { positions: valued.positions, orders: [...listedOrders, ...unseen, ...excess] },
    reading,
    open: all.orders,
    floating: valued.floating,
    floatings: valued.floatings,
    justOpened: justFilled.opened,
    countedAtMs: view.nowMs,
    unknown: [...unknownOrders, ...describeHidden(reading), ...valued.unknown, ...justFilled.unknown],
    unknownOrders,
    seen: new Set(entries.map(({ signalId }) => signalId)),
  };
}

/**
 * The entries whose orders count as open, and those that are followed.
 *
 * @param market null: of all markets of the account
 */
export async function listOwn(
  {
    ledger,
    executions,
  }: Pick<AccountServices, 'executions'> & { readonly ledger: Pick<Ledger, 'openOrders'> },
  { name, markets }: Account,
  market: string | null,
): Promise<readonly Entry[]> {
  const asked = market === null ? Object.keys(markets) : [market];
  const [followed, ...open] = await Promise.all([
    executions.followed(name, mostOwn),
    ...asked.map((one) => ledger.openOrders(name, one, mostOwn)),
  ]);
  const all = [...open.flat(), ...followed.filter(({ signal }) => asked.includes(signal?.market ?? ''))];
  return [...new Map(all.map((entry) => [entry.signalId, entry])).values()];
}

/** The most fills of the last seconds that are counted. */
const mostLately = 500;

/** The most signals among which orders and cancellations of the last seconds are looked for. */
const mostRecent = 25;

interface OwnAndFilled extends Pick<OwnView, 'records' | 'fills'> {
  readonly entries: readonly Entry[];
  /** What was placed and filled lately in all markets. */
  readonly late: Pick<OwnView, 'records' | 'fills'>;
}

/**
 * Those entries and those that were placed or filled so lately that the list of positions may not show it, with the records
 * of their orders, and these fills.
 */
export async function listOwnAndFilled(
  services: AccountServices,
  account: Account,
  market: string | null,
): Promise<OwnAndFilled> {
  const { clock, ledger, executions } = services;
  const nowMs = clock.nowMs();
  const [own, recent, page] = await Promise.all([
    listOwn(services, account, market),
    ledger.list({ account: account.name, limit: mostRecent }),
    executions.listFills({
      account: account.name,
      fromMs: nowMs - longestPositionLagMs,
      untilMs: nowMs + longestPositionLagMs,
      limit: mostLately,
    }),
  ]);
  const filled = page.fills.filter(isOfSignal);
  const fills = filled.filter((fill) => market === null || fill.market === market);
  // With very many followed orders, an order of the last seconds may not be among those that were read.
  const lately = recent.entries.filter(
    ({ status, execution }) => status === 'placed' && execution?.isFollowed !== false,
  );
  const placed = lately.filter(({ signal }) => market === null || signal?.market === market);
  const listed = new Set(own.map(({ signalId }) => signalId));
  const missing = new Set(fills.map(({ signalId }) => signalId).filter((signalId) => !listed.has(signalId)));
  const read = await Promise.all(
    [...missing].map((signalId) => ledger.read({ account: account.name, signalId })),
  );
  // Where an entry was read twice, the later one counts: the list of an account may lag behind.
  const found = [...placed, ...own, ...read.filter((entry) => entry !== null)];
  const entries = [...new Map(found.map((entry) => [entry.signalId, entry])).values()];
  const reports = cancelReportsIn(recent.entries);
  const late = { records: listRecords(lately, reports), fills: filled };
  return { entries, records: listRecords(entries, reports), fills, late };
}

interface ValuedPosition extends CountedPosition {
  /** Null when it is not known. */
  readonly floating: Decimal | null;
  /** What is not known, in one sentence; null: nothing. */
  readonly unknown: string | null;
}

/** What positions are worth now, and their floating profit, in USDT. */
export async function valuePositions(
  positions: readonly OpenPosition[],
  prices: UsdtPrices,
): Promise<{
  readonly positions: readonly CountedPosition[];
  readonly floating: Decimal;
  /** That of each position, in their order; zero where it is not known. */
  readonly floatings: readonly Decimal[];
  /** What is not known, one sentence each. */
  readonly unknown: readonly string[];
}> {
  const valued = await Promise.all(positions.map((position) => valuePosition(position, prices)));
  const known = valued.flatMap(({ floating }) => floating ?? []);
  return {
    positions: valued,
    floating: sumOf(known),
    floatings: valued.map(({ floating }) => floating ?? zero),
    unknown: valued.flatMap(({ unknown }) => unknown ?? []),
  };
}

/** What a position is worth follows from its entry price and its profit; only without those the ticker is read. */
async function valuePosition(position: OpenPosition, prices: UsdtPrices): Promise<ValuedPosition> {
  const { market, amount, positionSide, basePrice } = position;
  const held = { market, amount, positionSide };
  // An order against it still only reduces it.
  const withoutValue = (unknown: string) => ({ ...held, notional: zero, floating: null, unknown });
  const rate = await prices.rateOf(currenciesInName(market).quote);
  if (rate === null) return withoutValue(`the value of the position in ${market} in USDT is not known`);
  if (basePrice === null)
    return withoutValue(`the exchange does not say the entry price of the position in ${market}`);
  const cost = amount.times(basePrice).times(rate);
  if (position.floatingProfit !== null) {
    const floating = position.floatingProfit.times(rate);
    return { ...held, notional: cost.plus(floating).abs(), floating, unknown: null };
  }
  const last = await prices.lastOf(market);
  if (last === null) return withoutValue(`the profit of the position in ${market} is not known`);
  const value = amount.times(last);
  return { ...held, notional: value.abs(), floating: value.minus(cost), unknown: null };
}

async function countListed(
  account: Account,
  order: Order,
  isExit: (order: Order) => boolean,
  prices: UsdtPrices,
): Promise<CountedOrder | string> {
  const { market, side, remaining: amount, orderId, reduceOnly } = order;
  const positionSide = positionSides.find((one) => one === order.positionSide);
  const isSpot = limitsOf(account, market)?.tradesOn === 'spot';
  const notional = await valueAmount(order, isSpot, prices);
  if (notional === null) return `the value of order ${orderId} in ${market} in USDT is not known`;
  return {
    market,
    side,
    positionSide,
    amount,
    notional,
    onlyReduces:
      isExit(order) || isMarkedReducing({ side, positionSide, reduceOnly }) || (isSpot && side === 'sell'),
    rests: true,
  };
}

async function valueAmount(order: Order, isSpot: boolean, prices: UsdtPrices): Promise<Decimal | null> {
  const { market, remaining, price, activationPrice } = order;
  const rate = await prices.rateOf(currenciesInName(market).quote);
  if (rate === null) return null;
  // On spot, a buy without a limit price is sized in the quote currency.
  if (isSpot && order.side === 'buy' && !price.gt(zero)) return remaining.times(rate);
  const own = price.gt(zero) ? price : (activationPrice ?? null);
  if (own?.gt(zero)) return remaining.times(own).times(rate);
  const last = await prices.lastOf(market);
  return last === null ? null : remaining.times(last);
}

/** What these orders have opened, and of which of them the profit is not known, one sentence each. */
async function openedBy(
  filled: readonly OwnOrder[],
  prices: UsdtPrices,
): Promise<{ readonly opened: readonly JustOpened[]; readonly unknown: readonly string[] }> {
  const opened: JustOpened[] = [];
  const unknown: string[] = [];
  for (const { signalId, market, positionSide, side, amount, paid, onlyReduces } of filled) {
    // What still rests has opened nothing, and of what was closed again nothing is left.
    if (onlyReduces || paid === undefined || amount?.eq(zero) === true) continue;
    const rate = await prices.rateOf(currenciesInName(market).quote);
    const last = await prices.lastOf(market);
    if (amount === null || paid === null || rate === null || last === null) {
      unknown.push(
        `the profit of what the order of signal ${signalId} has just filled in ${market} is not known`,
      );
      continue;
    }
    const rise = last.times(amount).minus(paid.times(rate));
    const floating = side === 'buy' ? rise : rise.neg();
    opened.push({ signalId, market, positionSide, side, amount, floating });
  }
  return { opened, unknown };
}

/** An order of the relay as the limits count it, or what is not known of it. */
export async function countOwn(order: OwnOrder, prices: UsdtPrices): Promise<CountedOrder | string> {
  const { market, side, positionSide, amount, onlyReduces, rests } = order;
  const counted = { market, side, positionSide, amount, onlyReduces, rests };
  if (onlyReduces) return { ...counted, notional: zero };
  const last = order.notional === null && amount !== null ? await prices.lastOf(market) : null;
  const notional = order.notional ?? (last === null || amount === null ? null : amount.times(last));
  if (amount === null || notional === null)
    return `how much the order of signal ${order.signalId} in ${market} is worth is not known`;
  return { ...counted, notional };
}
