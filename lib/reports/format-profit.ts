import { type Decimal, formatDecimal, one, zero } from '../base/decimal.ts';

const halfUp = 1;
const cents = 2;
const smallPlaces = 8;

/** `+24.00`, `-12.10`, `+0.00003`: cents, and more places where cents would hide most of it. */
export function formatProfit(profit: Decimal): string {
  const isSmall = profit.abs().lt(one.div('10')) && !profit.eq(zero);
  const text = isSmall ? formatDecimal(profit.round(smallPlaces, halfUp)) : profit.toFixed(cents, halfUp);
  return profit.gt(zero) ? `+${text}` : text;
}
