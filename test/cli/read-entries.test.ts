import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { readEntries } from '../../cli/read/read-entries.ts';
import { openSqlite } from '../../lib/base/sqlite.ts';
import { createDynamodbLedger } from '../../lib/ledger/dynamodb-ledger.ts';
import type { EntryQuery, Ledger } from '../../lib/ledger/ledger.ts';
import { createSqliteLedger } from '../../lib/ledger/sqlite-ledger.ts';
import { orderEntry } from '../ledger/ledger-contract.ts';
import { acceptOne } from '../support/accept-one.ts';
import { type LocalDynamodb, startDynamodb } from '../support/dynamodb/start-dynamodb.ts';
import { override } from '../support/override.ts';
import { createStackTable } from '../support/stack-tables.ts';

const noonMs = 1_767_268_800_000;

/** Three signals of account `rare`, each of them before twenty of others. */
async function fill(ledger: Ledger): Promise<void> {
  const entries = Array.from({ length: 63 }, (_, index) =>
    orderEntry(`s-${index}`, { account: index % 21 === 0 ? 'rare' : 'main', atMs: noonMs + index }),
  );
  await Promise.all(entries.map((entry) => acceptOne(ledger, entry, null)));
}

let dynamodb: LocalDynamodb;
beforeEach(async () => {
  dynamodb = await startDynamodb();
});
afterEach(() => dynamodb.close());

test('the signals of one account and status are found beyond the first page of a table', async () => {
  await createStackTable(dynamodb.client, 'ledger', 'ledger');
  const ledger = createDynamodbLedger({ client: dynamodb.relayClient, tableName: 'ledger', keepDays: 1 });
  await fill(ledger);

  const found = await readEntries(ledger, { account: 'rare', status: 'accepted' }, { limit: 5 });
  const two = await readEntries(ledger, { account: 'rare', status: 'accepted' }, { limit: 2 });

  expect(found.entries.map(({ signalId }) => signalId)).toEqual(['s-42', 's-21', 's-0']);
  expect(two.entries.map(({ signalId }) => signalId)).toEqual(['s-42', 's-21']);
});

test('of the signals of one account those of others are not read', async () => {
  const file = openSqlite(':memory:');
  const ledger = createSqliteLedger(file);
  await fill(ledger);
  const asked: EntryQuery[] = [];
  const watched = override(ledger, {
    list: (query) => {
      asked.push(query);
      return ledger.list(query);
    },
  });

  const found = await readEntries(watched, { account: 'rare' }, { limit: 2 });

  expect(found.entries.map(({ signalId }) => signalId)).toEqual(['s-42', 's-21']);
  expect(asked).toEqual([{ account: 'rare', limit: 2 }]);
  file.close();
});
