import type { DynamodbClient } from '../../lib/base/dynamodb.ts';
import { namesOf, pick } from '../support/dynamodb/table.ts';
import { sizeOfItem } from '../support/dynamodb/values.ts';
import type { Resource } from './synthesized.ts';

type Item = Parameters<typeof sizeOfItem>[0];

/** What DynamoDB bills of the requests made so far. */
export interface Units {
  write: number;
  read: number;
}

export interface Meter {
  readonly client: DynamodbClient;
  readonly units: Units;
  /** What is stored under that key now, in the table and in every index that holds it. */
  readonly storedBytesOf: (tableName: string, key: Item) => Promise<number>;
}

interface IndexEntry {
  readonly keys: readonly string[];
  /** What the index holds of an item; null: the item is not in it. */
  readonly project: (item: Item | undefined) => Item | null;
}

interface KeySchema {
  readonly KeySchema: readonly { readonly AttributeName: string; readonly KeyType: string }[];
}

type IndexDefinition = KeySchema & { readonly Projection: { readonly ProjectionType: string } };

const bytesOfWriteUnit = 1024;
const bytesOfReadUnit = 4096;
/** What DynamoDB adds to each item and to each entry of an index. */
const overheadBytes = 100;

/**
 * Counts the request units of every call: a kilobyte written in the table and in each index that changes, four
 * kilobytes read. A change of an index's key is two writes there.
 *
 * @param table as the template defines it
 * @see https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/CapacityUnitCalculations.html
 * @see https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/GSI.html
 */
export function meterDynamodb(client: DynamodbClient, table: Resource): Meter {
  const units: Units = { write: 0, read: 0 };
  const tableKeys = keysOf(table.Properties as unknown as KeySchema);
  const indexes = indexesOf(table, tableKeys);
  const readNow = async (TableName: unknown, key: Item): Promise<Item | undefined> => {
    const { Item: item } = (await client.call('GetItem', {
      TableName,
      Key: key,
      ConsistentRead: true,
    } as never)) as {
      Item?: Item;
    };
    return item;
  };
  const metered = {
    async call(operation: string, input: Readonly<Record<string, unknown>>) {
      if (!['PutItem', 'UpdateItem'].includes(operation)) {
        const answer: unknown = await client.call(operation as never, input as never);
        units.read += readUnitsOf(operation, input, answer);
        return answer;
      }
      const key = (input['Key'] as Item | undefined) ?? pick(input['Item'] as Item, tableKeys);
      const before = await readNow(input['TableName'], key);
      try {
        return await client.call(operation as never, input as never);
      } finally {
        units.write += writeUnitsOf(before, await readNow(input['TableName'], key), indexes);
      }
    },
  };
  return {
    client: metered as unknown as DynamodbClient,
    units,
    async storedBytesOf(tableName, key) {
      const item = await readNow(tableName, key);
      const held = [item ?? null, ...indexes.map(({ project }) => project(item))];
      return held.reduce((sum, one) => sum + (one === null ? 0 : sizeOfItem(one) + overheadBytes), 0);
    },
  };
}

function writeUnitsOf(
  before: Item | undefined,
  after: Item | undefined,
  indexes: readonly IndexEntry[],
): number {
  const own = Math.max(1, unitsOf(before ?? null), unitsOf(after ?? null));
  return indexes.reduce((sum, { keys, project }) => {
    const [old, now] = [project(before), project(after)];
    if (old === null || now === null) return sum + unitsOf(old ?? now);
    if (JSON.stringify(pick(old, keys)) !== JSON.stringify(pick(now, keys)))
      return sum + unitsOf(old) + unitsOf(now);
    return JSON.stringify(old) === JSON.stringify(now) ? sum : sum + Math.max(unitsOf(old), unitsOf(now));
  }, own);
}

/** @throws Error for an operation whose units it does not know */
function readUnitsOf(operation: string, input: Readonly<Record<string, unknown>>, answer: unknown): number {
  const share = input['ConsistentRead'] === true ? 1 : 0.5;
  const {
    Item: item,
    Items: items = [],
    Responses = {},
  } = answer as {
    Item?: Item;
    Items?: readonly Item[];
    Responses?: Readonly<Record<string, readonly Item[]>>;
  };
  const units = (bytes: number) => Math.max(1, Math.ceil(bytes / bytesOfReadUnit));
  if (operation === 'GetItem') return share * units(item === undefined ? 0 : sizeOfItem(item));
  if (operation === 'Query') return share * units(items.reduce((sum, found) => sum + sizeOfItem(found), 0));
  if (operation !== 'BatchGetItem') throw new Error(`the units of ${operation} are not known here`);
  const asked = Object.values(input['RequestItems'] as Record<string, { Keys: readonly Item[] }>);
  const found = Object.values(Responses).flat();
  const keys = asked.reduce((sum, { Keys }) => sum + Keys.length, 0);
  // Every key costs one unit at least, found or not; these batches are consistent.
  return found.reduce((sum, one) => sum + units(sizeOfItem(one)), keys - found.length);
}

function unitsOf(item: Item | null): number {
  return item === null ? 0 : Math.ceil(sizeOfItem(item) / bytesOfWriteUnit);
}

function indexesOf({ Properties }: Resource, tableKeys: readonly string[]): readonly IndexEntry[] {
  const local = (Properties['LocalSecondaryIndexes'] ?? []) as readonly IndexDefinition[];
  const global = (Properties['GlobalSecondaryIndexes'] ?? []) as readonly IndexDefinition[];
  return [...local, ...global].map((index) => {
    const keys = keysOf(index);
    const kept = [...new Set([...tableKeys, ...keys])];
    const holdsAll = index.Projection.ProjectionType === 'ALL';
    return {
      keys,
      project: (item) => {
        if (item === undefined || keys.some((name) => item[name] === undefined)) return null;
        return holdsAll ? item : pick(item, kept);
      },
    };
  });
}

function keysOf({ KeySchema }: KeySchema): readonly string[] {
  const find = (type: string) => KeySchema.find(({ KeyType }) => KeyType === type)?.AttributeName;
  return namesOf({ partition: find('HASH') ?? '', sort: find('RANGE') ?? null });
}
