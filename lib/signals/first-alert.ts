import { parseDecimal } from '../base/decimal.ts';
import type { Dialect } from '../exchange/dialect.ts';
import type { Account, MarketLimits } from '../model/account.ts';
import type { Settings } from '../model/settings.ts';
import { isCarried } from '../orders/order-types.ts';

/**
 * The alert to begin with: a guarded market order with its stop-loss and take-profit. The README, the greeting of a local run, the
 * demo and `examples/first-alert.json` show this one.
 */
export const firstAlert = {
  ticker: 'BTCUSDT',
  action: 'buy',
  quantity: '0.001',
  stopLoss: '2%',
  takeProfit: '4%',
  time: '{{timenow}}',
} as const;

/** As it is pasted into TradingView. */
export const firstAlertText = JSON.stringify(firstAlert, null, 2);

/** Whether the configuration lets an account send the first alert. */
export function takesFirstAlert(
  tickers: Settings['tickers'],
  { region, markets, maxSlippageRate, allowUnguardedMarket }: Account,
  dialect: Dialect,
): boolean {
  const market = tickers[firstAlert.ticker];
  const limits = market !== undefined && Object.hasOwn(markets, market) ? markets[market] : undefined;
  const isBounded = maxSlippageRate !== null || allowUnguardedMarket;
  return isCarried('market', dialect) && region === null && isBounded && allowsFirstAlert(limits);
}

/** A spot market takes no stop-loss and no take-profit with an order. */
function allowsFirstAlert(limits: MarketLimits | undefined): boolean {
  if (limits === undefined || limits.tradesOn === 'spot') return false;
  const { sides, maxAmount } = limits;
  return sides.includes(firstAlert.action) && (maxAmount?.gte(parseDecimal(firstAlert.quantity)) ?? true);
}
