import type { AttributeValue, GetItemInput, QueryInput } from '@aws-sdk/client-dynamodb';
import { holds, parseCondition } from './conditions.ts';
import { type Path, Placeholders, type TokenReader, valueAt } from './expressions.ts';
import { createInvalid } from './failure.ts';
import type { Item } from './item.ts';
import { parseKeyCondition } from './key-condition.ts';
import { type Index, isInIndex, type Keys, namesOf, pick, type Table } from './table.ts';
import { compare, isSame, normalizeItem, sizeOfItem } from './values.ts';

/** 1 MB: a page ends before what would make it larger. */
const largestPageBytes = 1_048_576;

/** @throws Failure when the request is badly put */
export function getItem(table: Table, input: GetItemInput): { readonly Item?: Item } {
  const placeholders = new Placeholders(input.ExpressionAttributeNames, undefined);
  const project = readProjection(placeholders, input.ProjectionExpression);
  placeholders.checkAllUsed();
  const key = normalizeItem(input.Key ?? {});
  table.checkKey(key);
  const item = input.ConsistentRead === true ? table.read(key) : table.readCopy(key);
  return item === undefined ? {} : { Item: project(item) };
}

/** One page of a query. @throws Failure when it is badly put */
export function query(table: Table, input: QueryInput): object {
  const index = findIndex(table, input.IndexName);
  if (index?.isGlobal === true && input.ConsistentRead === true)
    throw createInvalid('Consistent reads are not supported on global secondary indexes');
  if (input.Limit !== undefined && input.Limit < 1)
    throw createInvalid(
      `1 validation error detected: Value '${input.Limit}' at 'limit' failed to satisfy constraint: Member must have value greater than or equal to 1`,
    );
  const search = readSearch(table, index, input);
  const order = orderBy(table, search.keys, input.ScanIndexForward ?? true);
  const candidates = table
    .listItems(index, input.ConsistentRead === true)
    .filter((item) => (index === null || isInIndex(index.keys, item)) && search.isWithin(item))
    .map((item) => (index === null ? item : table.project(index, item)))
    .sort(order);
  const { page, isCut } = cutPage(candidates.slice(skipTo(candidates, order, search.start)), input.Limit);
  const found = page.filter(search.isWanted);
  const last = page.at(-1);
  return {
    Items: found.map(search.project),
    Count: found.length,
    ScannedCount: page.length,
    ...(isCut && last !== undefined
      ? { LastEvaluatedKey: pick(last, [...namesOf(table.keys), ...namesOf(search.keys)]) }
      : {}),
  };
}

interface Search {
  readonly keys: Keys;
  /** Whether the key condition holds. */
  isWithin(item: Item): boolean;
  /** Whether the filter does. */
  isWanted(item: Item): boolean;
  project(item: Item): Item;
  readonly start: Item | null;
}

function readSearch(table: Table, index: Index | null, input: QueryInput): Search {
  const keys = index?.keys ?? table.keys;
  const placeholders = new Placeholders(input.ExpressionAttributeNames, input.ExpressionAttributeValues);
  const condition = placeholders.open(input.KeyConditionExpression ?? '', 'KeyConditionExpression');
  const isWithin = parseKeyCondition(condition, table, keys);
  const filter =
    input.FilterExpression === undefined
      ? null
      : parseCondition(placeholders.open(input.FilterExpression, 'FilterExpression'));
  const project = readProjection(placeholders, input.ProjectionExpression);
  placeholders.checkAllUsed();
  return {
    keys,
    isWithin,
    isWanted: (item) => filter === null || holds(filter, item),
    project,
    start: readStart(table, keys, input),
  };
}

function readStart(table: Table, keys: Keys, { ExclusiveStartKey }: QueryInput): Item | null {
  if (ExclusiveStartKey === undefined) return null;
  const names = new Set([...namesOf(table.keys), ...namesOf(keys)]);
  const given = Object.keys(ExclusiveStartKey);
  if (given.length !== names.size || !given.every((name) => names.has(name)))
    throw createInvalid('The provided starting key is invalid');
  return normalizeItem(ExclusiveStartKey);
}

function findIndex(table: Table, name: string | undefined): Index | null {
  if (name === undefined) return null;
  const index = table.indexes.find((known) => known.name === name);
  if (index !== undefined) return index;
  throw createInvalid(`The table does not have the specified index: ${name}`);
}

type Order = (a: Item, b: Item) => number;

/** By partition, then by sort key, then by the table's own keys. */
function orderBy(table: Table, keys: Keys, isForward: boolean): Order {
  const names = [...namesOf(keys), ...namesOf(table.keys)];
  const direction = isForward ? 1 : -1;
  return (a, b) => {
    for (const name of names) {
      const order = compareKeys(a[name], b[name]);
      if (order !== 0) return direction * order;
    }
    return 0;
  };
}

function compareKeys(a: AttributeValue | undefined, b: AttributeValue | undefined): number {
  if (a === undefined || b === undefined || isSame(a, b)) return 0;
  return compare(a, b) ?? 0;
}

/** The place after the start; the item it was read from may be gone by now. */
function skipTo(items: readonly Item[], order: Order, start: Item | null): number {
  if (start === null) return 0;
  const from = items.findIndex((item) => order(item, start) > 0);
  return from < 0 ? items.length : from;
}

/** Counted before anything is filtered. A page that is as long as its limit says that more may follow. */
function cutPage(items: readonly Item[], limit = Number.POSITIVE_INFINITY) {
  let bytes = 0;
  let length = 0;
  for (const item of items) {
    bytes += sizeOfItem(item);
    if (length === limit || (length > 0 && bytes > largestPageBytes)) break;
    length += 1;
  }
  return { page: items.slice(0, length), isCut: length < items.length || length === limit };
}

/** What is left of an item by a `ProjectionExpression`. */
function readProjection(placeholders: Placeholders, expression: string | undefined): (item: Item) => Item {
  if (expression === undefined) return (item) => item;
  const paths = parsePaths(placeholders.open(expression, 'ProjectionExpression'));
  return (item) => {
    const projected: Item = {};
    for (const path of paths) {
      const value = valueAt(item, path);
      if (value !== undefined) projected[path[0]] = value;
    }
    return projected;
  };
}

function parsePaths(reader: TokenReader): readonly Path[] {
  const paths: Path[] = [];
  do {
    const path = reader.takePath();
    if (path.length > 1) throw reader.fail('this stand-in projects whole attributes only');
    paths.push(path);
  } while (reader.take(','));
  reader.expectEnd();
  return paths;
}
