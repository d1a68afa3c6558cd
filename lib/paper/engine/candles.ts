import { type Decimal, zero } from '../../base/decimal.ts';
import type { ExchangeState } from './exchange-state.ts';
import { marketNamed } from './markets.ts';
import type { MinuteOfTrades, PublicTrade } from './trade-records.ts';

const minutesKept = 1440;
const msPerMinute = 60_000;

/** Adds a trade to the minute it belongs to. A clock that was set back begins anew. */
export function recordMinute(
  state: ExchangeState,
  market: string,
  { price, amount, atMs }: Pick<PublicTrade, 'price' | 'amount' | 'atMs'>,
): void {
  const minute = Math.floor(atMs / msPerMinute);
  const known = state.minutes.get(market) ?? [];
  const kept = (known.at(-1)?.minute ?? minute) > minute ? [] : known;
  const last = kept.at(-1);
  const current =
    last?.minute === minute ? last : createMinute(minute, last?.close ?? marketNamed(market).startPrice);
  current.high = price.gt(current.high) ? price : current.high;
  current.low = price.lt(current.low) ? price : current.low;
  current.close = price;
  current.baseVolume = current.baseVolume.plus(amount);
  current.quoteVolume = current.quoteVolume.plus(amount.times(price));
  if (current !== last) kept.push(current);
  if (kept.length > minutesKept) kept.shift();
  state.minutes.set(market, kept);
}

function createMinute(minute: number, open: Decimal): MinuteOfTrades {
  return { minute, open, high: open, low: open, close: open, baseVolume: zero, quoteVolume: zero };
}

/** Which candles are asked for. */
export interface CandleQuery {
  readonly minutes: number;
  readonly fromMs: number;
  /** The last beginning. */
  readonly untilMs: number;
  readonly limit: number;
}

/**
 * The newest candles of a market, oldest first: of the trades since this process started. Nothing stands for a time without
 * trades.
 */
export function candlesOf(
  state: ExchangeState,
  market: string,
  { minutes, fromMs, untilMs, limit }: CandleQuery,
): readonly MinuteOfTrades[] {
  const candles: MinuteOfTrades[] = [];
  for (const each of state.minutes.get(market) ?? []) {
    const minute = Math.floor(each.minute / minutes) * minutes;
    const last = candles.at(-1);
    if (last?.minute === minute) addTo(last, each);
    else candles.push({ ...each, minute });
  }
  const asked = candles.filter(
    ({ minute }) => minute * msPerMinute >= fromMs && minute * msPerMinute <= untilMs,
  );
  return asked.slice(-limit);
}

function addTo(candle: MinuteOfTrades, { high, low, close, baseVolume, quoteVolume }: MinuteOfTrades): void {
  candle.high = high.gt(candle.high) ? high : candle.high;
  candle.low = low.lt(candle.low) ? low : candle.low;
  candle.close = close;
  candle.baseVolume = candle.baseVolume.plus(baseVolume);
  candle.quoteVolume = candle.quoteVolume.plus(quoteVolume);
}
