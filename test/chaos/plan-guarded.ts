import { type Decimal, formatDecimal, parseDecimal } from '../../lib/base/decimal.ts';
import type { Random } from '../../lib/base/random.ts';
import type { Side } from '../../lib/model/order.ts';
import type { PlannedAlert, PlannedOrder, PlannedPosition } from './alerts.ts';
import { between, pick } from './chance.ts';
import { grounds, guardedAccount, tickers } from './relay-config.ts';

/** Signals per second at most: each reads positions, orders and prices, and a market carries out one at a time. */
export const guardedRate = 6;

/** The amounts of entries and of reductions in a market. Each differs from every other amount of a run. */
interface Sizes {
  readonly firstEntry: string;
  readonly firstReduction: string;
  readonly step: string;
  /** The steps of prices. */
  readonly priceStep: string;
}

const sizesByTicker: Readonly<Record<string, Sizes>> = {
  BTCUSDT: { firstEntry: '0.012', firstReduction: '0.006', step: '0.000001', priceStep: '0.01' },
  ETHUSDT: { firstEntry: '0.12', firstReduction: '0.06', step: '0.00001', priceStep: '0.01' },
  SOLUSDT: { firstEntry: '5.6', firstReduction: '5.2', step: '0.001', priceStep: '0.001' },
  'BTCUSDT.P': { firstEntry: '0.4', firstReduction: '0.16', step: '0.001', priceStep: '0.1' },
};
/** After this many reductions of a market their amounts would be those of entries. */
const mostReductions = 200;

/** One market: what it is at, and what its alerts have asked for. */
interface Line {
  readonly ticker: string;
  readonly market: string;
  readonly isSpot: boolean;
  readonly price: Decimal;
  readonly sizes: Sizes;
  side: Side;
  entries: number;
  reductions: number;
}

interface GuardedGround {
  readonly count: number;
  readonly durationMs: number;
  /** Of the first alert; no other alert of the run has it or a later one. */
  readonly firstNumber: number;
}

/**
 * Alerts whose entries all have a stop-loss, and that reduce and close what these opened. The stop-losses lie so near that
 * the moves of the price reach many of them.
 */
export function planGuardedAlerts(
  random: Random,
  firstPrices: readonly (readonly [market: string, price: Decimal])[],
  { count, durationMs, firstNumber }: GuardedGround,
): readonly PlannedAlert[] {
  const prices = new Map(firstPrices);
  const lines = Object.entries(sizesByTicker).map(([ticker, sizes]): Line => {
    const market = tickers[ticker] ?? '';
    const isSpot = grounds[market] === 'spot';
    const side = isSpot ? 'buy' : pick(random, ['buy', 'sell'] as const);
    const price = prices.get(market) ?? parseDecimal('1');
    return { ticker, market, isSpot, price, sizes, side, entries: 0, reductions: 0 };
  });
  return Array.from({ length: count }, (_, index) => ({
    number: firstNumber + index,
    atMs: between(random, 0, durationMs),
  }))
    .sort((one, other) => one.atMs - other.atMs)
    .map(({ number, atMs }) => {
      const id = random() < 0.7 ? `k-${number}` : null;
      return {
        number,
        atMs,
        account: guardedAccount,
        signals: [planSignal(random, pick(random, lines), id)],
        flaw: null,
        copyAfterResponseMs: random() < 0.05 ? between(random, 0, 2000) : null,
        copyAfterSilenceMs: random() < 0.3 ? between(random, 200, 3000) : null,
      };
    });
}

function planSignal(random: Random, line: Line, id: string | null): PlannedOrder | PlannedPosition {
  const chance = random();
  const isReducible = line.entries > 0 && line.reductions < mostReductions;
  if (line.isSpot)
    return isReducible && chance < 0.25 ? planReduction(line, id) : planEntry(random, line, id);
  if (line.entries === 0 || chance < 0.55) return planEntry(random, line, id);
  if (chance < 0.65 && isReducible) return planReduction(line, id);
  if (chance < 0.8) return planPosition(line, id, 'close', { quantity: pick(random, ['25%', '50%', '75%']) });
  if (chance < 0.87) {
    // What follows opens a position of either side.
    line.side = pick(random, ['buy', 'sell'] as const);
    return planPosition(line, id, 'close', {});
  }
  return planPosition(line, id, 'protect', planWish(random));
}

