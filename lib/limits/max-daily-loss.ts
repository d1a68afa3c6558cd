import { type Decimal, formatDecimal } from '../base/decimal.ts';
import type { Denial } from '../model/outcome.ts';
import { type DayResult, denyUnknown, type RiskLimit, unused, usageOf } from './risk-limit.ts';

/** The loss of a day, realised and floating together, at which the account is paused. */
export const maxDailyLoss: RiskLimit = {
  name: 'maxDailyLoss',
  again: null,
  needs: ({ limits }) =>
    (limits?.maxDailyLoss ?? null) === null ? null : { holdings: true, allMarkets: false, deals: true },
  check(_, { day }, account) {
    const most = account.limits?.maxDailyLoss ?? null;
    if (most === null || day === null) return null;
    return typeof day === 'string' ? denyUnknown(account, [day]) : checkDailyLoss(day, most);
  },
  use({ day }, { limits }) {
    const most = limits?.maxDailyLoss ?? null;
    if (most === null || day === null) return [];
    const own = { ...unused('maxDailyLoss'), unit: 'USDT' };
    if (typeof day === 'string') return [{ ...own, limit: formatDecimal(most), denies: day }];
    const use = usageOf(most, lossOf(day), () => checkDailyLoss(day, most)?.message ?? null);
    return [{ ...own, ...use, sinceMs: day.sinceMs }];
  },
};

/** Denies an order while the loss of the day is as large as the account allows, or larger. */
export function checkDailyLoss(day: DayResult, most: Decimal): Denial | null {
  const loss = lossOf(day);
  if (loss.lt(most)) return null;
  const { realised, floating, sinceMs } = day;
  const limit = formatDecimal(most);
  const actual = formatDecimal(loss.round(2, 0));
  return {
    rule: 'max_daily_loss',
    limit,
    actual,
    message: `the account has lost ${actual} USDT since ${new Date(sinceMs).toISOString()} (realised ${formatDecimal(realised.round(2))}, floating ${formatDecimal(floating.round(2))}), and pauses at ${limit}; orders that only reduce a position are still sent`,
  };
}

function lossOf({ realised, floating }: DayResult): Decimal {
  return realised.plus(floating).neg();
}
