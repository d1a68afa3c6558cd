import { type Decimal, zero } from '../base/decimal.ts';
import type { Log } from '../base/log.ts';
import type { ExchangeClient, SendOptions } from '../exchange/client.ts';
import { ExchangeError } from '../exchange/errors.ts';
import { checkDailyLoss } from '../limits/max-daily-loss.ts';
import type { DayResult } from '../limits/risk-limit.ts';
import type { Account } from '../model/account.ts';
import type { OpenPosition } from '../model/holdings.ts';
import { type DayFills, type DayServices, readDayFills, realisedBy } from './day-profit.ts';
import { type PauseServices, pauseOnLoss } from './pause-on-loss.ts';
import { valuePositions } from './read-exposure.ts';
import { describeHidden, type PositionsReading } from './read-positions.ts';
import type { Reduction } from './reductions.ts';
import { describeUnexplained, findUnexplained } from './unexplained.ts';
import { createUsdtPrices, type UsdtPrices } from './usdt-prices.ts';

/**
 * Pauses the account when the loss of its day has reached its limit; an account without such a limit causes no request.
 *
 * @returns the reductions whose loss is not known yet
 * @throws ExchangeError when a price that is needed cannot be read; RelayError `store_unavailable`
 */
export async function checkLossOfDay(
  services: DayServices & PauseServices & { readonly log: Log },
  account: Account,
  read: {
    readonly client: ExchangeClient;
    readonly reading: PositionsReading;
    readonly options: SendOptions;
  },
): Promise<readonly Reduction[]> {
  const { name, limits } = account;
  if (limits === undefined || limits.maxDailyLoss === null) return [];
  const prices = createUsdtPrices(read.client, read.options);
  const { floating, unknown } = await valuePositions(read.reading.positions, prices);
  const day = await readDayFills(services, account, read).catch(notRead);
  if (day === null) {
    tellUncomputed(services.log, name, ['the deals of the account cannot be read']);
    return [];
  }
  const unexplained = findUnexplained(day, read.reading);
  const result = await resultOf(day, { positions: read.reading.positions, floating }, prices);
  const open = [...describeHidden(read.reading), ...unknown, ...describeUnexplained(unexplained)];
  if (typeof result === 'string' || open.length > 0) {
    const reason = [
      ...open,
      ...(typeof result === 'string' ? [`the value of ${result} in USDT is not known`] : []),
    ];
    tellUncomputed(services.log, name, reason);
    return unexplained;
  }
  const denial = checkDailyLoss(result, limits.maxDailyLoss);
  if (denial !== null) await pauseOnLoss(services, name, denial);
  return unexplained;
}

/** The reading of the positions counts although this list cannot be read. */
function notRead(error: unknown): null {
  if (error instanceof ExchangeError) return null;
  throw error;
}

function tellUncomputed(log: Log, account: string, reasons: readonly string[]): void {
  log.warn('the loss of the day cannot be computed; nothing is opened until it can be', {
    account,
    reason: reasons.join('; '),
  });
}

/** The result of the day in USDT, or the quote currency that has no price. */
export async function resultOf(
  day: DayFills,
  { positions, floating }: { readonly positions: readonly OpenPosition[]; readonly floating: Decimal },
  prices: UsdtPrices,
): Promise<DayResult | string> {
  let realised = zero;
  for (const [quote, profit] of realisedBy(day, positions).byQuote) {
    const rate = await prices.rateOf(quote);
    if (rate === null) return quote;
    realised = realised.plus(profit.times(rate));
  }
  return { sinceMs: day.sinceMs, realised, floating };
}
