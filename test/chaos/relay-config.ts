import type { RelayConfig } from '../../lib/host/config.ts';
import type { TradingGround } from '../../lib/model/account.ts';
import { noticeChannels } from './notice-service.ts';

/** The two trading accounts of the relay, each with its account name at the paper exchange. */
export const tradingAccounts: Readonly<Record<string, string>> = { main: 'main', second: 'second' };
/** The one that gets alerts of every kind. */
export const mixedAccount = 'main';
/** The one whose positions the relay protects. */
export const guardedAccount = 'second';
/** An account in dry-run mode. */
export const rehearsalAccount = 'rehearsal';
export const accounts: readonly string[] = [...Object.keys(tradingAccounts), rehearsalAccount];

/** Tickers of alerts → markets of the exchange. */
export const tickers: Readonly<Record<string, string>> = {
  BTCUSDT: 'BTC_USDT',
  ETHUSDT: 'ETH_USDT',
  SOLUSDT: 'SOL_USDT',
  'BTCUSDT.P': 'BTC_PERP',
};

/**
 * The timeout of one request to the exchange; short, so that a hanging request does not block a market for
 * long.
 */
export const exchangeTimeoutMs = 2_000;

/** Short, so that most notices are listed one by one, and kills come between them. */
export const tellEveryMs = 250;

/** Small, so that a short run fills many log files. */
export const maximumLogFileBytes = 128 * 1024;

/**
 * The exits that the exchange makes of an order only reduce. One that does not can turn a position while the relay is down,
 * and no entry asks for the stop-loss of what that opens.
 */
export const exitsOfRun = { reduceOnly: true } as const;

/** Where each market trades. */
export const grounds: Readonly<Record<string, TradingGround>> = {
  BTC_USDT: 'margin',
  ETH_USDT: 'margin',
  SOL_USDT: 'spot',
  BTC_PERP: 'futures',
};

/**
 * A configuration without limits, so that only faults decide the outcome of a signal. The market orders of one account
 * are guarded.
 */
export function chaosConfig(exchangeUrl: string): RelayConfig {
  const markets = Object.fromEntries(
    Object.entries(grounds).map(([market, tradesOn]) => [market, { tradesOn }]),
  );
  const trading = Object.keys(tradingAccounts).map((name) => [
    name,
    {
      mode: 'live' as const,
      markets,
      allowUnguardedMarket: true,
      // Thousands of orders of the other account rest at once. Their positions are protected by nothing of the relay.
      protection: name === guardedAccount ? ('keep' as const) : ('alarm' as const),
      ...(name === mixedAccount ? { maxSlippage: '0.05%' } : {}),
    },
  ]);
  return {
    exchange: { address: exchangeUrl, dialect: 'live' },
    tickers,
    maxLagSeconds: 60,
    notices: { channels: [...noticeChannels] },
    accounts: {
      ...Object.fromEntries(trading),
      [rehearsalAccount]: { mode: 'dry-run', markets, allowUnguardedMarket: true },
    },
  };
}
