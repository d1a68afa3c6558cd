import { expect, test } from '@jest/globals';
import type { DynamodbClient, Item } from '../../lib/base/dynamodb.ts';
import { changesOf, type StreamRecord } from '../../lib/ledger/dynamodb-changes.ts';
import { createDynamodbExecutions } from '../../lib/ledger/dynamodb-executions.ts';
import { createDynamodbLedger } from '../../lib/ledger/dynamodb-ledger.ts';
import { createDynamodbNotes } from '../../lib/ledger/dynamodb-notes.ts';
import { startDynamodb } from '../support/dynamodb/start-dynamodb.ts';
import { createStackTable } from '../support/stack-tables.ts';
import { describeChanges } from './changes-contract.ts';

/** Keeps what a stream with old and new images would record of each write. */
function createStreamed(
  client: DynamodbClient,
): DynamodbClient & { readonly records: readonly StreamRecord[] } {
  const records: StreamRecord[] = [];
  const read = async (TableName: string, { account, item }: Item) => {
    if (account === undefined || item === undefined) throw new Error('a write without a key');
    const Keys = { account, item };
    const { Item: found } = await client.call('GetItem', { TableName, Key: Keys, ConsistentRead: true });
    return { Keys, found };
  };
  const targetsOf = (input: object): readonly { readonly TableName: string; readonly key: Item }[] => {
    const {
      TableName = '',
      Item: put,
      Key,
      TransactItems = [],
    } = input as {
      TableName?: string;
      Item?: Item;
      Key?: Item;
      TransactItems?: readonly { readonly Put: object }[];
    };
    const own = put ?? Key;
    return [
      ...(own === undefined ? [] : [{ TableName, key: own }]),
      ...TransactItems.flatMap(({ Put }) => targetsOf(Put)),
    ];
  };
  return {
    records,
    async call(operation, input) {
      if (!/^(?:Put|Update|Delete|TransactWrite)/.test(operation)) return await client.call(operation, input);
      const targets = targetsOf(input);
      const before = await Promise.all(targets.map(({ TableName, key }) => read(TableName, key)));
      const result = await client.call(operation, input);
      for (const [index, { TableName, key }] of targets.entries()) {
        const { Keys, found: NewImage } = await read(TableName, key);
        const OldImage = before[index]?.found;
        if (JSON.stringify(OldImage) === JSON.stringify(NewImage)) continue;
        records.push({ eventID: String(records.length), dynamodb: { Keys, NewImage, OldImage } });
      }
      return result;
    },
  };
}

describeChanges('the changes of a ledger on DynamoDB', async () => {
  const dynamodb = await startDynamodb();
  await createStackTable(dynamodb.client, 'ledger', 'ledger');
  const client = createStreamed(dynamodb.relayClient);
  const options = { client, tableName: 'ledger', keepDays: 400 };
  const notes = createDynamodbNotes(options);
  return {
    ledger: createDynamodbLedger(options),
    executions: createDynamodbExecutions(options),
    addAlarm: notes.addAlarm,
    addDay: notes.addDay,
    changes: async () => client.records.flatMap(changesOf),
    close: () => dynamodb.close(),
  };
});

test.each<[string, StreamRecord]>([
  [
    'an alarm that has expired',
    { eventID: '1', dynamodb: { Keys: keys('alarm#1'), OldImage: keys('alarm#1') } },
  ],
  [
    'an entry that has expired',
    { eventID: '1', dynamodb: { Keys: keys('signal#1'), OldImage: keys('signal#1') } },
  ],
  [
    'what a channel has told',
    { eventID: '1', dynamodb: { Keys: keys('channel#slack'), NewImage: keys('channel#slack') } },
  ],
  ['a fill', { eventID: '1', dynamodb: { Keys: keys('fill#1'), NewImage: keys('fill#1') } }],
  ['a record without an item', { eventID: '1' }],
])('%s tells nobody anything', (_, record) => {
  expect(changesOf(record)).toEqual([]);
});

function keys(item: string): Item {
  return { account: { S: 'main' }, item: { S: item } };
}
