import { parseDecimal } from '../../lib/base/decimal.ts';
import { toJson } from '../../lib/base/json.ts';
import type { Account, TradingGround } from '../../lib/model/account.ts';
import type { Market } from '../../lib/model/market.ts';
import type { OrderSignal, StopLimitSignal } from '../../lib/model/signal.ts';
import { type Readings, sizeOrder } from '../../lib/signals/sizing.ts';
import { account as plainAccount } from './reading.ts';

export const account: Account = {
  ...plainAccount,
  limitOffsetRate: parseDecimal('0.01'),
  maxSlippageRate: null,
};

const market: Market = {
  name: 'BTC_PERP',
  base: 'BTC',
  quote: 'USDT',
  amountStep: parseDecimal('0.001'),
  priceStep: parseDecimal('0.5'),
  minAmount: parseDecimal('0.002'),
  minTotal: parseDecimal('5'),
  maxTotal: parseDecimal('100000'),
  makerFeeRate: parseDecimal('0.0001'),
  takerFeeRate: parseDecimal('0.00055'),
  tradesEnabled: true,
  isCollateral: true,
  isFutures: true,
};

export const buy: StopLimitSignal = {
  ticker: 'BTCUSDT.P',
  market: 'BTC_PERP',
  timeMs: null,
  maxLagMs: null,
  action: 'order',
  orderType: 'stop_limit',
  side: 'buy',
  size: { unit: 'base', quantity: '0.0109' },
  stopPrice: '50000.3',
  limitPrice: '50100.4',
};
export const sell: StopLimitSignal = { ...buy, side: 'sell', stopPrice: '50000.3', limitPrice: '49900.1' };

/** The order or its denial as plain data, decimals as text. */
export function size(
  signal: OrderSignal,
  changes: Partial<Market> = {},
  by: Account = account,
  { tradesOn = 'futures', ...readings }: { readonly tradesOn?: TradingGround } & Partial<Readings> = {},
): unknown {
  const sized = sizeOrder(signal, {
    market: { ...market, ...changes },
    account: by,
    tradesOn,
    readings: { oppositePrice: null, holding: null, ...readings },
    clientOrderId: 'tr-1',
  });
  return toJson(sized.ok ? { ok: true, order: sized.order } : sized);
}
