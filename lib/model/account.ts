import type { Decimal } from '../base/decimal.ts';
import type { Side } from './order.ts';
import type { Region } from './region.ts';
import type { MismatchRule } from './signal.ts';

/**
 * What becomes of an account's orders and cancellations: `live` sends them to whatever exchange the relay has; `paper`
 * sends them to a paper exchange and rehearses everywhere else; `dry-run` always rehearses. A rehearsal does everything
 * except sending.
 */
export const accountModes = ['live', 'paper', 'dry-run'] as const;
export type AccountMode = (typeof accountModes)[number];

/**
 * Why an account in this mode only rehearses; null when its orders are sent.
 *
 * @see DECISIONS 102
 */
export function findRehearsalReason(mode: AccountMode, isPaperExchange: boolean): string | null {
  if (mode === 'dry-run') return 'the account is in dry-run mode';
  if (mode === 'live' || isPaperExchange) return null;
  return "the account is in paper mode and this relay has no paper exchange (to trade real money, set the account's mode to 'live' in relay.config.ts, then deploy or start again)";
}

/**
 * The account of the exchange on which a market trades: `spot` exchanges base and quote, `margin` and `futures` open
 * positions on the collateral account.
 */
export const tradingGrounds = ['spot', 'margin', 'futures'] as const;

/** @see DECISIONS 122 */
export type TradingGround = (typeof tradingGrounds)[number];

/** One trading account and the rules that its owner set for it. */
export interface Account {
  /** As it appears in the webhook URL. */
  readonly name: string;
  readonly mode: AccountMode;
  /** Whose rules the exchange applies to this account; null: no region restricts it. */
  readonly region: Region | null;
  /** How far beyond the stop price the limit is set when an alert gives none, as a rate (0.001 = 0.1 %). */
  readonly limitOffsetRate: Decimal | null;
  /**
   * How far a limit price may lie beyond its stop price, above it for a buy and below it for a sell, as a
   * rate; null for any distance. A plain limit order has no stop price, so this does not apply to it.
   */
  readonly maxLimitDistanceRate: Decimal | null;
  /** The markets that the account may trade; signals for any other market are denied. */
  readonly markets: Readonly<Record<string, MarketLimits>>;
  /**
   * How far beyond the best opposite price a market order may fill, as a rate; null: only as an alert's own
   * `maxSlippage` says. An alert can only lower it.
   */
  readonly maxSlippageRate: Decimal | null;
  /** Whether orders may be sent that fill at any price: market orders without `maxSlippage`, stop-market orders. */
  readonly allowUnguardedMarket: boolean;
  /** What an order without `orderType` and without a price is; null: it is refused. */
  readonly defaultOrderType: 'market' | null;
  /** Whether `prev_market_position` of an alert decides as its `requirePosition` does; false: another position is told. */
  readonly requirePosition: boolean;
  /** Of orders that may open or enlarge a position; null: as many as come. */
  readonly maxOrdersPerMinute: number | null;
  /** Of signals that may open or enlarge a position, and as many again of those that cannot; null: as many as come. */
  readonly maxSignalsPerMinute: number | null;
  /** What holds for the account as a whole; absent: the account sets no such limit. */
  readonly limits?: RiskLimits;
  /** What becomes of the position when an alert presumes another one. */
  readonly onMismatch: MismatchRule;
  /**
   * Whether a second strategy is denied while the first one holds a position in a market; null: in the markets where
   * targets are used.
   */
  readonly oneStrategyPerMarket: boolean | null;
  /** What becomes of a stop-loss or take-profit that does not fit its position any more; absent: as `alarm`. */
  readonly protection?: ProtectionRule;
  /** How the relay places a stop-loss itself; absent: as `limit`. */
  readonly stopKind?: StopKind;
}

/** `keep`: it is replaced, and one that is missing is placed. `alarm`: an alarm is raised, and nothing is changed. */
export const protectionRules = ['keep', 'alarm'] as const;
export type ProtectionRule = (typeof protectionRules)[number];

/** `limit`: with a limit price a little beyond its trigger price. `market`: it fills at any price. */
export const stopKinds = ['limit', 'market'] as const;
export type StopKind = (typeof stopKinds)[number];
export const fillsAtAnyPrice: Readonly<Record<StopKind, boolean>> = { limit: false, market: true };

/** Limits of growing risk. Orders that only reduce a position pass them all. Amounts are in USDT. */
export interface RiskLimits {
  /** The notional of all positions and open orders, the new order included. */
  readonly maxOpenNotional: Decimal | null;
  /** The loss of a day at which the account is paused: realised profit of the day and floating profit, together. */
  readonly maxDailyLoss: Decimal | null;
  /** How long nothing is opened after a fill that closed at a loss. */
  readonly coolDownMs: number | null;
  /** When orders may be sent; null: at any time. */
  readonly tradingWindows: readonly TradingWindow[] | null;
  /** In which days begin and windows are written, as a name of the tz database. */
  readonly timeZone: string;
}

export const weekdays = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'] as const;
export type Weekday = (typeof weekdays)[number];

/** A time of some days of the week. One that ends at or before its beginning ends on the next day. */
export interface TradingWindow {
  readonly days: readonly Weekday[];
  /** In minutes after midnight; this minute is included. */
  readonly fromMinute: number;
  /** In minutes after midnight, 1440 for its end; this minute is not included. */
  readonly untilMinute: number;
}

export interface MarketLimits {
  readonly tradesOn: TradingGround;
  readonly sides: readonly Side[];
  /** The largest order, in base units. */
  readonly maxAmount: Decimal | null;
  /** The largest notional of an order, in the quote currency. */
  readonly maxNotional: Decimal | null;
  /** The largest position that an order may lead to, in base units, on either side; absent or null: any. */
  readonly maxPosition?: Decimal | null;
}

/** On which account of the exchange a market is traded; undefined for a market that the account does not trade. */
export function tradingGroundOf(
  { markets }: Pick<Account, 'markets'>,
  market: string | undefined,
): TradingGround | undefined {
  return market === undefined ? undefined : markets[market]?.tradesOn;
}
