import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { RelayError } from '../../lib/base/errors.ts';
import { openSqlite, type SqliteFile } from '../../lib/base/sqlite.ts';
import type { AccountFacts } from '../../lib/ledger/account-facts.ts';
import { createSqliteAccountFacts } from '../../lib/ledger/sqlite-account-facts.ts';
import { createTeller, type Told } from '../../lib/ledger/tell-once.ts';
import { createManualClock, type ManualClock } from '../support/manual-clock.ts';
import { type RaisedAlarm, recordAlarms } from '../support/record-alarms.ts';

let clock: ManualClock;
let file: SqliteFile;
let facts: AccountFacts;
let raised: readonly RaisedAlarm[];
let open: (facts?: AccountFacts) => ReturnType<typeof createTeller>;

beforeEach(() => {
  clock = createManualClock(1_790_000_000_000);
  file = openSqlite(':memory:');
  facts = createSqliteAccountFacts(file);
  const recorded = recordAlarms();
  raised = recorded.raised;
  open = (store = facts) => createTeller({ clock, alarms: recorded.alarms, facts: store });
});

afterEach(() => file.close());

const told = (key: string, everyMs: number | null = null): Told => ({
  key,
  alarm: { name: 'unknown_word', message: 'a word' },
  facts: { word: key },
  everyMs,
});

test('an alarm comes once for each key and account, whichever process tells it', async () => {
  const teller = open();
  await teller.tell('main', told('a'));
  await teller.tell('main', told('a'));
  await teller.tell('second', told('a'));
  await teller.tell('main', told('b'));
  clock.advance(366 * 86_400_000);
  await open().tell('main', told('a'));

  expect(raised.map(({ account, word }) => [account, word])).toEqual([
    ['main', 'a'],
    ['second', 'a'],
    ['main', 'b'],
  ]);
});

test('an alarm comes again after its interval', async () => {
  const teller = open();
  await teller.tell('main', told('a', 1000));
  clock.advance(999);
  await teller.tell('main', told('a', 1000));
  await open().tell('main', told('a', 1000));
  expect(raised).toHaveLength(1);

  clock.advance(1);
  await teller.tell('main', told('a', 1000));
  expect(raised).toHaveLength(2);
});

test('a process that was told by another one raises nothing, and forgets nothing that it told', async () => {
  const [one, other] = [open(), open()];
  await one.tell('main', told('a'));
  await other.tell('main', told('b'));
  await one.tell('main', told('b'));
  await open().tell('main', told('a'));

  expect(raised).toHaveLength(2);
});

test('ever new words do not fill the store', async () => {
  const teller = open();
  for (let round = 0; round < 2; round += 1)
    for (let count = 0; count < 250; count += 1) await teller.tell('main', told(`word ${count}`));

  expect(raised).toHaveLength(250);
  expect(Object.keys((await facts.read('main', 'told')) as object)).toHaveLength(100);
});

test('a store that fails costs no alarm, and stops nothing', async () => {
  const fail = async () => {
    throw new RelayError('store_unavailable', 'no disk');
  };
  const teller = open({ read: fail, write: fail });

  await teller.tell('main', told('a'));
  await teller.tell('main', told('a'));

  expect(raised).toHaveLength(1);
});
