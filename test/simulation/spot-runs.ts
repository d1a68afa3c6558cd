import { createRandom, type Random } from '../../lib/base/random.ts';
import type { Dialect } from '../../lib/exchange/dialect.ts';
import type { Settings } from '../../lib/model/settings.ts';
import { pickOne } from './dice.ts';
import { type Ground, type Grounds, groundsIn } from './grounds.ts';
import { changeAccounts } from './mutate.ts';
import { withoutLimitsOfRisk } from './simulated-world.ts';

/** What is special in a run in which two strategies trade one spot market. */
export interface SpotRun {
  /** Draws what the run has beyond an ordinary one, so that ordinary runs do not depend on it. */
  readonly random: Random;
  /** The market of both strategies. */
  readonly shared: Ground;
  /** Where the other alerts trade. */
  readonly others: Grounds;
  readonly settings: (settings: Settings) => Settings;
  /** What the owner holds in the market at first, in base units: little beside what is bought. */
  readonly held: string;
  /** Whether a stop of the owner holds that, far from the price. */
  readonly isStoppedByHand: boolean;
  /** Whether the price falls through buys that rest: first they fill in part, and then their stop-losses fire. */
  readonly falls: boolean;
  /** Several orders must fill before a sale meets another strategy, so there are fewer faults each minute. */
  readonly faultScale: number;
}

const seedsPerSpotRun = 36;
/** An even one, in whose runs balances lag, and an odd one. */
const remainders: readonly number[] = [6, 27, 18];
/** In these the price falls through buys that rest, and through their stop-losses. */
const fallingRemainder = 18;
const seedStride = 0x1b873593;

/** @returns null for any other seed */
export function drawSpotRun(seed: number, dialect: Dialect): SpotRun | null {
  if (dialect !== 'live' || !remainders.includes(seed % seedsPerSpotRun)) return null;
  const random = createRandom(Math.imul(seed, seedStride));
  const grounds = groundsIn(dialect);
  const [shared = grounds[0]] = grounds.filter(({ tradesOn }) => tradesOn === 'spot');
  const held = pickOne(random, ['0', '0', '0.5', '2', '10']);
  return {
    random,
    shared,
    others: grounds.filter(({ tradesOn }) => tradesOn !== 'spot') as unknown as Grounds,
    settings: (usual) => withoutMinuteLimits(withoutLimitsOfRisk(usual)),
    held,
    // Of those in whose runs balances lag, every second one.
    isStoppedByHand: held !== '0' && seed % (2 * seedsPerSpotRun) < seedsPerSpotRun,
    falls: seed % seedsPerSpotRun === fallingRemainder,
    faultScale: pickOne(random, [0.05, 0.1, 0.2, 0.5]),
  };
}

/** Limits of a minute would leave few of the orders that must meet. */
const withoutMinuteLimits = changeAccounts((account) => ({
  ...account,
  maxOrdersPerMinute: null,
  maxSignalsPerMinute: null,
}));
