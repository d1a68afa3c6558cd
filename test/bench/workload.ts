import type { RelayConfig } from '../../lib/host/config.ts';

/** What the benchmark sends: orders of many accounts and markets, so that as many groups can run side by side. */
export const accounts = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'];
export const bases = ['BTC', 'ETH', 'SOL', 'XRP', 'ADA', 'DOT', 'LTC', 'TRX'];

/** The account and base of one of 64 places in flight; no two places share a group. */
export function groupOfPlace(place: number): { readonly account: string; readonly base: string } {
  const account = accounts[place % accounts.length] ?? '';
  const base = bases[Math.floor(place / accounts.length) % bases.length] ?? '';
  return { account, base };
}

/** The kinds of orders that are measured. A market order is guarded: the order book is read before it is sent. */
export type BenchKind = 'stop_limit' | 'market';

const pricesByKind: Readonly<Record<BenchKind, object>> = {
  stop_limit: { stopPrice: '50100.5', limitPrice: '50200.25' },
  market: { orderType: 'market', maxSlippage: '0.5%' },
};

/** A strategy's order with both exits, as TradingView would post it. */
export function createAlert(id: string, base: string, kind: BenchKind): string {
  return JSON.stringify({
    ticker: `${base}USDT`,
    action: 'buy',
    quantity: '0.012345',
    ...pricesByKind[kind],
    stopLoss: '49000',
    takeProfit: '52000',
    time: new Date().toISOString(),
    id,
    comment: 'breakout',
  });
}

/** No limits, so that nothing but the machine sets the pace. */
export function benchConfig(exchangeUrl: string): RelayConfig {
  const markets = Object.fromEntries(bases.map((base) => [`${base}_USDT`, { tradesOn: 'margin' as const }]));
  return {
    exchange: { address: exchangeUrl, dialect: 'live' },
    tickers: Object.fromEntries(bases.map((base) => [`${base}USDT`, `${base}_USDT`])),
    maxLagSeconds: 60,
    accounts: Object.fromEntries(accounts.map((account) => [account, { mode: 'live', markets }])),
  };
}

/** What the relay sends for such an alert, nonce and all: the references send the same bytes but for the id. */
export function orderBodyOf(clientOrderId: string): string {
  return `${beforeId}${clientOrderId}"}`;
}

const beforeId = `${JSON.stringify({
  request: '/api/v4/order/collateral/stop-limit',
  nonce: 1_767_268_800_000,
  nonceWindow: true,
  market: 'BTC_USDT',
  side: 'buy',
  amount: '0.012345',
  price: '50200.25',
  activation_price: '50100.5',
  stopLoss: '49000',
  takeProfit: '52000',
}).slice(0, -1)},"clientOrderId":"`;
