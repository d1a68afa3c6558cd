import { createRandom } from '../../lib/base/random.ts';
import type { Dialect } from '../../lib/exchange/dialect.ts';
import { type ExitSettings, usualExitSettings } from '../../lib/paper/engine/exit-settings.ts';
import { pickOne, rollChance } from './dice.ts';

const exitMomentsDrawn = [
  ...(['first_fill', 'first_fill'] as const),
  ...(['end', 'end', 'end', 'end', 'end'] as const),
  'never',
] as const;

/** Spreads the seeds, in another way than that of the run itself. */
const seedStride = 0x846ca68b;

/**
 * How the exchange of a run makes the stop-losses and take-profits of entries, which nobody has written down. Half of the
 * runs have it as usual. The written API shows too little for their protection to be kept. An exit that no list of orders
 * shows is shown beside its position.
 */
export function drawExitSettings(seed: number, dialect: Dialect): ExitSettings {
  const random = createRandom(Math.imul(seed, seedStride));
  if (dialect !== 'live' || rollChance(random, 0.5)) return usualExitSettings;
  const drawn: ExitSettings = {
    madeAt: pickOne(random, exitMomentsDrawn),
    afterPartial: !rollChance(random, 0.4),
    reduceOnly: rollChance(random, 0.4),
    stopKind: pickOne(random, ['limit', 'market']),
    showsAttached: rollChance(random, 0.3),
    listsExits: true,
    refusesReduceOnlyStops: rollChance(random, 0.06),
    stopsWaitBy: 'price',
    takesUsedIds: false,
  };
  return { ...drawn, listsExits: !drawn.showsAttached || !rollChance(random, 0.5) };
}
