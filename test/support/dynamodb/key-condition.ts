import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import { type Condition, holds, type Operand, parseCondition } from './conditions.ts';
import type { TokenReader } from './expressions.ts';
import { createEmptyKey, createInvalid, createInvalidParameter } from './failure.ts';
import type { Item } from './item.ts';
import type { Keys, Table } from './table.ts';
import { typeOf } from './values.ts';

/**
 * Reads which keys a query is about: one partition, and at most one condition on the sort key.
 *
 * @throws Failure when the keys are not those of the table or index
 */
export function parseKeyCondition(reader: TokenReader, table: Table, keys: Keys): (item: Item) => boolean {
  const condition = parseCondition(reader);
  const tests = split(condition);
  const named = tests.map((test) => ({ test, name: nameOf(test) }));
  const partitions = named.filter(({ name }) => name === keys.partition);
  if (partitions.length === 0)
    throw createInvalid(`Query condition missed key schema element: ${keys.partition}`);
  const [{ test: partition } = { test: condition }] = partitions;
  if (partition.kind !== 'compare' || partition.comparator !== '=')
    throw createInvalid('Query key condition not supported');
  const others = named.filter(({ test }) => test !== partition);
  if (others.length > 1) throw reader.fail('KeyConditionExpressions must only contain one condition per key');
  if (others.some(({ name }) => name !== keys.sort))
    throw createInvalid(`Query condition missed key schema element: ${keys.sort ?? keys.partition}`);
  for (const { test, name } of named) for (const value of valuesOf(test)) checkValue(table, name, value);
  return (item) => holds(condition, item);
}

function split(condition: Condition): readonly Condition[] {
  if (condition.kind === 'and') return [...split(condition.left), ...split(condition.right)];
  const { kind } = condition;
  if (kind === 'between' || kind === 'begins_with') return [condition];
  if (kind === 'compare' && condition.comparator !== '<>') return [condition];
  const operator = kind === 'or' || kind === 'not' ? kind.toUpperCase() : kind === 'compare' ? '<>' : kind;
  throw createInvalid(
    `Invalid KeyConditionExpression: Invalid operator used in KeyConditionExpression: ${operator}`,
  );
}

function nameOf(test: Condition): string {
  const operand = test.kind === 'between' ? test.operand : 'left' in test ? (test.left as Operand) : null;
  if (operand?.kind === 'path' && operand.path.length === 1) return operand.path[0];
  throw createInvalid('Query key condition not supported');
}

function valuesOf(test: Condition): readonly AttributeValue[] {
  const operands =
    test.kind === 'between' ? [test.low, test.high] : 'right' in test ? [test.right as Operand] : [];
  return operands.map((operand) => {
    if (operand.kind === 'value') return operand.value;
    throw createInvalid('Query key condition not supported');
  });
}

function checkValue(table: Table, name: string, value: AttributeValue): void {
  if (typeOf(value) !== table.typeOfKey(name))
    throw createInvalidParameter('Condition parameter type does not match schema type');
  if (value.S === '') throw createEmptyKey(name);
}
