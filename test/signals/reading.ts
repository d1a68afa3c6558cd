import { parseDecimal } from '../../lib/base/decimal.ts';
import { type Issue, RelayError } from '../../lib/base/errors.ts';
import type { Account, TradingGround } from '../../lib/model/account.ts';
import type { Signal } from '../../lib/model/signal.ts';
import { type Alert, type AlertContext, parseAlert } from '../../lib/signals/parse-alert.ts';

export const account: Account = {
  name: 'main',
  mode: 'live',
  region: null,
  limitOffsetRate: parseDecimal('0.001'),
  maxLimitDistanceRate: null,
  markets: {},
  maxSlippageRate: parseDecimal('0.01'),
  allowUnguardedMarket: false,
  maxOrdersPerMinute: null,
  maxSignalsPerMinute: null,
  defaultOrderType: 'market',
  requirePosition: false,
  onMismatch: 'deny',
  oneStrategyPerMarket: null,
  protection: 'keep',
};

/** The account, with one market that trades on an account of the exchange. */
export function accountOn(market: string, tradesOn: TradingGround): Account {
  return {
    ...account,
    markets: { [market]: { tradesOn, sides: ['buy', 'sell'], maxAmount: null, maxNotional: null } },
  };
}

/** Five seconds after the time in {@link orderText}. */
export const context: AlertContext = {
  tickers: { 'BTCUSDT.P': 'BTC_PERP', ETHUSDT: 'ETH_USDT' },
  defaultMaxLagMs: 60_000,
  nowMs: Date.UTC(2026, 0, 31, 12, 0, 5),
  futureAllowanceMs: 5_000,
  account,
};

/** The members of a minimal order alert, without the braces of the object. */
export const orderText =
  '"ticker":"BTCUSDT.P","action":"buy","quantity":0.5,"stopPrice":100,"time":"2026-01-31T12:00:00Z"';

/** The order alert with one more member. */
export function orderWith(member: string): string {
  return `{${orderText},${member}}`;
}

/** A market order alert with further members, given instead of the default ones where they are the same. */
export function marketOrder(members: Readonly<Record<string, unknown>>): string {
  return JSON.stringify({
    ticker: 'ETHUSDT',
    action: 'buy',
    orderType: 'market',
    ...('quantity' in members || 'quoteQuantity' in members || 'quantityPercent' in members
      ? {}
      : { quantity: 2 }),
    time: '2026-01-31T12:00:00Z',
    ...members,
  });
}

/** The signal of {@link marketOrder} without further members. */
export const marketSignal: Signal = {
  ticker: 'ETHUSDT',
  market: 'ETH_USDT',
  timeMs: 1769860800000,
  maxLagMs: 60_000,
  action: 'order',
  orderType: 'market',
  side: 'buy',
  size: { unit: 'base', quantity: '2' },
};

/** The signal of {@link orderText}. */
export const orderSignal: Signal = {
  ticker: 'BTCUSDT.P',
  market: 'BTC_PERP',
  timeMs: 1769860800000,
  maxLagMs: 60_000,
  action: 'order',
  orderType: 'stop_limit',
  side: 'buy',
  size: { unit: 'base', quantity: '0.5' },
  stopPrice: '100',
  limitPrice: null,
};

export function bytesOf(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

export function readAlert(text: string, changes: Partial<AlertContext> = {}): Alert {
  return parseAlert(bytesOf(text), { ...context, ...changes });
}

/** The one signal of an alert that is a single object. */
export function readSignal(text: string, changes: Partial<AlertContext> = {}): Signal {
  const { isArray, items } = readAlert(text, changes);
  const [item] = items;
  if (isArray || item === undefined || items.length > 1) throw new Error('expected a lone signal');
  return item.signal;
}

export interface Refusal {
  readonly code: string;
  readonly paths: readonly string[];
  readonly issues: readonly Issue[];
}

/** How an alert is refused. */
export function refusalOf(body: string | Uint8Array, changes: Partial<AlertContext> = {}): Refusal {
  try {
    parseAlert(typeof body === 'string' ? bytesOf(body) : body, { ...context, ...changes });
  } catch (error) {
    if (!(error instanceof RelayError)) throw error;
    return { code: error.code, paths: error.issues.map(({ path }) => path), issues: error.issues };
  }
  throw new Error('expected the alert to be refused');
}

/** The only issue of a refused alert. */
export function issueOf(body: string | Uint8Array, changes: Partial<AlertContext> = {}): Issue {
  const { issues } = refusalOf(body, changes);
  const [issue] = issues;
  if (issue === undefined || issues.length > 1)
    throw new Error(`expected one issue, got ${JSON.stringify(issues)}`);
  return issue;
}
