import { describe, expect, test } from '@jest/globals';
import { readNotes } from '../../lib/rehearsal/rehearsal-book.ts';
import { type KillAt, Killed, openRehearsalWorld, type RunOptions } from '../support/rehearsal-world.ts';

/** Where it runs, and by how many milliseconds the lists of the exchange lag when it is run again. */
const places: readonly (readonly [ground: string, lagMs: number, options: RunOptions])[] = [
  ['futures in hedge mode', 0, { market: 'BTC_PERP', ground: 'futures', isHedged: true }],
  ['margin', 0, { market: 'BTC_USDT', ground: 'margin' }],
  ['margin', 2_500, { market: 'BTC_USDT', ground: 'margin' }],
  ['futures', 2_500, { market: 'BTC_PERP', ground: 'futures' }],
  ['spot', 2_500, { market: 'DBTC_DUSDT', ground: 'spot' }],
  [
    'margin, with exits that the list of open orders leaves out,',
    0,
    { exits: { listsExits: false, showsAttached: true } },
  ],
];
const listNames = ['open-order', 'ended-order', 'executed-history', 'conditional-orders', 'open-positions'];

describe('a rehearsal that is killed at any of its requests and writes', () => {
  test.each(places)(
    'on %s cleans up when it is run again; lists lag by %d ms',
    async (_, lagMs, options) => {
      const acts = await countActs(options);
      // Killed before an act is the same as killed after the one before it.
      const kills = Array.from({ length: acts }, (_none, index): KillAt => ({ act: index + 1 }));
      const odd: object[] = [];
      for (const killAt of kills) {
        const after = await runAfterKill({ ...options, killAt }, lagMs);
        if (after !== null) odd.push({ killAt, ...after });
      }
      expect(odd).toEqual([]);
      expect(kills.length).toBeGreaterThan(40);
    },
    120_000,
  );
});

async function countActs(options: RunOptions): Promise<number> {
  const world = await openRehearsalWorld();
  try {
    await world.run(options);
    return world.acts();
  } finally {
    await world.close();
  }
}

/** @returns what is not as it should be after the second run; null: nothing */
async function runAfterKill(options: RunOptions, lagMs: number): Promise<object | null> {
  const { killAt: _, ...place } = options;
  // It cleans up before its first step, whichever that is.
  const plainly: RunOptions = { ...place, from: '1', to: '1' };
  const world = await openRehearsalWorld();
  try {
    const killed = await world.run(options).then(
      () => false,
      (error: unknown) => error instanceof Killed,
    );
    if (lagMs > 0)
      for (const endpoint of listNames)
        world.paper.control.addFault({ fault: 'read_lag', endpoint, delayMs: lagMs, probability: 1 });
    const { left, tried } = await world.run(plainly);
    const notes = await readNotes(world.facts, 'main', plainly.ground ?? 'margin');
    const stopped = tried.filter(({ outcome }) => !outcome.passed);
    const isFine = killed && left === null && stopped.length === 0 && notes.sent.length === 0;
    return isFine && world.left().length === 0
      ? null
      : { killed, left, stopped, sent: notes.sent, open: world.left() };
  } finally {
    await world.close();
  }
}
