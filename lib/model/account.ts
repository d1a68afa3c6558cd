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

/** Why an account in this mode only rehearses; null when its orders are sent. */
export function findRehearsalReason(mode: AccountMode, isPaperExchange: boolean): string | null {
  if (mode === 'dry-run') return 'the account is in dry-run mode';
  if (mode === 'live' || isPaperExchange) return null;
  return "the account is in paper mode and this relay has no paper exchange (to trade real money, set the account's mode to 'live' in relay.config.ts and deploy)";
}

/**
 * The account of the exchange on which a market trades: `spot` exchanges base and quote, `margin` and `futures` open
 * positions on the collateral account.
 */
export const tradingGrounds = ['spot', 'margin', 'futures'] as const;
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
  readonly maxOrdersPerMinute: number | null;
  readonly maxSignalsPerMinute: number | null;
  /** What becomes of the position when an alert presumes another one. */
  readonly onMismatch: MismatchRule;
  /**
   * Whether a second strategy is denied while the first one holds a position in a market; null: in the markets where
   * targets are used.
   */
  readonly oneStrategyPerMarket: boolean | null;
}

export interface MarketLimits {
  readonly tradesOn: TradingGround;
  readonly sides: readonly Side[];
  /** The largest order, in base units. */
  readonly maxAmount: Decimal | null;
  /** The largest notional of an order, in the quote currency. */
  readonly maxNotional: Decimal | null;
}
