import { type Decimal, formatDecimal, parseDecimal } from '../../lib/base/decimal.ts';
import type { Random } from '../../lib/base/random.ts';
import type { Flaw, PlannedAlert, PlannedOrder, PlannedSignal } from './alerts.ts';
import { between, pick } from './chance.ts';
import { guardedRate, planGuardedAlerts } from './plan-guarded.ts';
import { grounds, mixedAccount, rehearsalAccount, tickers } from './relay-config.ts';

/**
 * The highest mean rate of signals. Alerts come in bursts, as at the close of a bar. Nearly all are of one account: at twice the
 * rate, more orders end during an outage than the exchange lists at once, and each further one must be asked for alone.
 */
const mostPerSecond = 75;
/** A run with few signals still takes this long, so that it meets every kind of fault. */
const shortestRunSeconds = 15;
const longestPauseMs = 700;

/**
 * The size and prices of orders for a ticker; sizes are so small that thousands of orders can be open
 * together.
 */
interface Terms {
  /** Of an order with a limit price. */
  readonly amount: string;
  /** What the amounts of two orders without a limit price differ by, and the most such orders. */
  readonly step: Decimal;
  readonly mostUnpriced: number;
  /** The first price of the paper exchange. */
  readonly price: Decimal;
  /** The distance between the prices of two orders; a multiple of the market's step. */
  readonly spacing: Decimal;
  /** The distance from an order's price to its stop-loss and take-profit. */
  readonly closingDistance: Decimal;
}

const terms = (
  amount: string,
  step: string,
  price: string,
  spacing: string,
  closingDistance: string,
  mostUnpriced = 5000,
): Terms => ({
  amount,
  step: parseDecimal(step),
  mostUnpriced,
  price: parseDecimal(price),
  spacing: parseDecimal(spacing),
  closingDistance: parseDecimal(closingDistance),
});

const termsByTicker: Readonly<Record<string, Terms>> = {
  BTCUSDT: terms('0.0001', '0.000001', '60000', '0.1', '1000'),
  ETHUSDT: terms('0.002', '0.00001', '3000', '0.01', '50'),
  SOLUSDT: terms('0.05', '0.001', '150', '0.001', '3'),
  'BTCUSDT.P': terms('0.001', '0.001', '60000', '0.1', '1000', 150),
};

/** Each market with its first price. */
export const firstPrices: readonly (readonly [market: string, price: Decimal])[] = Object.entries(
  termsByTicker,
).map(([ticker, { price }]) => [tickers[ticker] ?? '', price]);

/** The amount of every order with a limit price in a market. */
export function pricedAmountOf(market: string): string | undefined {
  const ticker = Object.keys(tickers).find((name) => tickers[name] === market);
  return termsByTicker[ticker ?? '']?.amount;
}

/**
 * Alerts of every kind for one trading account, and for the other one alerts whose positions the relay protects.
 *
 * @param count the number of signals; the last alert may add one or two
 */
export function planAlerts(random: Random, count: number): readonly PlannedAlert[] {
  const seconds = Math.max(shortestRunSeconds, count / mostPerSecond);
  const guarded = Math.floor(Math.min(count * largestGuardedShare, seconds * guardedRate));
  const mixed = planMixedAlerts(random, count - guarded);
  const ground = { count: guarded, durationMs: mixed.at(-1)?.atMs ?? 0, firstNumber: mixed.length + 1 };
  const others = planGuardedAlerts(random, firstPrices, ground);
  return [...mixed, ...others].sort((a, b) => a.atMs - b.atMs);
}

const largestGuardedShare = 0.25;

function planMixedAlerts(random: Random, count: number): readonly PlannedAlert[] {
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
    const account = happens(0.05) ? rehearsalAccount : mixedAccount;
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

/** A share of the orders of each kind. */
const kinds = ['stop_limit', 'stop_limit', 'limit', 'market', 'stop_market'] as const;

/** The quote amount of a spot stop-market buy; the exchange sizes it in no other unit. */
const quoteAmount = parseDecimal('10');
const quoteStep = parseDecimal('0.01');

/** @param index a number that gives the order its own price, or amount, in its market */
function planOrder(random: Random, ticker: string, index: number, id: string | null): PlannedOrder {
  const found = termsByTicker[ticker];
  if (found === undefined) throw new RangeError(`no terms are set for ${ticker}`);
  const side = pick(random, ['buy', 'sell'] as const);
  const drawn = pick(random, [...kinds]);
  const isPriced = drawn === 'stop_limit' || drawn === 'limit' || index > found.mostUnpriced;
  const kind = isPriced && drawn !== 'limit' ? 'stop_limit' : drawn;
  const market = tickers[ticker] ?? '';
  const isSpot = grounds[market] === 'spot';
  const isQuote = kind === 'stop_market' && isSpot && side === 'buy';
  const away = side === 'buy' ? found.spacing : found.spacing.neg();
  const number = parseDecimal(String(index));
  const price = found.price.plus(away.times(number.plus(nearest)));
  const gain = side === 'buy' ? found.closingDistance : found.closingDistance.neg();
  const hasPlanned = !isSpot && random() < 0.2;
  const amount = isQuote
    ? quoteAmount.plus(quoteStep.times(number))
    : parseDecimal(found.amount).plus(found.step.times(number));
  return {
    action: 'order',
    id,
    ticker,
    market,
    kind,
    side,
    amount: isPriced ? found.amount : formatDecimal(amount),
    isQuote,
    stopPrice: kind === 'limit' || kind === 'market' ? null : formatDecimal(price.minus(away.times(stopGap))),
    // A limit order rests on the other side of the price.
    limitPrice: isPriced
      ? formatDecimal(kind === 'limit' ? found.price.times(two).minus(price) : price)
      : null,
    reduceOnly: false,
    exits: hasPlanned
      ? { stopLoss: formatDecimal(price.minus(gain)), takeProfit: formatDecimal(price.plus(gain)) }
      : null,
  };
}

/** How many spacings the prices are away from the first price at least, and a stop from its limit. */
const nearest = parseDecimal('100');
const stopGap = parseDecimal('5');
const two = parseDecimal('2');
