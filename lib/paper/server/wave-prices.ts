import { type Decimal, floorToStep, parseDecimal } from '../../base/decimal.ts';
import { createRandom } from '../../base/random.ts';
import type { PaperMarket } from '../engine/markets.ts';

/** Heights, one drawn for each period, with straight lines between them. */
interface Wave {
  readonly periodMs: number;
  /** In millionths of the start price, up or down. */
  readonly height: number;
}

const waves: readonly Wave[] = [
  { periodMs: 24 * 3_600_000, height: 40_000 },
  { periodMs: 3_600_000, height: 10_000 },
  { periodMs: 300_000, height: 2_000 },
  { periodMs: 10_000, height: 300 },
];

const oneMillionth = parseDecimal('0.000001');

/**
 * The price of a market at a time: its start price and, at most, 5.3 % more or less. It follows from the seed and the time
 * alone, so that processes that share one exchange agree on it without asking each other.
 */
export function priceAt(market: PaperMarket, nowMs: number, seed: number): Decimal {
  const millionths = waves.reduce(
    (sum, wave, index) => sum + heightAt(wave, nowMs, seedOf(`${market.name} ${index}`, seed)),
    1_000_000,
  );
  const price = market.startPrice.times(parseDecimal(String(millionths))).times(oneMillionth);
  return floorToStep(price, market.priceStep);
}

/** In whole millionths. */
function heightAt({ periodMs, height }: Wave, nowMs: number, seed: number): number {
  const period = Math.floor(nowMs / periodMs);
  const share = (nowMs - period * periodMs) / periodMs;
  const draw = (of: number) => createRandom(seed + of)() * 2 - 1;
  const before = draw(period);
  return Math.round(height * (before + (draw(period + 1) - before) * share));
}

/** Of each wave of each market another one. */
function seedOf(text: string, seed: number): number {
  return [...text].reduce((sum, letter) => (Math.imul(sum, 31) + letter.charCodeAt(0)) >>> 0, seed);
}
