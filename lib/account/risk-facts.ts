import type { RiskFacts } from '../limits/risk-limit.ts';
import { resultOf } from './check-loss.ts';
import { type DayFills, realisedBy } from './day-profit.ts';
import type { ExposureReading } from './read-exposure.ts';
import type { UsdtPrices } from './usdt-prices.ts';

/**
 * What the limits of growing risk judge by.
 *
 * @param read null: positions and open orders were not read
 * @param day null: the deals of the day were not read
 * @throws ExchangeError when a price that is needed cannot be read
 */
export async function riskFactsOf(
  { read, day }: { readonly read: ExposureReading | null; readonly day: DayFills | null },
  prices: UsdtPrices,
  nowMs: number,
): Promise<RiskFacts> {
  const realised = day === null ? null : realisedBy(day, read?.reading.positions ?? []);
  const result = realised === null || read === null ? null : await resultOf(realised, read.floating, prices);
  return {
    nowMs,
    exposure: read?.exposure ?? null,
    day: typeof result === 'string' ? `the value of ${result} in USDT is not known` : result,
    lastLossAtMs: realised?.lastLossAtMs ?? null,
  };
}
