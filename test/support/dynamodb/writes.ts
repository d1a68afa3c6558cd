import type { AttributeValue, Put, Update } from '@aws-sdk/client-dynamodb';
import { type Condition, holds, parseCondition } from './conditions.ts';
import { Placeholders } from './expressions.ts';
import { createInvalid, createInvalidParameter, Failure } from './failure.ts';
import type { Item } from './item.ts';
import type { Table } from './table.ts';
import { applyUpdate, parseUpdate } from './updates.ts';
import { isSame, normalizeItem } from './values.ts';

/** What a write of one item came to. */
interface WriteResult {
  readonly before: Item | undefined;
  readonly after: Item | undefined;
}

/** One write of one item, alone or in a transaction, that was found to be well put. */
export interface Write {
  readonly table: Table;
  readonly key: Item;
  /**
   * The item as it would become; null deletes, undefined changes nothing.
   *
   * @throws Failure when the condition does not hold, or the item cannot become that
   */
  decide(before: Item | undefined): Item | null | undefined;
}

export type WriteKind = 'Put' | 'Update' | 'Delete' | 'ConditionCheck';

/** What the four kinds of writes ask for, together. */
export type WriteInput = Pick<
  Put,
  'ConditionExpression' | 'ExpressionAttributeNames' | 'ExpressionAttributeValues'
> & {
  readonly Item?: Record<string, AttributeValue>;
  readonly Key?: Record<string, AttributeValue>;
  readonly UpdateExpression?: Update['UpdateExpression'];
  readonly TableName?: string | undefined;
  readonly ReturnValues?: string | undefined;
  readonly ReturnValuesOnConditionCheckFailure?: Put['ReturnValuesOnConditionCheckFailure'];
};

/** @throws Failure when DynamoDB would not take the request, whatever is stored */
export function prepareWrite(table: Table, kind: WriteKind, input: WriteInput): Write {
  const placeholders = new Placeholders(input.ExpressionAttributeNames, input.ExpressionAttributeValues);
  const condition = readCondition(placeholders, input);
  const change = kind === 'Update' ? prepareUpdate(table, input, placeholders) : null;
  placeholders.checkAllUsed();
  const item = kind === 'Put' ? normalizeItem(input.Item ?? {}) : null;
  if (item !== null) table.checkItem(item);
  const key = item === null ? normalizeItem(input.Key ?? {}) : table.keyOf(item);
  table.checkKey(key);
  return {
    table,
    key,
    decide(before) {
      if (condition !== null && !holds(condition, before ?? {})) throw createRefusal(input, before);
      if (kind === 'ConditionCheck') return undefined;
      return change === null ? item : change(before, key);
    },
  };
}

function readCondition(placeholders: Placeholders, { ConditionExpression }: WriteInput): Condition | null {
  if (ConditionExpression === undefined) return null;
  return parseCondition(placeholders.open(ConditionExpression, 'ConditionExpression'));
}

function createRefusal(input: WriteInput, before: Item | undefined): Failure {
  const isAsked = input.ReturnValuesOnConditionCheckFailure === 'ALL_OLD' && before !== undefined;
  return new Failure(
    'ConditionalCheckFailedException',
    'The conditional request failed',
    isAsked ? { Item: before } : {},
  );
}

type Change = (before: Item | undefined, key: Item) => Item;

function prepareUpdate(table: Table, { UpdateExpression }: WriteInput, placeholders: Placeholders): Change {
  if (UpdateExpression === undefined) return (before, key) => before ?? key;
  const actions = parseUpdate(placeholders.open(UpdateExpression, 'UpdateExpression'));
  const { partition, sort } = table.keys;
  for (const { path } of actions)
    if (path[0] === partition || path[0] === sort)
      throw createInvalidParameter(`Cannot update attribute ${path[0]}. This attribute is part of the key`);
  return (before, key) => {
    const after = applyUpdate(actions, before ?? key);
    table.checkItem(after, 'Item size to update has exceeded the maximum allowed size');
    return after;
  };
}

/** Carries out a write that stands alone. */
export function carryOut({ table, key, decide }: Write): WriteResult {
  const before = table.read(key);
  const after = decide(before);
  if (after === undefined) return { before, after: before };
  table.write(key, after);
  return { before, after: after ?? undefined };
}

/** @throws Failure when such a write cannot return that */
export function checkReturnValues(kind: WriteKind, { ReturnValues = 'NONE' }: WriteInput): void {
  const known = ['NONE', 'ALL_OLD', ...(kind === 'Update' ? ['ALL_NEW', 'UPDATED_OLD', 'UPDATED_NEW'] : [])];
  if (!known.includes(ReturnValues)) throw createInvalid('Return values set to invalid value');
}

/** What `ReturnValues` asks for of the item. */
export function attributesOf({ ReturnValues }: WriteInput, { before, after }: WriteResult): Item | undefined {
  switch (ReturnValues) {
    case 'ALL_OLD':
      return before;
    case 'ALL_NEW':
      return after;
    case 'UPDATED_NEW':
      return differing(after ?? {}, before ?? {});
    case 'UPDATED_OLD':
      return differing(before ?? {}, after ?? {});
    default:
      return undefined;
  }
}

function differing(item: Item, other: Item): Item {
  return Object.fromEntries(
    Object.entries(item).filter(([name, value]) => other[name] === undefined || !isSame(value, other[name])),
  );
}
