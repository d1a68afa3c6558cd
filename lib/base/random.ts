/** A source of random numbers in [0, 1); injected, so that tests and simulations control it. */
export type Random = () => number;

/**
 * Creates a repeatable source: the same seed gives the same numbers on every machine.
 *
 * @see https://github.com/bryc/code/blob/master/jshash/PRNGs.md the mulberry32 generator
 */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
