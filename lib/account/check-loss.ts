import { type Decimal, zero } from '../base/decimal.ts';
import type { Log } from '../base/log.ts';
import type { ExchangeClient, SendOptions } from '../exchange/client.ts';
import { ifRead } from '../exchange/errors.ts';
import { coolDownAfterLoss } from '../limits/cool-down-after-loss.ts';
import { checkDailyLoss, maxDailyLoss } from '../limits/max-daily-loss.ts';
import type { RealisedProfit } from '../limits/replay-fills.ts';
import type { DayResult } from '../limits/risk-limit.ts';
import type { Account } from '../model/account.ts';
import { type DayFills, type DayServices, readDayFills, readStoredFills, realisedBy } from './day-profit.ts';
import { type PauseServices, pauseOnLoss } from './pause-on-loss.ts';
import { valuePositions } from './read-exposure.ts';
import { describeHidden, type PositionsReading } from './read-positions.ts';
import { describeUnpriced, findUnpriced, type HeldPositions, type Unpriced } from './unpriced.ts';
import { createUsdtPrices, type UsdtPrices } from './usdt-prices.ts';

/**
 * Pauses the account when the loss of its day has reached its limit; an account without a limit of loss causes no request.
 *
 * @returns the positions of which it is not known yet what they have lost
 * @throws ExchangeError when a price that is needed cannot be read; RelayError `store_unavailable`
 */
export async function checkLossOfDay(
  services: DayServices & PauseServices & { readonly log: Log },
  account: Account,
  read: {
    readonly client: ExchangeClient;
    readonly reading: PositionsReading;
    /** The reading before; null: there is none. */
    readonly held: HeldPositions | null;
    readonly options: SendOptions;
  },
): Promise<readonly Unpriced[]> {
  const { name, limits } = account;
  if (!hasLimitOfLoss(account)) return [];
  const prices = createUsdtPrices(read.client, read.options);
  // The reading of the positions counts although this list cannot be read.
  const day = await ifRead(readDayFills(services, account, read));
  const known = day ?? (await readStoredFills(services, account));
  const unpriced = known === null ? [] : findUnpriced(known, read.held, read.reading);
  const most = limits?.maxDailyLoss ?? null;
  if (most === null) return unpriced;
  const { floating, unknown } = await valuePositions(read.reading.positions, prices);
  const result =
    day === null ? null : await resultOf(realisedBy(day, read.reading.positions), floating, prices);
  const open = [
    ...describeHidden(read.reading),
    ...unknown,
    ...describeUnpriced(unpriced),
    ...(typeof result === 'string' ? [`the value of ${result} in USDT is not known`] : []),
    ...(result === null ? ['the deals of the account cannot be read'] : []),
  ];
  if (result === null || typeof result === 'string' || open.length > 0) {
    services.log.warn('the loss of the day cannot be computed; nothing is opened until it can be', {
      account: name,
      reason: open.join('; '),
    });
    return unpriced;
  }
  const denial = checkDailyLoss(result, most);
  if (denial !== null) await pauseOnLoss(services, name, denial);
  return unpriced;
}

/** Whether the deals of the account are read with its positions. */
export function hasLimitOfLoss(account: Account): boolean {
  return [maxDailyLoss, coolDownAfterLoss].some(({ needs }) => needs(account, null) !== null);
}

/** The result of the day in USDT, or the quote currency that has no price. */
export async function resultOf(
  { sinceMs, byQuote }: Pick<RealisedProfit, 'byQuote'> & Pick<DayFills, 'sinceMs'>,
  floating: Decimal,
  prices: UsdtPrices,
): Promise<DayResult | string> {
  let realised = zero;
  for (const [quote, profit] of byQuote) {
    const rate = await prices.rateOf(quote);
    if (rate === null) return quote;
    realised = realised.plus(profit.times(rate));
  }
  return { sinceMs, realised, floating };
}
