import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { Entry, EntryKey, LookupProgress } from '../../lib/ledger/entry.ts';
import type { EntryQuery, Ledger } from '../../lib/ledger/ledger.ts';
import { acceptOne } from '../support/accept-one.ts';
import { type LedgerFixture, orderEntry } from './ledger-contract.ts';

const noonMs = 1_767_268_800_000;

/** The contract of every ledger for due lookups, and for lists from the oldest entry on. */
export function describeLookups(name: string, openFixture: () => Promise<LedgerFixture>): void {
  let fixture: LedgerFixture;
  let ledger: Ledger;

  beforeEach(async () => {
    fixture = await openFixture();
    ledger = fixture.ledger;
  });
  afterEach(() => fixture.close());

  const keyOf = (signalId: string): EntryKey => ({ account: 'main', signalId });

  async function start(signalId: string): Promise<EntryKey> {
    const key = keyOf(signalId);
    await acceptOne(ledger, orderEntry(signalId), null);
    await ledger.start(key, { status: 'sending', atMs: noonMs, note: '' }, null);
    return key;
  }

  async function lose(signalId: string, atMs: number): Promise<EntryKey> {
    const key = await start(signalId);
    await ledger.move(key, {
      from: 'sending',
      step: { status: 'unknown', atMs, note: 'lost' },
      orderOpen: true,
    });
    return key;
  }

  async function read(key: EntryKey): Promise<Entry> {
    const entry = await ledger.read(key);
    if (entry === null) throw new Error('the entry is gone');
    return entry;
  }

  async function lookupOf(key: EntryKey): Promise<LookupProgress> {
    const { lookup } = await read(key);
    if (lookup === null) throw new Error('the entry has no look');
    return lookup;
  }

  async function idsDue(nowMs: number, limit = 10): Promise<readonly string[]> {
    return (await ledger.dueLookups(nowMs, limit)).map(({ signalId }) => signalId);
  }

  function addLookup(lookup: LookupProgress, dueAtMs: number): LookupProgress {
    return {
      ...lookup,
      count: lookup.count + 1,
      notFound: 1,
      firstNotFoundAtMs: noonMs,
      lastAtMs: noonMs,
      dueAtMs,
      finding: 'in no "list" 🐢',
    };
  }

  const settled = { status: 'placed', atMs: noonMs + 9, note: 'found' } as const;

  describe(`${name}: due lookups`, () => {
    test('are complete entries, longest due first, and none before its time', async () => {
      await lose('second', noonMs + 2);
      await lose('third', noonMs + 3);
      await lose('first', noonMs + 1);

      expect(await idsDue(noonMs)).toEqual([]);
      expect(await idsDue(noonMs + 2)).toEqual(['first', 'second']);
      expect(await idsDue(noonMs + 3)).toEqual(['first', 'second', 'third']);
      expect((await ledger.dueLookups(noonMs + 1, 10))[0]).toStrictEqual(await ledger.read(keyOf('first')));
    });

    test('are at most as many as the limit', async () => {
      for (const [index, id] of ['a', 'b', 'c', 'd'].entries()) await lose(id, noonMs + index);

      expect(await idsDue(noonMs + 100, 3)).toEqual(['a', 'b', 'c']);
    });

    test('are those of unknown entries only', async () => {
      await acceptOne(ledger, orderEntry('accepted'), null);
      await start('sending');
      const found = await lose('found', noonMs);
      await ledger.move(found, { from: 'unknown', step: settled });
      await lose('lost', noonMs);

      expect(await idsDue(noonMs + 3_600_000)).toEqual(['lost']);
    });

    test('begin with the alarm raised and no result', async () => {
      const key = await lose('a', noonMs + 5);

      expect(await lookupOf(key)).toStrictEqual({
        count: 0,
        notFound: 0,
        firstNotFoundAtMs: null,
        lastAtMs: null,
        dueAtMs: noonMs + 5,
        alarmedAtMs: noonMs + 5,
        finding: null,
      });
    });

    test('stay readable in a settled entry', async () => {
      const key = await lose('a', noonMs);
      const lookup = addLookup(await lookupOf(key), noonMs + 60_000);
      await ledger.postpone(key, await lookupOf(key), lookup);

      await ledger.move(key, { from: 'unknown', step: settled });

      expect(await lookupOf(key)).toStrictEqual(lookup);
    });
  });

  describe(`${name}: lookups postponed before a clock was set back`, () => {
    const twoHoursMs = 2 * 60 * 60_000;

    test('are due when they lie more than two hours ahead, after the others that are due', async () => {
      for (const [id, dueAtMs] of [
        ['far', noonMs + twoHoursMs + 1],
        ['near', noonMs + twoHoursMs],
        ['farther', noonMs + 2 * twoHoursMs],
        ['due', noonMs],
      ] as const) {
        const key = await lose(id, noonMs);
        await ledger.postpone(key, await lookupOf(key), addLookup(await lookupOf(key), dueAtMs));
      }

      expect(await idsDue(noonMs)).toEqual(['due', 'far', 'farther']);
      expect(await idsDue(noonMs, 2)).toEqual(['due', 'far']);
      expect(await idsDue(noonMs, 1)).toEqual(['due']);
    });

    test('are due when they became unknown in the future, further than the clocks of two writers differ', async () => {
      await lose('of another writer', noonMs + 5_000);
      await lose('future', noonMs + 3_600_000);

      expect(await idsDue(noonMs)).toEqual(['future']);
      expect(await idsDue(noonMs + 5_000)).toEqual(['of another writer', 'future']);
    });
  });

  describe(`${name}: a postponed lookup`, () => {
    test('is due at the new time, and changes nothing else of its entry', async () => {
      const key = await lose('a', noonMs);
      const before = await read(key);
      const lookup = addLookup(await lookupOf(key), noonMs + 60_000);

      expect(await ledger.postpone(key, await lookupOf(key), lookup)).toBe(true);

      expect(await ledger.read(key)).toStrictEqual({ ...before, lookup });
      expect(await idsDue(noonMs + 59_999)).toEqual([]);
      expect(await idsDue(noonMs + 60_000)).toEqual(['a']);
    });

    test('comes after those that are due longer', async () => {
      const key = await lose('a', noonMs);
      await lose('b', noonMs + 1);
      await ledger.postpone(key, await lookupOf(key), addLookup(await lookupOf(key), noonMs + 2));

      expect(await idsDue(noonMs + 2)).toEqual(['b', 'a']);
    });

    test('is postponed by only one of two concurrent lookups', async () => {
      const key = await lose('a', noonMs);
      const seen = await lookupOf(key);
      const looks = [addLookup(seen, noonMs + 60_000), addLookup(seen, noonMs + 60_001)] as const;

      const done = await Promise.all(looks.map((lookup) => ledger.postpone(key, seen, lookup)));

      expect([...done].sort()).toEqual([false, true]);
      expect(await lookupOf(key)).toStrictEqual(done[0] ? looks[0] : looks[1]);
    });

    test('does not change when another lookup was recorded since', async () => {
      const key = await lose('a', noonMs);
      const seen = await lookupOf(key);
      const newer = addLookup(seen, noonMs + 60_000);
      await ledger.postpone(key, seen, newer);

      expect(await ledger.postpone(key, seen, addLookup(seen, noonMs + 90_000))).toBe(false);
      expect(await lookupOf(key)).toStrictEqual(newer);
    });

    test('is not due again when the entry was settled meanwhile', async () => {
      const key = await lose('a', noonMs);
      const seen = await lookupOf(key);
      await ledger.move(key, { from: 'unknown', step: settled });
      const moved = await ledger.read(key);

      expect(await ledger.postpone(key, seen, addLookup(seen, noonMs + 60_000))).toBe(false);
      expect(await ledger.read(key)).toStrictEqual(moved);
      expect(await idsDue(noonMs + 3_600_000)).toEqual([]);
    });

    test('does not exist for an unknown entry', async () => {
      const seen = await lookupOf(await lose('a', noonMs));

      expect(await ledger.postpone(keyOf('nobody'), seen, addLookup(seen, noonMs + 60_000))).toBe(false);
      expect(await ledger.read(keyOf('nobody'))).toBeNull();
    });

    test('survives a restart', async () => {
      const key = await lose('a', noonMs);
      const lookup = addLookup(await lookupOf(key), noonMs + 60_000);
      await ledger.postpone(key, await lookupOf(key), lookup);

      const again = await fixture.reopen();

      expect(await again.dueLookups(noonMs + 59_999, 10)).toEqual([]);
      expect(await again.dueLookups(noonMs + 60_000, 10)).toMatchObject([{ signalId: 'a', lookup }]);
    });
  });

  describe(`${name}: list, oldest first`, () => {
    const ids = Array.from({ length: 7 }, (_, index) => `s-${index}`);

    /** Stored in their own order; every second one is being sent. */
    async function arrive(): Promise<void> {
      for (const index of [3, 0, 6, 2, 5, 1, 4]) {
        const key = keyOf(`s-${index}`);
        await acceptOne(ledger, orderEntry(key.signalId, { atMs: noonMs + index }), null);
        if (index % 2 === 1)
          await ledger.start(key, { status: 'sending', atMs: noonMs + 100 - index, note: '' }, null);
      }
    }

    async function readPages(query: EntryQuery, onPage = async () => {}): Promise<readonly string[]> {
      const { entries, next } = await ledger.list(query);
      await onPage();
      const found = entries.map(({ signalId }) => signalId);
      return next === null ? found : [...found, ...(await readPages({ ...query, cursor: next }, onPage))];
    }

    test.each([1, 2, 3, 7, 100])('returns all in pages of %i', async (limit) => {
      await arrive();

      expect(await readPages({ limit, oldestFirst: true })).toEqual(ids);
      expect(await readPages({ limit })).toEqual(ids.toReversed());
    });

    test.each([1, 2, 3, 4])('returns one status in pages of %i', async (limit) => {
      await arrive();
      const query = { limit, status: 'sending', oldestFirst: true } as const;

      expect(await readPages(query)).toEqual(['s-1', 's-3', 's-5']);
      expect(await readPages({ ...query, oldestFirst: false })).toEqual(['s-5', 's-3', 's-1']);
    });

    test('returns each entry of the same millisecond once', async () => {
      for (const id of ids) await acceptOne(ledger, orderEntry(id), null);

      expect(await readPages({ limit: 2, oldestFirst: true })).toEqual(ids);
    });

    test('misses nothing while listed entries change their status', async () => {
      for (const [index, id] of ids.entries())
        await acceptOne(ledger, orderEntry(id, { atMs: noonMs + index }), null);
      const waiting = [...ids];
      const deny = async () => {
        for (const id of waiting.splice(0, 2))
          await ledger.move(keyOf(id), {
            from: 'accepted',
            step: { status: 'denied', atMs: noonMs, note: '' },
          });
      };

      expect(await readPages({ limit: 2, status: 'accepted', oldestFirst: true }, deny)).toEqual(ids);
    });

    test('continues from a cursor of the other direction at the same position', async () => {
      await arrive();
      const { next } = await ledger.list({ limit: 3, oldestFirst: true });

      const back = await ledger.list({ limit: 10, cursor: next ?? '' });
      const on = await ledger.list({ limit: 10, cursor: next ?? '', oldestFirst: true });

      expect(back.entries.map(({ signalId }) => signalId)).toEqual(['s-1', 's-0']);
      expect(on.entries.map(({ signalId }) => signalId)).toEqual(['s-3', 's-4', 's-5', 's-6']);
    });
  });
}
