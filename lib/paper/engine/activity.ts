import { type Decimal, zero } from '../../base/decimal.ts';
import { type ExchangeState, lastPriceOf } from './exchange-state.ts';
import { marketNamed } from './markets.ts';
import type { HourOfTrades, PublicTrade } from './trade-records.ts';

/** What the trades of a market add up to. Prices are in the quote currency. */
export type Activity = Omit<HourOfTrades, 'hour'>;

const msPerHour = 3_600_000;
const hoursKept = 24;

/** Adds a trade to the hour it belongs to, and forgets hours that are too old. */
export function recordActivity(
  state: ExchangeState,
  market: string,
  { price, amount, atMs }: Pick<PublicTrade, 'price' | 'amount' | 'atMs'>,
): void {
  const hour = Math.floor(atMs / msPerHour);
  const hours = recentHours(state, market, hour);
  const current = hours.at(-1)?.hour === hour ? hours.at(-1) : undefined;
  const kept = current ?? createHour(hour, hours.at(-1)?.close ?? marketNamed(market).startPrice);
  kept.high = price.gt(kept.high) ? price : kept.high;
  kept.low = price.lt(kept.low) ? price : kept.low;
  kept.close = price;
  kept.baseVolume = kept.baseVolume.plus(amount);
  kept.quoteVolume = kept.quoteVolume.plus(amount.times(price));
  state.activity.set(market, current === undefined ? [...hours, kept] : hours);
}

/** A clock that was set back leaves hours of the future. They are dropped too. */
function recentHours(state: ExchangeState, market: string, hour: number): HourOfTrades[] {
  const hours = state.activity.get(market) ?? [];
  return hours.filter((kept) => kept.hour > hour - hoursKept && kept.hour <= hour);
}

function createHour(hour: number, open: Decimal): HourOfTrades {
  return { hour, open, high: open, low: open, close: open, baseVolume: zero, quoteVolume: zero };
}

/** The trades of the last 24 hours, counted from the start of an hour. Without a trade, the volumes are zero. */
export function activityOf(state: ExchangeState, market: string, atMs: number): Activity {
  const [first, ...others] = recentHours(state, market, Math.floor(atMs / msPerHour));
  if (first === undefined) return createHour(0, lastPriceOf(state, market));
  return others.reduce<Activity>(
    (sum, hour) => ({
      open: sum.open,
      high: hour.high.gt(sum.high) ? hour.high : sum.high,
      low: hour.low.lt(sum.low) ? hour.low : sum.low,
      close: hour.close,
      baseVolume: sum.baseVolume.plus(hour.baseVolume),
      quoteVolume: sum.quoteVolume.plus(hour.quoteVolume),
    }),
    first,
  );
}
