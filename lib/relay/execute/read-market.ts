import type { Clock } from '../../base/clock.ts';
import { type Decimal, formatDecimal, parseDecimal, zero } from '../../base/decimal.ts';
import { type Json, toJson } from '../../base/json.ts';
import type { ExchangeClient, SendOptions } from '../../exchange/client.ts';
import { collateralSummary } from '../../exchange/endpoints/collateral-summary.ts';
import { futures } from '../../exchange/endpoints/futures.ts';
import { orderBook } from '../../exchange/endpoints/order-book.ts';
import { tradeBalance } from '../../exchange/endpoints/trade-balance.ts';
import { ExchangeError } from '../../exchange/errors.ts';
import { listPositionsIn } from '../../exchange/list-positions.ts';
import type { MarketLimits } from '../../model/account.ts';
import type { Market } from '../../model/market.ts';
import type { Side } from '../../model/order.ts';
import type { OrderSignal } from '../../model/signal.ts';
import { kindNamed } from '../../orders/order-kinds.ts';
import { mayBeCut } from '../../signals/cut-sale.ts';
import {
  describeHolding,
  type FreeCollateral,
  type Holding,
  holdingToRead,
} from '../../signals/size-from-account.ts';
import type { Readings } from '../../signals/sizing.ts';

/** What was read for one order, and when. */
export interface DatedReadings extends Readings {
  /** When the reading began: nothing in it is older. Null when nothing had to be read. */
  readonly readAtMs: number | null;
  /** Why the spot balance, which a sale may be cut to, could not be read; absent: it was read, or was not needed. */
  readonly unread?: string;
}

/**
 * Nothing is sent, and no signal ends as `satisfied`, on readings that are as old as this.
 *
 * @see DECISIONS 115
 */
export const longestReadingMs = 5000;

export interface ReadOptions {
  readonly client: ExchangeClient;
  readonly clock: Clock;
  readonly limits: SendOptions;
}

/**
 * Reads what an order is priced and sized on: the order book for a kind that takes from it, the holding that its size is a
 * share of, and the spot balance that a sale may be cut to (`isCut`). Most orders need none of them, and cause no request.
 *
 * @throws ExchangeError when the exchange cannot be read
 */
export async function readForOrder(
  options: ReadOptions,
  signal: OrderSignal,
  market: Market,
  limits: MarketLimits & { readonly isCut: boolean },
): Promise<DatedReadings> {
  const { tradesOn } = limits;
  const needsBook = kindNamed(signal.orderType).takesFromBook(signal, limits);
  const of = holdingToRead(signal, tradesOn);
  const isCutTo = limits.isCut && tradesOn === 'spot' && mayBeCut(signal);
  if (!needsBook && of === null && !isCutTo) return { oppositePrice: null, holding: null, readAtMs: null };
  const readAtMs = options.clock.nowMs();
  const [oppositePrice, held] = await Promise.all([
    needsBook ? readOppositePrice(options, market.name, signal.side) : null,
    isCutTo ? readSellable(options, market.base) : readNeeded(options, of, signal.side, market),
  ]);
  const isDated = needsBook || held.holding !== null;
  return { oppositePrice, ...held, readAtMs: isDated ? readAtMs : null };
}

async function readNeeded(options: ReadOptions, of: Holding['of'] | null, side: Side, market: Market) {
  return { holding: of === null ? null : await readHolding(options, of, side, market) };
}

/** What a sale is cut to must not hold it up: without it the amount stays as it was asked for. */
async function readSellable(
  options: ReadOptions,
  currency: string,
): Promise<Pick<DatedReadings, 'holding' | 'unread'>> {
  const { timeoutMs, ...limits } = options.limits;
  const shorter = timeoutMs === undefined ? limits : { ...limits, timeoutMs: timeoutMs / 2 };
  try {
    return { holding: await readSpot({ ...options, limits: shorter }, currency) };
  } catch (error) {
    if (!(error instanceof ExchangeError)) throw error;
    return { holding: null, unread: error.message };
  }
}

/** The readings as the ledger stores them before the order is sent. */
export function describeReadings({ oppositePrice, holding, readAtMs }: DatedReadings, nowMs: number): Json {
  return toJson({
    readAtMs,
    ageMs: readAtMs === null ? null : nowMs - readAtMs,
    ...(oppositePrice === null ? {} : { oppositePrice: formatDecimal(oppositePrice) }),
    ...(holding === null ? {} : { holding: describeHolding(holding) }),
  });
}

/** The best price of the other side; null when nobody offers it. */
async function readOppositePrice(
  { client, limits }: ReadOptions,
  market: string,
  side: Side,
): Promise<Decimal | null> {
  const { asks, bids } = await client.call(orderBook, { market, limit: 1 }, limits);
  return (side === 'buy' ? asks : bids)[0]?.price ?? null;
}

function readHolding(options: ReadOptions, of: Holding['of'], side: Side, market: Market): Promise<Holding> {
  switch (of) {
    case 'spot':
      return readSpot(options, side === 'buy' ? market.quote : market.base);
    case 'collateral':
      return readCollateral(options, market);
    case 'position':
      return readPositionsOf(options, market.name);
  }
}

async function readSpot({ client, limits }: ReadOptions, currency: string): Promise<Holding> {
  const balances = await client.call(tradeBalance, {}, limits);
  const { available, freeze } = balances[currency] ?? { available: zero, freeze: zero };
  return { of: 'spot', currency, available, frozen: freeze };
}

/** The highest leverage of margin pairs; the exchange lists one for futures only. */
const mostMarginLeverage = 10;

async function readCollateral({ client, limits }: ReadOptions, market: Market): Promise<FreeCollateral> {
  const [summary, listed] = await Promise.all([
    client.call(collateralSummary, {}, limits),
    market.isFutures ? client.call(futures, {}, limits) : null,
  ]);
  const terms = listed?.[market.name];
  const leverage = Math.min(summary.leverage, terms?.maxLeverage ?? mostMarginLeverage);
  const free = market.isFutures ? (summary.futuresFreeMargin ?? summary.freeMargin) : summary.freeMargin;
  const bracket = terms?.brackets[leverage] ?? null;
  return {
    of: 'collateral',
    free,
    leverage: parseDecimal(String(leverage)),
    // Zero means that the exchange states none.
    bracket: bracket === null || bracket.eq(zero) ? null : bracket,
  };
}

async function readPositionsOf({ client, clock, limits }: ReadOptions, market: string): Promise<Holding> {
  const open = await listPositionsIn(client, market, clock.nowMs(), limits);
  return {
    of: 'position',
    positions: open.map(({ amount, positionSide }) => ({ amount, positionSide })),
  };
}
