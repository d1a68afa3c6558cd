import type { RehearsalStep } from '../account/rehearsed.ts';
import type { Clock } from '../base/clock.ts';
import { ceilToStep, type Decimal, floorToStep, parseDecimal } from '../base/decimal.ts';
import type { ExchangeClient, SendOptions } from '../exchange/client.ts';
import { orderBook } from '../exchange/endpoints/order-book.ts';
import { ticker } from '../exchange/endpoints/ticker.ts';
import type { TradingGround } from '../model/account.ts';
import type { Market } from '../model/market.ts';
import type { RehearsalBook, StepOutcome } from './rehearsal-book.ts';

/** What the steps of a rehearsal work with. */
export interface Stage {
  readonly clock: Clock;
  /** Speaks the live dialect, and signs with the key of the account. */
  readonly client: ExchangeClient;
  readonly market: Market;
  readonly ground: TradingGround;
  readonly book: RehearsalBook;
  /** How far beyond the best opposite price the entry of the last step may fill, as a rate. */
  readonly slippageRate: Decimal;
  readonly limits: SendOptions;
}

/** One step of a rehearsal. */
export interface TrialStep {
  readonly name: RehearsalStep;
  /** What it does, as the object of a question: `Read every list once?` */
  readonly title: string;
  /** Asks the exchange. What it leaves there is removed by whoever runs it. */
  run(stage: Stage): Promise<StepOutcome>;
}

/** The prices of the market now. */
export interface Prices {
  /** The dearest offer to buy, and the cheapest offer to sell. */
  readonly bid: Decimal;
  readonly ask: Decimal;
  readonly last: Decimal;
}

/** @returns null when nobody offers one of the sides, or there was no trade yet */
export async function readPrices({ client, market, limits }: Stage): Promise<Prices | null> {
  const { bids, asks } = await client.call(orderBook, { market: market.name, limit: 10 }, limits);
  const last = (await client.call(ticker, {}, limits))[market.name];
  const [bid, ask] = [bids[0]?.price, asks[0]?.price];
  return bid === undefined || ask === undefined || last === undefined ? null : { bid, ask, last };
}

export const noPrices =
  'nobody offers one of the sides of this market now, so nothing can be tried; try again later';

/** So far below the best price that nothing fills there, and still within the price band of the exchange. */
const farRate = parseDecimal('0.7');

export function farPrice({ bid }: Prices, { priceStep }: Market): Decimal {
  return floorToStep(bid.times(farRate), priceStep);
}

/** The smallest limit buy that fills nothing. */
export function farBuy({ market, ground }: Stage, prices: Prices) {
  const price = farPrice(prices, market);
  const type = ground === 'spot' ? ('spot_limit' as const) : ('limit' as const);
  return { type, side: 'buy' as const, amount: smallestAmount(price, market), price };
}

/** The exchange counts the fee of some orders into their least notional. */
const notionalRoom = parseDecimal('1.05');

/** The smallest amount that the market takes at a price, in base units. */
export function smallestAmount(price: Decimal, { minAmount, minTotal, amountStep }: Market): Decimal {
  const amount = ceilToStep(minTotal.times(notionalRoom).div(price), amountStep);
  return amount.gt(minAmount) ? amount : minAmount;
}

const pollMs = 500;
/** A list that does not show it by then does not show it. */
export const longestWaitMs = 30_000;

/** A reading, and how long after the first one it came; null: it did not come. */
export type Waited<T> = { readonly value: T; readonly afterMs: number } | null;

/** Reads again and again until there is something. @param read null: not yet */
export async function askUntilSeen<T extends object>(
  { clock }: Pick<Stage, 'clock'>,
  read: () => Promise<T | null>,
  longestMs: number = longestWaitMs,
): Promise<Waited<T>> {
  const sinceMs = clock.nowMs();
  for (;;) {
    const value = await read();
    const afterMs = clock.nowMs() - sinceMs;
    if (value !== null) return { value, afterMs };
    if (afterMs >= longestMs) return null;
    await clock.sleep(pollMs);
  }
}
