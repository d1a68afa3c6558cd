import { hasPassed } from '../base/clock.ts';
import { type Decimal, maximum, minimum, one, parseDecimal, sumOf, zero } from '../base/decimal.ts';
import { longestPositionLagMs } from '../exchange/lag.ts';
import type { Entry } from '../ledger/entry.ts';
import { checkDailyLoss } from '../limits/max-daily-loss.ts';
import type { RiskFacts, RiskNeeds } from '../limits/risk-limit.ts';
import type { Account } from '../model/account.ts';
import type { CostBooks } from '../model/average-cost.ts';
import { bookKeyOf } from '../model/cost-books.ts';
import { isReduction } from '../model/signal.ts';
import { resultOf } from './check-loss.ts';
import { type DayFills, type DayServices, mayLag, readDayFills, realisedBy } from './day-profit.ts';
import {
  type AccountServices,
  type ExposureReading,
  type ExposureScope,
  type JustOpened,
  listOwn,
  readExposure,
} from './read-exposure.ts';
import { describeUncounted, findUncounted, listEndedLately } from './uncounted.ts';
import { describeUnpriced, findUnpriced, mostUnpricedMs, parseHeld } from './unpriced.ts';
import type { UsdtPrices } from './usdt-prices.ts';

export interface RiskReading {
  readonly exposure: ExposureReading;
  /** Null: no limit needs the deals of the day. */
  readonly day: DayFills | null;
  /** What could not be counted, one sentence each; while there is any, nothing may be opened. */
  readonly unknown: readonly string[];
}

/**
 * Reads what the limits of growing risk need. The deals come last: what was closed in between counts as realised, where it
 * would be missing in the other order, and what a list of orders shows is in the list of deals unless that lags behind.
 *
 * @param scope.market whose orders count; null: of all markets
 * @throws ExchangeError when the exchange cannot be read; RelayError `store_unavailable`
 */
export async function readRisk(
  services: AccountServices & DayServices,
  account: Account,
  needs: RiskNeeds,
  scope: Omit<ExposureScope, 'listsAll'>,
): Promise<RiskReading> {
  const { client, limits } = scope;
  const source = { client, options: limits };
  const [held, ended, own, exposure] = await Promise.all([
    needs.deals ? services.facts.read(account.name, 'positions').then(parseHeld) : null,
    needs.deals ? listEndedLately(source, services.clock.nowMs()) : [],
    needs.deals ? listOwn(services, account, null) : [],
    readExposure(services, account, { ...scope, listsAll: needs.deals }),
  ]);
  const { reading, unknown, open } = exposure;
  if (!needs.deals) return { exposure, day: null, unknown };
  const day = await readDayFills(services, account, source, [...ended, ...open]);
  return {
    exposure,
    day,
    unknown: [
      ...unknown,
      ...describeUnpriced(findUnpriced(day, held, reading)),
      ...describeUncounted(findUncounted(day, { ended: [...ended, ...day.ended], open })),
      ...describeUndecided(own, day.readAtMs),
    ],
  };
}

/** What closes or reduces a position and has no known outcome may have made a loss that no list shows yet. */
function describeUndecided(own: readonly Entry[], nowMs: number): readonly string[] {
  return own.flatMap(({ signalId, signal, status, updatedAtMs }) =>
    (status === 'unknown' || status === 'sending') &&
    signal !== null &&
    isReduction(signal) &&
    !hasPassed(updatedAtMs, mostUnpricedMs, nowMs)
      ? [
          `the outcome of signal "${signalId}" is not known, which was to close or reduce a position in ${signal.market}`,
        ]
      : [],
  );
}

/**
 * What the limits of growing risk judge by.
 *
 * @param risk null: nothing was read
 * @throws ExchangeError when a price that is needed cannot be read
 */
export async function riskFactsOf(
  risk: Pick<RiskReading, 'exposure' | 'day'> | null,
  account: Account,
  prices: UsdtPrices,
  nowMs: number,
): Promise<RiskFacts> {
  const { exposure = null, day = null } = risk ?? {};
  const none = { nowMs, exposure: exposure?.exposure ?? null, day: null, lastLossAtMs: null };
  if (day === null || exposure === null) return none;
  const realised = realisedBy(day, exposure.reading.positions);
  const all = realisedBy(day, []);
  const justOpened = floatingOfOpened(day, all.books, exposure);
  const result = await resultOf(realised, exposure.floating.plus(justOpened), prices);
  const { lastLossAtMs } = realised;
  if (typeof result === 'string')
    return { ...none, lastLossAtMs, day: `the value of ${result} in USDT is not known` };
  const most = account.limits?.maxDailyLoss ?? null;
  if (most === null || checkDailyLoss(result, most) !== null) return { ...none, lastLossAtMs, day: result };
  const left = floatingLeft(day, all.books, exposure).plus(justOpened);
  const whole = await resultOf(all, left, prices);
  const isHidden = typeof whole !== 'string' && checkDailyLoss(whole, most) !== null;
  const doubt = 'a position may be listed that known deals have closed, at a loss that reaches maxDailyLoss';
  return { ...none, lastLossAtMs, day: isHidden ? doubt : result };
}

/** The floating profit, of each position whose list may lag behind its deals only that of what these have left. */
function floatingLeft(
  day: DayFills,
  books: CostBooks,
  { reading, floating, floatings }: ExposureReading,
): Decimal {
  return reading.positions.reduce((sum, position, place) => {
    if (!day.fills.some((fill) => mayLag(position, fill, day.readAtMs))) return sum;
    const left = books.get(bookKeyOf(position.market, position.positionSide))?.amount ?? zero;
    const share = minimum(one, maximum(zero, left.div(position.amount)));
    return sum.minus((floatings[place] ?? zero).times(one.minus(share)));
  }, floating);
}

/**
 * The floating profit of what was opened just now. What known deals have closed of it counts as realised: only what they have
 * left counts here.
 */
function floatingOfOpened(
  day: DayFills,
  books: CostBooks,
  { justOpened, countedAtMs }: ExposureReading,
): Decimal {
  return justOpened.reduce((sum, { signalId, market, positionSide = 'BOTH', side, floating }) => {
    if (!areFillsKnown(day, { justOpened, countedAtMs }, signalId)) return sum.plus(floating);
    const opened = justOpened.filter(
      (one) => one.market === market && one.side === side && (one.positionSide ?? 'BOTH') === positionSide,
    );
    const held = books.get(bookKeyOf(market, positionSide))?.amount ?? zero;
    const left = maximum(zero, side === 'buy' ? held : held.neg());
    return sum.plus(floating.times(minimum(one, left.div(amountOf(opened)))));
  }, zero);
}

/** Whether the fills of the same seconds have all of what a signal has just opened. */
function areFillsKnown(
  { fills }: DayFills,
  { justOpened, countedAtMs }: Pick<ExposureReading, 'justOpened' | 'countedAtMs'>,
  signalId: string,
): boolean {
  const known = fills
    .filter((fill) => fill.signalId === signalId && Math.abs(countedAtMs - fill.atMs) < longestPositionLagMs)
    .map(({ amount }) => ({ amount: parseDecimal(amount) }));
  return amountOf(known).gte(amountOf(justOpened.filter((part) => part.signalId === signalId)));
}

function amountOf(parts: readonly Pick<JustOpened, 'amount'>[]): Decimal {
  return sumOf(parts.map(({ amount }) => amount));
}
