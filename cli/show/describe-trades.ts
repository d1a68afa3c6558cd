import { type Decimal, formatDecimal, hundred, one, zero } from '../../lib/base/decimal.ts';
import type { Durations } from '../../lib/reports/durations.ts';
import type { TradeCounts } from '../../lib/reports/report.ts';

/** `0.6 USDT + 0.00001 BTC`; empty for none. */
export function joinFees(fees: Readonly<Record<string, Decimal>>): string {
  return Object.entries(fees)
    .filter(([, fee]) => !fee.eq(zero))
    .map(([asset, fee]) => `${formatDecimal(fee)} ${asset}`)
    .join(' + ');
}

const halfUp = 1;

/** An amount of money as far as it matters: cents of large amounts, eight places of small ones. */
export function formatMoney(money: Decimal): string {
  const places = money.abs().gte(hundred) ? 2 : money.abs().gte(one) ? 4 : 8;
  return formatDecimal(money.round(places, halfUp));
}

/** With a sign before gains, too. */
export function formatSigned(money: Decimal): string {
  return `${money.gt(zero) ? '+' : ''}${formatMoney(money)}`;
}

/** `85 ms / 1.2 s`: p50 and p95. */
export function describeDurations(durations: Durations | null): string {
  if (durations === null) return '–';
  return `${formatDuration(durations.p50Ms)} / ${formatDuration(durations.p95Ms)}`;
}

const units: readonly (readonly [unit: string, lengthMs: number])[] = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1000],
];

/** One decimal, except for milliseconds. */
function formatDuration(durationMs: number): string {
  const [unit, lengthMs] = units.find(([, length]) => Math.abs(durationMs) >= length) ?? ['ms', 1];
  return `${(durationMs / lengthMs).toFixed(lengthMs === 1 ? 0 : 1)} ${unit}`;
}

/** `3 of 4 (75 %)`. */
export function describeWins({ closed, won }: TradeCounts): string {
  return closed === 0 ? '–' : `${won} of ${closed} (${Math.round((won / closed) * 100)} %)`;
}
