import { createRandom, type Random } from '../../lib/base/random.ts';
import { marketNamed } from '../../lib/paper/engine/markets.ts';
import { pickOne, rollChance, rollWhole } from './dice.ts';

/** The price around which the other moves of a market are, at a time. */
export type MiddlePrice = (market: string, atMs: number) => number;

/** Spreads the seeds, in another way than that of the run itself. */
const seedStride = 0x51ed270b;
const secondMs = 1000;
const markets = ['BTC_USDT', 'BTC_PERP', 'ETH_USDT', 'SOL_USDT'] as const;
export const driftsForMs = 25 * 60 * secondMs;
/** How far from the first price a drift may begin that leads further away. */
const farRate = 0.03;

/** A time since the start, and the price of a market then as a part of its first price. */
type Point = readonly [afterMs: number, rate: number];

/** Prices that go a few per cent up or down for minutes, until some time before the end of a run. */
export function drawDrift(seed: number, startMs: number): MiddlePrice {
  const random = createRandom(Math.imul(seed, seedStride));
  const paths = new Map<string, readonly Point[]>(markets.map((market) => [market, drawPath(random)]));
  return (market, atMs) => firstPrice(market) * rateAt(paths.get(market) ?? [], atMs - startMs);
}

/** Of a run whose prices stay around the first ones. */
export const firstPrice = (market: string): number => Number(marketNamed(market).startPrice.toFixed());

function drawPath(random: Random): readonly Point[] {
  const points: Point[] = [];
  let [atMs, rate] = [rollWhole(random, 5, 90) * secondMs, 1];
  while (atMs < driftsForMs) {
    points.push([atMs, rate]);
    const isAway = Math.abs(rate - 1) > farRate;
    const isUp = isAway ? rate < 1 : rollChance(random, 0.5);
    rate *= 1 + (isUp ? 1 : -1) * pickOne(random, [0.01, 0.02, 0.03, 0.045]);
    atMs += rollWhole(random, 90, 300) * secondMs;
    points.push([atMs, rate]);
    atMs += rollWhole(random, 5, 90) * secondMs;
  }
  return points;
}

function rateAt(points: readonly Point[], afterMs: number): number {
  const next = points.findIndex(([atMs]) => atMs > afterMs);
  const [fromMs, from] = points.at(next === -1 ? -1 : next - 1) ?? [0, 1];
  if (next === 0) return 1;
  const [untilMs, until] = points[next] ?? [fromMs, from];
  return untilMs === fromMs ? from : from + ((until - from) * (afterMs - fromMs)) / (untilMs - fromMs);
}
