import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { Ledger } from '../../lib/ledger/ledger.ts';
import { acceptOne } from '../support/accept-one.ts';
import { type LedgerFixture, orderEntry } from './ledger-contract.ts';

const noonMs = 1_767_268_800_000;

/** How signals are found again: by when they came, page by page from any of them on, and by how their ids begin. */
export function describeFinding(name: string, openFixture: () => Promise<LedgerFixture>): void {
  describe(`${name}: what came at a time`, () => {
    let fixture: LedgerFixture;
    let ledger: Ledger;
    beforeEach(async () => {
      fixture = await openFixture();
      ledger = fixture.ledger;
      for (const [id, atMs] of [
        ['first', noonMs - 1],
        ['second', noonMs],
        ['third', noonMs],
        ['fourth', noonMs + 1],
      ] as const)
        await acceptOne(ledger, orderEntry(id, { atMs }), null);
    });
    afterEach(() => fixture.close());

    const listed = async (query: Parameters<Ledger['list']>[0]) =>
      (await ledger.list(query)).entries.map(({ signalId }) => signalId);

    test.each([{}, { account: 'main' }, { status: 'accepted' }] as const)(
      'is listed from there on, of all that are %j',
      async (filter) => {
        expect(await listed({ ...filter, limit: 9, startMs: noonMs })).toEqual(['first']);
        expect(await listed({ ...filter, limit: 9, startMs: noonMs + 1 })).toEqual([
          'third',
          'second',
          'first',
        ]);
        expect(await listed({ ...filter, limit: 9, startMs: noonMs, oldestFirst: true })).toEqual([
          'second',
          'third',
          'fourth',
        ]);
        expect(await listed({ ...filter, limit: 9, startMs: noonMs - 1 })).toEqual([]);
      },
    );

    test('goes on behind any entry of a page', async () => {
      const { entries, cursors } = await ledger.list({ limit: 9, startMs: noonMs + 2 });

      const rests = await Promise.all(cursors.map((cursor) => listed({ limit: 9, cursor })));

      const ids = entries.map(({ signalId }) => signalId);
      expect(ids).toEqual(['fourth', 'third', 'second', 'first']);
      expect(rests).toEqual([ids.slice(1), ids.slice(2), ids.slice(3), []]);
    });

    test('goes on from the cursor, wherever the first page was to begin', async () => {
      const { cursors } = await ledger.list({ limit: 2 });
      expect(await listed({ limit: 9, cursor: cursors[1] ?? '', startMs: noonMs + 9 })).toEqual([
        'second',
        'first',
      ]);
    });
  });

  describe(`${name}: ids that begin alike`, () => {
    let fixture: LedgerFixture;
    beforeEach(async () => {
      fixture = await openFixture();
      const step = { status: 'invalid', atMs: noonMs, note: 'no' } as const;
      for (const signalId of ['ab-1', 'ab-2', 'ac', 'ab', 'AB-1'])
        await acceptOne(fixture.ledger, orderEntry(signalId), null);
      await acceptOne(fixture.ledger, orderEntry('ab-3', { account: 'second' }), null);
      await fixture.ledger.refuse({ account: 'main', signalId: 'ab@refused-1', fingerprint: 'f', step });
    });
    afterEach(() => fixture.close());

    const found = async (prefix: string, limit = 9) =>
      (await fixture.ledger.findByPrefix('main', prefix, limit)).map(({ signalId }) => signalId);

    test('are found in their order, those of one account, refused alerts too', async () => {
      expect(await found('ab')).toEqual(['ab', 'ab-1', 'ab-2', 'ab@refused-1']);
      expect(await found('ab-')).toEqual(['ab-1', 'ab-2']);
      expect(await found('a', 2)).toEqual(['ab', 'ab-1']);
    });

    test.each(['ab-9', '%', '_', 'ab-1 ', 'zz'])('are not found by %j', async (prefix) => {
      expect(await found(prefix)).toEqual([]);
    });
  });
}
