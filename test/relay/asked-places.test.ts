import { beforeEach, describe, expect, test } from '@jest/globals';
import { openSqlite } from '../../lib/base/sqlite.ts';
import type { ContestedFacts } from '../../lib/ledger/account-facts.ts';
import { createSqliteAccountFacts } from '../../lib/ledger/sqlite-account-facts.ts';
import { forgetAskedPlaces, noteAskedPlace, readAskedPlaces } from '../../lib/relay/protect/asked-places.ts';

const minuteMs = 60_000;
const noonMs = 1_790_000_000_000;
const place = { market: 'BTC_USDT', side: null };

let facts: ContestedFacts;
let goneSinceMs: Map<string, number>;
beforeEach(() => {
  facts = createSqliteAccountFacts(openSqlite(':memory:'));
  goneSinceMs = new Map();
});

const note = (atMs: number) => noteAskedPlace(facts, 'main', { ...place, atMs });

/** A reading that shows no position. */
async function readFlat(readAtMs: number, hidden: readonly string[] = []): Promise<void> {
  const places = await readAskedPlaces(facts, 'main');
  const reading = { places, positions: { positions: [], hidden }, readAtMs };
  await forgetAskedPlaces(facts, 'main', reading, goneSinceMs);
}

describe('Where an alert asked to protect a position', () => {
  test('is forgotten when no reading of ten minutes has shown that', async () => {
    await note(noonMs);
    await readFlat(noonMs + minuteMs);
    await readFlat(noonMs + 10 * minuteMs);
    expect(await readAskedPlaces(facts, 'main')).toEqual([{ ...place, atMs: noonMs }]);
    await readFlat(noonMs + 11 * minuteMs);

    expect(await readAskedPlaces(facts, 'main')).toEqual([]);
  });

  test('stays while a record of the list cannot be read', async () => {
    await note(noonMs);
    for (let minute = 0; minute < 30; minute += 1) await readFlat(noonMs + minute * minuteMs, ['BTC_USDT']);

    expect(await readAskedPlaces(facts, 'main')).toHaveLength(1);
  });

  test('stays when another alert asks again, whatever was read before it', async () => {
    await note(noonMs);
    await readFlat(noonMs);
    await note(noonMs + 9 * minuteMs);
    await readFlat(noonMs + 11 * minuteMs);

    expect(await readAskedPlaces(facts, 'main')).toHaveLength(1);
  });

  test('begins anew hours after it was forgotten', async () => {
    await note(noonMs);
    await readFlat(noonMs);
    await readFlat(noonMs + 10 * minuteMs);
    await note(noonMs + 300 * minuteMs);
    await readFlat(noonMs + 301 * minuteMs);

    expect(await readAskedPlaces(facts, 'main')).toHaveLength(1);
  });

  test('is not lost when two markets note theirs at once', async () => {
    await Promise.all([
      note(noonMs),
      noteAskedPlace(facts, 'main', { market: 'ETH_USDT', side: null, atMs: noonMs }),
    ]);

    expect(await readAskedPlaces(facts, 'main')).toHaveLength(2);
  });
});
