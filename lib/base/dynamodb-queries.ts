import { type DynamodbOperations, type Item, namesIn } from './dynamodb.ts';
import { DynamodbTable } from './dynamodb-table.ts';

/** The names of attributes are found in the expression. */
type Query = Omit<
  DynamodbOperations['Query'][0],
  'TableName' | 'ExpressionAttributeNames' | 'ExclusiveStartKey'
>;

/** A table that can also be queried; separate, so that the bundle of receive-signal stays small. */
export class QueriedTable extends DynamodbTable {
  /** One page of a query; `next` is null on the last page. */
  async query(
    query: Query,
    from: Item | null = null,
  ): Promise<{ readonly items: readonly Item[]; readonly next: Item | null }> {
    const { Items = [], LastEvaluatedKey } = await this.read((client, TableName) =>
      client.call('Query', {
        ...query,
        TableName,
        ExpressionAttributeNames: namesIn(query.KeyConditionExpression),
        ...(from === null ? {} : { ExclusiveStartKey: from }),
      }),
    );
    return { items: Items, next: LastEvaluatedKey ?? null };
  }

  /** All items of a query, at most `limit`. It may need several pages, because DynamoDB cuts a page at 1 MB. */
  async queryUpTo(limit: number, query: Omit<Query, 'Limit'>): Promise<readonly Item[]> {
    const found: Item[] = [];
    for await (const item of this.queryAll({ ...query, Limit: limit })) if (found.push(item) === limit) break;
    return found;
  }

  /** Every item of a query, page by page. */
  async *queryAll(query: Query): AsyncGenerator<Item> {
    let from: Item | null = null;
    do {
      const page = await this.query(query, from);
      yield* page.items;
      from = page.next;
    } while (from !== null);
  }
}
