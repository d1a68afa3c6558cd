import { parseDecimal } from '../base/decimal.ts';
import type { Dialect } from '../exchange/dialect.ts';
import type { Account } from '../model/account.ts';
import type { Side } from '../model/order.ts';
import { regionOrderTypes } from '../model/region.ts';
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

/** What an alert needs of the account that sends it. */
interface Needs {
  readonly ticker: string;
  readonly side: Side;
  /** In the base currency. */
  readonly amount: string;
  readonly kind: 'market' | 'stop_limit';
  /** Whether the account must say how far beyond the best price it may fill, or that it may at any. */
  readonly needsBound: boolean;
  /** Whether its market must be one of spot; a spot market takes no take-profit with an order. */
  readonly isOnSpot: boolean;
}

/** Whether the configuration lets an account send the first alert. */
export function takesFirstAlert(tickers: Settings['tickers'], account: Account, dialect: Dialect): boolean {
  const { ticker, action: side, quantity: amount } = firstAlert;
  return isTaken(
    { ticker, side, amount, kind: 'market', needsBound: true, isOnSpot: false },
    tickers,
    account,
    dialect,
  );
}

const bitcoin = { ticker: 'BTCUSDT', side: 'buy' } as const;
/** Examples that need no time, with what `test/examples` holds against their files. */
export const tries: Readonly<Record<string, Needs>> = {
  'buy-stop-limit.json': {
    ...bitcoin,
    amount: '0.01',
    kind: 'stop_limit',
    needsBound: false,
    isOnSpot: false,
  },
  'buy-on-spot.json': { ...bitcoin, amount: '0.001', kind: 'market', needsBound: true, isOnSpot: true },
};

/** An example that an account can send as it is; null: none fits its markets. */
export function findTry(tickers: Settings['tickers'], account: Account, dialect: Dialect): string | null {
  const names = Object.keys(tries);
  return names.find((name) => isTaken(tries[name] as Needs, tickers, account, dialect)) ?? null;
}

function isTaken(
  { ticker, side, amount, kind, needsBound, isOnSpot }: Needs,
  tickers: Settings['tickers'],
  { region, markets, maxSlippageRate, allowUnguardedMarket }: Account,
  dialect: Dialect,
): boolean {
  const market = tickers[ticker];
  const limits = market !== undefined && Object.hasOwn(markets, market) ? markets[market] : undefined;
  if (limits === undefined || (limits.tradesOn === 'spot') !== isOnSpot) return false;
  const type = isOnSpot ? (`spot_${kind}` as const) : kind;
  const isBounded = !needsBound || maxSlippageRate !== null || allowUnguardedMarket;
  return (
    isCarried(type, dialect) &&
    (region === null || regionOrderTypes[region].includes(type)) &&
    isBounded &&
    limits.sides.includes(side) &&
    (limits.maxAmount?.gte(parseDecimal(amount)) ?? true)
  );
}
