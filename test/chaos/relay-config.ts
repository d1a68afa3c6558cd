import type { RelayConfig } from '../../lib/host/config.ts';

/** Where orders go: two accounts that trade, each at the paper exchange under the name it has there. */
export const tradingAccounts: Readonly<Record<string, string>> = { main: 'main', second: 'second' };
/** Goes all of the way but the wire. */
export const rehearsalAccount = 'rehearsal';

/** What alerts call a market → what the exchange calls it. */
export const tickers: Readonly<Record<string, string>> = {
  BTCUSDT: 'BTC_USDT',
  ETHUSDT: 'ETH_USDT',
  SOLUSDT: 'SOL_USDT',
  'BTCUSDT.P': 'BTC_PERP',
};

/** How long one request to the exchange may take: short, so that one that hangs does not hold a market for long. */
export const exchangeTimeoutMs = 2_000;

/** Small, so that a short run fills many. */
export const maximumLogFileBytes = 128 * 1024;

/** No limits: nothing but chance decides what becomes of a signal. */
export function chaosConfig(exchangeUrl: string): RelayConfig {
  const markets = Object.fromEntries(Object.values(tickers).map((market) => [market, {}]));
  const trading = Object.keys(tradingAccounts).map((name) => [name, { mode: 'live' as const, markets }]);
  return {
    exchange: { address: exchangeUrl, dialect: 'live' },
    tickers,
    maxLagSeconds: 60,
    accounts: { ...Object.fromEntries(trading), [rehearsalAccount]: { mode: 'dry-run', markets } },
  };
}
