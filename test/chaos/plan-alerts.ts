import { type Decimal, formatDecimal, parseDecimal } from '../../lib/base/decimal.ts';
import type { Random } from '../../lib/base/random.ts';
import type { Flaw, PlannedAlert, PlannedOrder, PlannedSignal } from './alerts.ts';
import { between, pick } from './chance.ts';
import { rehearsalAccount, tickers, tradingAccounts } from './relay-config.ts';

/** The highest mean rate of signals. Alerts come in bursts, as at the close of a bar. */
const mostPerSecond = 130;
/** A run with few signals still takes this long, so that it meets every kind of fault. */
const shortestRunSeconds = 15;
const longestPauseMs = 700;

/**
 * The size and prices of orders for a ticker; sizes are so small that thousands of orders can be open
 * together.
 */
interface Terms {
  readonly amount: string;
  /** The first price of the paper exchange. */
  readonly price: Decimal;
  /** The distance between the prices of two orders; a multiple of the market's step. */
  readonly spacing: Decimal;
  /** The distance from an order's price to its stop-loss and take-profit. */
  readonly closingDistance: Decimal;
}

const terms = (amount: string, price: string, spacing: string, closingDistance: string): Terms => ({
  amount,
  price: parseDecimal(price),
  spacing: parseDecimal(spacing),
  closingDistance: parseDecimal(closingDistance),
});

const termsByTicker: Readonly<Record<string, Terms>> = {
  BTCUSDT: terms('0.0001', '60000', '0.1', '1000'),
  ETHUSDT: terms('0.002', '3000', '0.01', '50'),
  SOLUSDT: terms('0.05', '150', '0.001', '3'),
  'BTCUSDT.P': terms('0.001', '60000', '0.1', '1000'),
};

/** @param count the number of signals; the last alert may add one or two */
export function planAlerts(random: Random, count: number): readonly PlannedAlert[] {
  const draw = createDraw(random);
  const signalsPerSecond = Math.min(mostPerSecond, count / shortestRunSeconds);
  const alerts: PlannedAlert[] = [];
  let [drawn, atMs] = [0, 0];
  while (drawn < count) {
    const pauseMs = between(random, longestPauseMs / 10, longestPauseMs);
    const burst = Math.ceil((pauseMs / 1000) * signalsPerSecond);
    for (const end = Math.min(drawn + burst, count); drawn < end; ) {
      const alert = draw(atMs + between(random, 0, pauseMs / 10));
      alerts.push(alert);
      drawn += alert.signals.length;
    }
    atMs += pauseMs;
  }
  return alerts.sort((a, b) => a.atMs - b.atMs);
}

function createDraw(random: Random): (atMs: number) => PlannedAlert {
  const drawSignal = createSignalDraw(random);
  const happens = (probability: number) => random() < probability;
  let number = 0;
  return (atMs) => {
    number += 1;
    const account = happens(0.05) ? rehearsalAccount : pick(random, Object.keys(tradingAccounts));
    const ticker = pick(random, Object.keys(tickers));
    const length = happens(0.06) ? Math.round(between(random, 2, 3)) : 1;
    const isNamed = happens(0.7);
    const flaw: Flaw | null = happens(0.03) ? pick<Flaw>(random, ['misspelt', 'cut_short']) : null;
    return {
      number,
      atMs,
      account,
      signals: Array.from({ length }, () => drawSignal(account, ticker, isNamed, flaw)),
      flaw,
      copyAfterResponseMs: happens(0.03) ? between(random, 0, 2000) : null,
      copyAfterSilenceMs: happens(0.15) ? between(random, 200, 3000) : null,
    };
  };
}

/** A cancellation names one of this many orders before it. */
const remembered = 30;

function createSignalDraw(random: Random) {
  const recent = new Map<string, string[]>();
  const orderCounts = new Map<string, number>();
  let count = 0;

  function drawOrder(ticker: string, id: string | null): PlannedOrder {
    const index = (orderCounts.get(ticker) ?? 0) + 1;
    orderCounts.set(ticker, index);
    return planOrder(random, ticker, index, id);
  }

  return (account: string, ticker: string, isNamed: boolean, flaw: Flaw | null): PlannedSignal => {
    count += 1;
    const id = isNamed ? `s-${count}` : null;
    const names = recent.get(`${account} ${ticker}`) ?? [];
    const market = tickers[ticker] ?? '';
    const chance = random();
    if (chance < 0.01) return { action: 'cancel_all', id, ticker, market, target: null };
    if (chance < 0.12 && names.length > 0)
      return { action: 'cancel', id, ticker, market, target: pick(random, names) };
    if (id !== null && flaw === null)
      recent.set(`${account} ${ticker}`, [...names.slice(1 - remembered), id]);
    return drawOrder(ticker, id);
  };
}

/** @param index a number that gives the order its own price in its market */
function planOrder(random: Random, ticker: string, index: number, id: string | null): PlannedOrder {
  const found = termsByTicker[ticker];
  if (found === undefined) throw new RangeError(`no terms are set for ${ticker}`);
  const side = pick(random, ['buy', 'sell'] as const);
  const away = side === 'buy' ? found.spacing : found.spacing.neg();
  const price = found.price.plus(away.times(parseDecimal(String(100 + index))));
  const gain = side === 'buy' ? found.closingDistance : found.closingDistance.neg();
  const hasPlanned = random() < 0.2;
  return {
    action: 'order',
    id,
    ticker,
    market: tickers[ticker] ?? '',
    side,
    amount: found.amount,
    stopPrice: formatDecimal(price.minus(away.times(parseDecimal('5')))),
    limitPrice: formatDecimal(price),
    stopLossAndTakeProfit: hasPlanned
      ? { stopLoss: formatDecimal(price.minus(gain)), takeProfit: formatDecimal(price.plus(gain)) }
      : null,
  };
}
