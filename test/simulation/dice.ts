import type { Random } from '../../lib/base/random.ts';

/** A whole number from `least` to `most`, both possible. */
export function rollWhole(random: Random, least: number, most: number): number {
  return least + Math.floor(random() * (most - least + 1));
}

export function rollChance(random: Random, probability: number): boolean {
  return random() < probability;
}

/** @param choices at least one */
export function pickOne<T>(random: Random, choices: readonly [T, ...T[]]): T {
  return choices[Math.floor(random() * choices.length)] ?? choices[0];
}
