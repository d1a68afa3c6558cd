import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { RelayError } from '../../lib/base/errors.ts';
import { openSqlite, type SqliteFile } from '../../lib/base/sqlite.ts';
import type { ContestedFacts } from '../../lib/ledger/account-facts.ts';
import { createSqliteAccountFacts } from '../../lib/ledger/sqlite-account-facts.ts';
import {
  aliveEveryMs,
  longestSilenceMs,
  RehearsalBook,
  readNotes,
  type SentOrder,
} from '../../lib/rehearsal/rehearsal-book.ts';
import { createManualClock, type ManualClock } from '../support/manual-clock.ts';

let file: SqliteFile;
let facts: ContestedFacts;
let clock: ManualClock;

beforeEach(() => {
  file = openSqlite(':memory:');
  facts = createSqliteAccountFacts(file);
  clock = createManualClock(Date.parse('2026-11-26T14:58:00Z'));
});
afterEach(() => file.close());

const open = (by: string, store = facts) =>
  RehearsalBook.open({ facts: store, account: 'main', ground: 'margin', by, clock });
const sentOrders = async () =>
  (await readNotes(facts, 'main', 'margin')).sent.map(({ clientOrderId }) => clientOrderId);

function order(clientOrderId: string): SentOrder {
  const rest = { side: 'buy', step: '2', atMs: 1, stopLoss: null, takeProfit: null } as const;
  return { clientOrderId, market: 'BTC_USDT', ...rest };
}

describe('the book of a rehearsal', () => {
  test('is open to one at a time, and says who has it, and since when', async () => {
    const first = await open('process 1 on laptop');
    await first.note(order('a'));
    clock.advance(longestSilenceMs - 1);

    await expect(open('process 2 on laptop')).rejects.toMatchObject({
      code: 'rehearsal_in_use',
      message: 'account main is rehearsed on margin by process 1 on laptop since 2026-11-26 14:58:00 UTC',
    });
    expect(await sentOrders()).toEqual(['a']);
  });

  test('lets one of two in that come at the same moment', async () => {
    const came = await Promise.allSettled([open('process 1 on laptop'), open('process 2 on laptop')]);

    expect(came.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
  });

  test('stays with the one that shows that it lives, however long it waits for its owner', async () => {
    const first = await open('process 1 on laptop');
    for (let waitedMs = 0; waitedMs < 10 * longestSilenceMs; waitedMs += aliveEveryMs) {
      clock.advance(aliveEveryMs);
      await first.showAlive();
    }

    await expect(open('process 2 on laptop')).rejects.toMatchObject({ code: 'rehearsal_in_use' });
  });

  test('goes to the next one when the first was killed, with what it had noted', async () => {
    const killed = await open('process 1 on laptop');
    await killed.note(order('a'));
    clock.advance(longestSilenceMs);

    const next = await open('process 2 on laptop');

    expect(next.notes.sent).toMatchObject([{ clientOrderId: 'a' }]);
    // It only slept: it must send nothing more, and overwrite nothing.
    await next.note(order('b'));
    await expect(killed.note(order('c'))).rejects.toMatchObject({
      code: 'rehearsal_in_use',
      message: expect.stringContaining('by process 2 on laptop'),
    });
    await expect(killed.close()).rejects.toMatchObject({ code: 'rehearsal_in_use' });
    expect(await sentOrders()).toEqual(['a', 'b']);
  });

  test('goes to the next one at once when the first has closed it', async () => {
    const first = await open('process 1 on laptop');
    await first.note(order('a'));
    await first.close();

    expect((await open('process 2 on laptop')).notes.sent).toHaveLength(1);
  });

  test('is written on after a write whose response was lost', async () => {
    let isLost = false;
    const lossy: ContestedFacts = {
      ...facts,
      async replace(...fact) {
        const done = await facts.replace(...fact);
        if (isLost) throw new RelayError('store_unavailable', 'the response was lost');
        return done;
      },
    };
    const book = await open('process 1 on laptop', lossy);
    isLost = true;
    await expect(book.note(order('a'))).rejects.toMatchObject({ code: 'store_unavailable' });
    isLost = false;

    await book.note(order('b'));

    expect(await sentOrders()).toEqual(['b']);
  });

  test('takes signs of life and notes at the same time, one after the other', async () => {
    const book = await open('process 1 on laptop');

    await Promise.all([book.note(order('a')), book.showAlive(), book.note(order('b')), book.showAlive()]);

    expect(await sentOrders()).toEqual(['a', 'b']);
  });
});