/** Positions lag: what depends on one waits, and an old one of these must not hold its market up for long. */
const maxLagSeconds = 15;

function planPosition(
  { ticker, market }: Line,
  id: string | null,
  action: PlannedPosition['action'],
  fields: PlannedPosition['fields'],
): PlannedPosition {
  return { action, id, ticker, market, target: null, fields: { ...fields, maxLag: maxLagSeconds } };
}

function planReduction(line: Line, id: string | null): PlannedOrder {
  const { sizes, side, isSpot } = line;
  line.reductions += 1;
  const amount = amountOf(sizes.firstReduction, sizes.step, line.reductions);
  const closing = side === 'buy' ? 'sell' : 'buy';
  return { ...orderOf(line, id, amount), kind: 'market', side: closing, reduceOnly: !isSpot, exits: null };
}

function planEntry(random: Random, line: Line, id: string | null): PlannedOrder {
  const { sizes, side } = line;
  line.entries += 1;
  const amount = amountOf(sizes.firstEntry, sizes.step, line.entries);
  const shared = { ...orderOf(line, id, amount), side, exits: planExits(random, line) };
  const chance = random();
  if (chance < 0.6) return { ...shared, kind: 'market' };
  // On either side of the price: it fills at once, or rests until the price comes to it.
  const limitPrice = priceOf(line, between(random, 0.9996, 1.0004));
  if (chance < 0.8) return { ...shared, kind: 'limit', limitPrice };
  const stopPrice = priceOf(line, between(random, 0.9996, 1.0004));
  return { ...shared, kind: 'stop_limit', stopPrice, limitPrice };
}

function orderOf({ ticker, market }: Line, id: string | null, amount: string) {
  const none = { stopPrice: null, limitPrice: null, isQuote: false, reduceOnly: false };
  return { action: 'order', id, ticker, market, amount, ...none } as const;
}

/** Every one has a stop-loss: near ones are reached by the moves of the price, far ones stand at the end of the run. */
function planExits(random: Random, line: Line): PlannedOrder['exits'] {
  const near = `${between(random, 0.04, 0.12).toFixed(3)}%`;
  const away = line.side === 'buy' ? 1 : -1;
  const far = priceOf(line, 1 - away * between(random, 0.003, 0.008));
  const stopLoss = random() < 0.5 ? near : far;
  if (line.isSpot) return { stopLoss };
  return pick(random, [
    { stopLoss },
    { stopLoss, takeProfit: `${between(random, 0.05, 0.2).toFixed(3)}%` },
    {
      stopLoss,
      takeProfits: [
        { price: '0.06%', share: '50%' },
        { price: '0.5%', share: '30%' },
      ],
    },
    { trailing: `${between(random, 0.05, 0.3).toFixed(3)}%` },
  ]);
}

function planWish(random: Random): PlannedPosition['fields'] {
  return pick<PlannedPosition['fields']>(random, [
    { stopLoss: `${between(random, 0.06, 0.5).toFixed(3)}%` },
    { trailing: `${between(random, 0.06, 0.3).toFixed(3)}%` },
    { takeProfit: `${between(random, 0.06, 0.5).toFixed(3)}%` },
  ]);
}

function amountOf(first: string, step: string, index: number): string {
  return formatDecimal(parseDecimal(first).plus(parseDecimal(step).times(parseDecimal(String(index)))));
}

function priceOf({ price, sizes }: Line, factor: number): string {
  const places = sizes.priceStep.split('.')[1]?.length ?? 0;
  return formatDecimal(price.times(parseDecimal(factor.toFixed(6))).round(places));
}
