import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Ledger } from '../../lib/ledger/ledger.ts';
import { isFinal, type Status, statuses, transitions } from '../../lib/model/outcome.ts';
import { some } from '../support/runs.ts';
import { namedMoves, reachableStates } from './reachable-states.ts';
import { enact, findReachable, moveBy, readEntry, statusOf, stepTo } from './state-search.ts';

/** A ledger, and another one over the same data, as in another process. */
export interface SharedLedger {
  readonly ledger: Ledger;
  readonly other: Ledger;
  close(): Promise<void>;
}

const states = Object.entries(reachableStates);
const conflict = { code: 'entry_conflict' };

function isNamed(from: Status, to: Status): boolean {
  return namedMoves.some((move) => move.endsWith(`: ${from} → ${to}`));
}

function wayTo(status: Status): string {
  const states: Partial<Record<Status, string>> = {
    accepted: 'accepted, waiting',
    unknown: 'unknown, open, lookup due',
  };
  return reachableStates[states[status] ?? status] ?? '';
}

/** Tests every reachable state, every move from every status to every status, and concurrent writers. */
export function describeStateMachine(name: string, openLedger: () => Promise<SharedLedger>): void {
  describe(`${name}: its state machine`, () => {
    let shared: SharedLedger;
    let ledger: Ledger;
    let other: Ledger;

    beforeAll(async () => {
      shared = await openLedger();
      ({ ledger, other } = shared);
    });
    afterAll(() => shared.close());

    test('leads an entry to the listed states and no others', async () => {
      expect(await findReachable(ledger)).toEqual(reachableStates);
    });

    /**
     * The code refuses moves that are not transitions; the store's
     * condition refuses transitions from another status.
     */
    describe('of the moves from every status to every status', () => {
      const onTheWay = states.filter(([state]) => !isFinal(statusOf(state)));

      test.each(some(onTheWay))(
        'an entry that is %s takes the named ones from its status',
        async (state, path) => {
          for (const { from, to } of transitions.filter((move) => move.from === statusOf(state))) {
            const key = await enact(ledger, path);
            const { steps, orderOpen } = await readEntry(ledger, key);
            await ledger.move(key, {
              ...moveBy({ from, to }),
              orderOpen: !orderOpen,
              orderId: 77,
            });
            expect(await readEntry(ledger, key)).toMatchObject({
              status: to,
              orderId: 77,
              steps: [...steps, stepTo(to)],
            });
          }
        },
      );

      test.each(some(states))(
        'an entry that is %s takes no other, and stays as it was',
        async (state, path) => {
          const key = await enact(ledger, path);
          const before = await readEntry(ledger, key);
          for (const from of statuses) {
            for (const to of statuses.filter(
              (status) => from !== statusOf(state) || !isNamed(from, status),
            )) {
              const move = { ...moveBy({ from, to }), orderOpen: !before.orderOpen, orderId: 77 };
              await expect(ledger.move(key, move)).rejects.toMatchObject(conflict);
            }
            expect(JSON.stringify(await readEntry(ledger, key))).toBe(JSON.stringify(before));
          }
        },
      );

      test.each(some(states))(
        'an entry that is %s is started only if it is accepted',
        async (state, path) => {
          const key = await enact(ledger, path);
          const before = await readEntry(ledger, key);
          const started = await ledger.start(key, stepTo('sending'), null);
          if (statusOf(state) === 'accepted') expect(started).toEqual({ result: 'started' });
          else {
            expect(started).toEqual({ result: 'conflict', entry: before });
            expect(JSON.stringify(await readEntry(ledger, key))).toBe(JSON.stringify(before));
          }
        },
      );
    });

    describe('of two writers that saw the same entry', () => {
      const meetings = transitions.flatMap((one) =>
        transitions.filter(({ from }) => from === one.from).map((two) => ({ one, two })),
      );

      test.each(some(transitions))('both to "$name", the later one is refused', async (transition) => {
        const key = await enact(ledger, wayTo(transition.from));
        const seen = [await readEntry(ledger, key), await readEntry(other, key)];
        await ledger.move(key, moveBy(transition, 'the first'));
        const moved = await readEntry(ledger, key);

        const late = other.move(key, moveBy(transition, 'the second'));

        await expect(late).rejects.toMatchObject(conflict);
        expect(seen[0]).toStrictEqual(seen[1]);
        expect(await readEntry(ledger, key)).toStrictEqual(moved);
      });

      test.each(some(meetings))(
        'one to "$one.name", one to "$two.name" at once, one wins',
        async ({ one, two }) => {
          const key = await enact(ledger, wayTo(one.from));
          const before = await readEntry(ledger, key);

          const [first, second] = await Promise.allSettled([
            ledger.move(key, moveBy(one, 'the first')),
            other.move(key, moveBy(two, 'the second')),
          ]);

          const [winner, won, loser] =
            first.status === 'fulfilled'
              ? [first, stepTo(one.to, 'the first'), second]
              : [second, stepTo(two.to, 'the second'), first];
          expect([winner, loser]).toMatchObject([
            { status: 'fulfilled' },
            { status: 'rejected', reason: conflict },
          ]);
          expect((await readEntry(ledger, key)).steps).toEqual([...before.steps, won]);
        },
      );
    });
  });
}
