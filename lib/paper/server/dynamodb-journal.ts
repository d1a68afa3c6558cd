import { randomUUID } from 'node:crypto';
import * as z from 'zod';
import { type DynamodbClient, type Item, textAttribute } from '../../base/dynamodb.ts';
import { QueriedTable } from '../../base/dynamodb-queries.ts';
import { parseOwnJson } from '../../base/json.ts';
import { firstOrderIdAt } from '../engine/first-order-id.ts';
import type { SharedJournal, SharedPart } from '../engine/shared-trading.ts';
import { EntrySchema } from '../engine/stored-entries.ts';

const PartSchema = z.array(EntrySchema);

/** All parts have one partition, and their order is that of their sort keys. */
const partition: Item = { account: { S: 'paper' } };
const startKey: Item = { ...partition, item: { S: 'start' } };

function keyOf(number: number): Item {
  return { ...partition, item: { S: `part#${String(number).padStart(12, '0')}` } };
}

/**
 * The journal of the paper exchange in a table of DynamoDB: one item for each request that changed something.
 *
 * @param options.nowMs the time of a journal that is begun now
 */
export function createDynamodbJournal(options: {
  readonly client: DynamodbClient;
  readonly tableName: string;
  readonly nowMs: () => number;
}): SharedJournal {
  const table = new QueriedTable({ ...options, contents: 'the journal of the paper exchange' });
  return {
    async readFirstOrderId() {
      const begun = { ...startKey, firstOrderId: { N: String(firstOrderIdAt(options.nowMs())) } };
      const stored = (await table.get(startKey)) ?? (await begin(table, begun));
      return Number(stored['firstOrderId']?.N);
    },
    async read(from) {
      const found = table.queryAll({
        KeyConditionExpression: '#account = :account AND #item BETWEEN :from AND :end',
        ExpressionAttributeValues: {
          ':account': { S: 'paper' },
          ':from': keyOf(from)['item'] ?? {},
          ':end': { S: 'part#:' },
        },
        ConsistentRead: true,
      });
      const parts: SharedPart[] = [];
      for await (const item of found)
        parts.push(z.decode(PartSchema, parseOwnJson<never>(textAttribute(item, 'entries'))));
      return parts;
    },
    async append(number, entries) {
      const writer = randomUUID();
      const text = JSON.stringify(z.encode(PartSchema, [...entries]));
      const written = await table.create({
        ...keyOf(number),
        entries: { S: text },
        writer: { S: writer },
      });
      // A write whose response was lost meets itself when it is sent again.
      return written.done || written.found?.['writer']?.S === writer;
    },
  };
}

async function begin(table: QueriedTable, begun: Item): Promise<Item> {
  const written = await table.create(begun);
  return written.done ? begun : (written.found ?? begun);
}
