import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { Accepted, Ledger, NewEntry } from '../../lib/ledger/ledger.ts';
import { orderEntry } from './ledger-contract.ts';
import type { SharedLedger } from './state-machine.ts';

const noonMs = 1_767_268_800_000;
/** The resend window, as the documents state it. */
const windowMs = 40_000;
const hourMs = 3_600_000;

/** An alert without id and time: only its arrival names its signals. */
function arrivalAt(atMs: number, changes: Partial<NewEntry> = {}): NewEntry {
  return orderEntry(`h-${atMs}`, { atMs, isByArrival: true, ...changes });
}

/** The signals of an accepted alert, those that were stored before in brackets. */
function namesOf(accepted: Accepted): readonly string[] {
  if (accepted.result !== 'stored') return [accepted.result];
  return accepted.signals.map(({ entry, isNew }) => (isNew ? entry.signalId : `(${entry.signalId})`));
}

/**
 * What a ledger does with an alert that came before: it must tell a resend from another alert.
 *
 * @param kept what keeps bytes out after a clock was set back: one window, or the clock until it has caught up
 */
export function describeRepeats(
  name: string,
  openLedger: () => Promise<SharedLedger>,
  kept: 'for one window' | 'until the clock has caught up',
): void {
  let shared: SharedLedger;
  let ledger: Ledger;
  let other: Ledger;

  beforeEach(async () => {
    shared = await openLedger();
    ({ ledger, other } = shared);
  });
  afterEach(() => shared.close());

  const accept = async (entry: NewEntry, by = ledger) => namesOf(await by.accept([entry], null));
  const storedIds = async () =>
    (await ledger.list({ limit: 100, oldestFirst: true })).entries.map(({ signalId }) => signalId);

  describe(`${name}: the same id and bytes`, () => {
    test.each([
      ['at once', 0, ['(a)']],
      ['in the last millisecond of the window', windowMs - 1, ['(a)']],
      ['from another machine, whose clock is behind', -8000, ['(a)']],
      ['when the window has passed', windowMs, ['id_taken']],
      ['a day later', 24 * hourMs, ['id_taken']],
      ['after the clock was set back by an hour', -hourMs, ['id_taken']],
    ])('%s', async (_, afterMs, names) => {
      await accept(orderEntry('a'));
      expect(await accept(orderEntry('a', { atMs: noonMs + afterMs }), other)).toEqual(names);
      expect(await storedIds()).toEqual(['a']);
    });

    test('late, in an array with another signal, keep that one out, too', async () => {
      await accept(orderEntry('a'));
      const late = { atMs: noonMs + windowMs };
      const accepted = await ledger.accept([orderEntry('b', late), orderEntry('a', late)], null);
      expect(accepted).toMatchObject({ result: 'id_taken', by: { signalId: 'a', createdAtMs: noonMs } });
      expect(await storedIds()).toEqual(['a']);
    });
  });

  describe(`${name}: the same bytes without id and time`, () => {
    test.each([
      ['at once', 0],
      ['in the last millisecond of the window', windowMs - 1],
      ['from another machine, whose clock is behind', -8000],
      ['after the clock was set back by an hour', -hourMs],
    ])('%s are the first alert', async (_, afterMs) => {
      await accept(arrivalAt(noonMs));
      expect(await accept(arrivalAt(noonMs + afterMs), other)).toEqual([`(h-${noonMs})`]);
      expect(await storedIds()).toEqual([`h-${noonMs}`]);
    });

    test('are a new alert when the window has passed, counted from the first and not from its copies', async () => {
      await accept(arrivalAt(noonMs));
      await accept(arrivalAt(noonMs + windowMs - 1));
      expect(await accept(arrivalAt(noonMs + windowMs))).toEqual([`h-${noonMs + windowMs}`]);
      expect(await accept(arrivalAt(noonMs + windowMs + 1))).toEqual([`(h-${noonMs + windowMs})`]);
    });

    test(`are kept out ${kept} after a clock was set back`, async () => {
      await accept(arrivalAt(noonMs));
      const backMs = noonMs - hourMs;
      await accept(arrivalAt(backMs));
      const freeMs = kept === 'for one window' ? backMs + windowMs : noonMs + windowMs;
      expect(await accept(arrivalAt(freeMs - 1))).toEqual([`(h-${noonMs})`]);
      expect(await accept(arrivalAt(freeMs))).toEqual([`h-${freeMs}`]);
    });

    if (kept === 'until the clock has caught up')
      test('are not dated back by a delivery that was frozen until a later alert was stored', async () => {
        const laterMs = noonMs + windowMs + 20_000;
        await accept(arrivalAt(laterMs), other);
        expect(await accept(arrivalAt(noonMs))).toEqual([`(h-${laterMs})`]);
        expect(await accept(arrivalAt(laterMs + 5000), other)).toEqual([`(h-${laterMs})`]);
      });

    test('of another account, and other bytes, are another alert', async () => {
      await accept(arrivalAt(noonMs));
      expect(await accept(arrivalAt(noonMs, { account: 'second' }))).toEqual([`h-${noonMs}`]);
      expect(await accept(arrivalAt(noonMs, { signalId: 'h-2', fingerprint: 'f2' }))).toEqual(['h-2']);
    });

    test('return every signal of an array, in its order and with its present status', async () => {
      const arrayAt = (atMs: number) =>
        ['x', 'y', 'z'].map((each) => arrivalAt(atMs, { signalId: `h-${atMs}-${each}` }));
      await ledger.accept(arrayAt(noonMs), null);
      const denied = { status: 'denied', atMs: noonMs, note: '' } as const;
      await ledger.move({ account: 'main', signalId: `h-${noonMs}-y` }, { from: 'accepted', step: denied });

      const again = await other.accept(arrayAt(noonMs + 5000), null);

      expect(namesOf(again)).toEqual(['x', 'y', 'z'].map((each) => `(h-${noonMs}-${each})`));
      expect(again).toMatchObject({
        signals: ['accepted', 'denied', 'accepted'].map((status) => ({ entry: { status } })),
      });
    });

    test('that were over the limit are new when they come again', async () => {
      const limit = { maxPerMinute: 1 };
      await ledger.accept([orderEntry('a', { atMs: noonMs - 55_000 })], limit);
      expect(namesOf(await ledger.accept([arrivalAt(noonMs)], limit))).toEqual(['over_limit']);
      expect(namesOf(await ledger.accept([arrivalAt(noonMs + 5000)], limit))).toEqual([`h-${noonMs + 5000}`]);
    });

    test('take no place of the limit when they come again', async () => {
      const limit = { maxPerMinute: 2 };
      for (const afterMs of [0, 1, 2, 3]) await ledger.accept([arrivalAt(noonMs + afterMs)], limit);
      expect(namesOf(await ledger.accept([orderEntry('a')], limit))).toEqual(['a']);
    });

    test('that reach two processes twenty times at one moment are one alert', async () => {
      const copies = Array.from({ length: 20 }, (_, index) =>
        accept(arrivalAt(noonMs + index), index % 2 === 0 ? ledger : other),
      );
      const names = (await Promise.all(copies)).flat();
      expect(names.filter((each) => !each.startsWith('('))).toHaveLength(1);
      expect(new Set(names.map((each) => each.replace(/[()]/g, ''))).size).toBe(1);
      expect(await storedIds()).toHaveLength(1);
    });

    test('that arrive at one moment just as the window ends are one further alert', async () => {
      await accept(arrivalAt(noonMs));
      const copies = Array.from({ length: 10 }, (_, index) =>
        accept(arrivalAt(noonMs + windowMs - 5 + index), index % 2 === 0 ? ledger : other),
      );
      const fresh = (await Promise.all(copies)).flat().filter((each) => !each.startsWith('('));
      expect(fresh).toHaveLength(1);
      expect(await storedIds()).toEqual([`h-${noonMs}`, ...fresh]);
    });

    test('are new exactly when no signal of them was stored within the window before, in any rhythm', async () => {
      let fingerprints = 0;
      const pauses = fc.array(fc.integer({ min: 0, max: 3 * windowMs }), { minLength: 1, maxLength: 8 });
      await fc.assert(
        fc.asyncProperty(pauses, async (pausesMs) => {
          fingerprints += 1;
          const fingerprint = `rhythm-${fingerprints}`;
          let atMs = noonMs;
          let lastNewMs = Number.NEGATIVE_INFINITY;
          for (const pauseMs of pausesMs) {
            atMs += pauseMs;
            const signalId = `h-${fingerprint}-${atMs}`;
            const [stored = ''] = await accept(arrivalAt(atMs, { signalId, fingerprint }));
            const isNew = atMs - lastNewMs >= 40_000;
            if (isNew) lastNewMs = atMs;
            expect(stored).toBe(isNew ? signalId : `(h-${fingerprint}-${lastNewMs})`);
          }
        }),
        { numRuns: 15 },
      );
    });
  });
}
