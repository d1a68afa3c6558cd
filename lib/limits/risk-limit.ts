import { type Decimal, formatDecimal, maximum, zero } from '../base/decimal.ts';
import type { Account } from '../model/account.ts';
import type { Denial } from '../model/outcome.ts';
import type { CheckedOrder, Exposure } from './counted-holdings.ts';

/** The limits of growing risk, by their names in relay.config.ts. */
export type RiskLimitName =
  | 'maxPosition'
  | 'maxOpenNotional'
  | 'maxDailyLoss'
  | 'coolDownAfterLoss'
  | 'tradingWindows';

/** What must be read before a limit can judge. */
export interface RiskNeeds {
  /** Whether its own number is made of positions and open orders. */
  readonly holdings: boolean;
  /** Whether the open orders of all markets count, not only those of the order's market. */
  readonly allMarkets: boolean;
  /** Whether the deals of the day count. */
  readonly deals: boolean;
}

/** The result of a day so far, in USDT. */
export interface DayResult {
  /** When the day began. */
  readonly sinceMs: number;
  /** Of all deals of the day, after fees. */
  readonly realised: Decimal;
  /** Of the open positions. */
  readonly floating: Decimal;
}

/** What an account holds and has lost, as it was read at one time. */
export interface RiskFacts {
  readonly nowMs: number;
  /** Null: it was not read. */
  readonly exposure: Exposure | null;
  /** A text says what of it is not known; null: it was not read. */
  readonly day: DayResult | string | null;
  /** When a fill last closed at a loss; null: none did, or the deals were not read. */
  readonly lastLossAtMs: number | null;
}

/** One limit of growing risk: everything that the relay knows of it. It never denies an order that only reduces. */
export interface RiskLimit {
  readonly name: RiskLimitName;
  /**
   * @param market null: any market
   * @returns null when the account has no such limit there
   */
  needs(account: Account, market: string | null): RiskNeeds | null;
  /** @param checked an order that may enlarge what is at stake */
  check(checked: CheckedOrder, facts: RiskFacts, account: Account): Denial | null;
  /** How much of it is used. */
  use(facts: RiskFacts, account: Account): readonly LimitUse[];
  /**
   * Why it judges once more before the order is sent: the time may have passed its end, or orders that were planned at the
   * same time may count.
   */
  readonly again: 'time' | 'others' | null;
}

/** One limit of an account and how much of it is used; amounts are decimals in plain notation. */
export interface LimitUse {
  /** Its name in relay.config.ts; `pause` for the kill switch. */
  readonly name: string;
  /** What it holds for, for example a market and a side; null: the whole account. */
  readonly of: string | null;
  readonly limit: string;
  readonly used: string | null;
  readonly left: string | null;
  /** What the numbers are in, for example `USDT`. */
  readonly unit: string | null;
  /** Since when the use counts, or the state holds. */
  readonly sinceMs: number | null;
  /** Why an order would be denied now that enlarges what is at stake; null: it would not be. */
  readonly denies: string | null;
}

/** The use of a limit of the whole account, of which nothing else is said. */
export function unused(name: string): Omit<LimitUse, 'limit'> {
  return { name, of: null, used: null, left: null, unit: null, sinceMs: null, denies: null };
}

/** @param deny why an order would be denied when that much is left */
export function usageOf(limit: Decimal, used: Decimal, deny: (left: Decimal) => string | null) {
  const left = limit.minus(used);
  return {
    limit: formatDecimal(limit),
    used: formatDecimal(used.round(8)),
    left: formatDecimal(maximum(left, zero).round(8)),
    denies: deny(left),
  };
}

/** What cannot be counted might exceed a limit. */
export function denyUnknown({ name }: Account, unknown: readonly string[]): Denial | null {
  if (unknown.length === 0) return null;
  const all = unknown.join('; ');
  return {
    rule: 'limit_not_known',
    limit: 'known positions and orders',
    actual: all,
    message: `the limits of account ${name} cannot be checked: ${all}; orders that only reduce a position are still sent`,
  };
}
