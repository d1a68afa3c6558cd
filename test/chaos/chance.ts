import type { Random } from '../../lib/base/random.ts';

/** A number from `least` to just below `most`. */
export function between(random: Random, least: number, most: number): number {
  return least + random() * (most - least);
}

/** @throws RangeError when there is nothing to choose from */
export function pick<T>(random: Random, choices: readonly T[]): T {
  const choice = choices[Math.floor(random() * choices.length)];
  if (choice === undefined) throw new RangeError('there is nothing to choose from');
  return choice;
}
