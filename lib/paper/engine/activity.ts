import { type ExchangeState, lastPriceOf } from './exchange-state.ts';
import { marketNamed } from './markets.ts';
import {
  addTrade,
  type HourOfTrades,
  joinSums,
  type PublicTrade,
  type SumOfTrades,
  sumOfNone,
} from './trade-records.ts';

const msPerHour = 3_600_000;
const hoursKept = 24;

/** Adds a trade to the hour it belongs to, and forgets hours that are too old. */
export function recordActivity(
  state: ExchangeState,
  market: string,
  trade: Pick<PublicTrade, 'price' | 'amount' | 'atMs'>,
): void {
  const hour = Math.floor(trade.atMs / msPerHour);
  const hours = recentHours(state, market, hour);
  const last = hours.at(-1);
  const [before, current] =
    last?.hour === hour
      ? [hours.slice(0, -1), last]
      : [hours, sumOfNone(last?.close ?? marketNamed(market).startPrice)];
  state.activity.set(market, [...before, { hour, ...addTrade(current, trade) }]);
}

/** A clock that was set back leaves hours of the future. They are dropped too. */
function recentHours(state: ExchangeState, market: string, hour: number): HourOfTrades[] {
  const hours = state.activity.get(market) ?? [];
  return hours.filter((kept) => kept.hour > hour - hoursKept && kept.hour <= hour);
}

/** The trades of the last 24 hours, counted from the start of an hour. Without a trade, the volumes are zero. */
export function activityOf(state: ExchangeState, market: string, atMs: number): SumOfTrades {
  const [first, ...others] = recentHours(state, market, Math.floor(atMs / msPerHour));
  if (first === undefined) return sumOfNone(lastPriceOf(state, market));
  return others.reduce<SumOfTrades>(joinSums, first);
}
