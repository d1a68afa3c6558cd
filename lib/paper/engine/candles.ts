import type { ExchangeState } from './exchange-state.ts';
import { marketNamed } from './markets.ts';
import { addTrade, joinSums, type MinuteOfTrades, type PublicTrade, sumOfNone } from './trade-records.ts';

const minutesKept = 1440;
const msPerMinute = 60_000;

/** Adds a trade to the minute it belongs to. A clock that was set back begins anew. */
export function recordMinute(
  state: ExchangeState,
  market: string,
  trade: Pick<PublicTrade, 'price' | 'amount' | 'atMs'>,
): void {
  const minute = Math.floor(trade.atMs / msPerMinute);
  const known = state.minutes.get(market) ?? [];
  const kept = (known.at(-1)?.minute ?? minute) > minute ? [] : known;
  const last = kept.at(-1);
  const current = last?.minute === minute ? kept.pop() : undefined;
  const sum = current ?? sumOfNone(last?.close ?? marketNamed(market).startPrice);
  kept.push({ minute, ...addTrade(sum, trade) });
  if (kept.length > minutesKept) kept.shift();
  state.minutes.set(market, kept);
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
    if (last?.minute === minute) candles[candles.length - 1] = { minute, ...joinSums(last, each) };
    else candles.push({ ...each, minute });
  }
  const asked = candles.filter(
    ({ minute }) => minute * msPerMinute >= fromMs && minute * msPerMinute <= untilMs,
  );
  return asked.slice(-limit);
}
