import { Buffer } from 'node:buffer';
import { isDeepStrictEqual } from 'node:util';
import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import Big from 'big.js';
import { createInvalid, createInvalidParameter } from './failure.ts';
import type { Item } from './item.ts';

const types = ['S', 'N', 'BOOL', 'NULL', 'L', 'M', 'SS', 'NS'] as const;
export type ValueType = (typeof types)[number];

/** @throws Failure when it is none of the types this stand-in knows; it knows no bytes */
export function typeOf(value: AttributeValue): ValueType {
  const [name, ...others] = Object.keys(value);
  const type = types.find((known) => known === name);
  if (type !== undefined && others.length === 0) return type;
  throw createInvalid(
    'Supplied AttributeValue is empty or has more than one data type, must contain exactly one of the supported data types',
  );
}

/**
 * The value as DynamoDB stores it: numbers in their shortest form.
 *
 * @throws Failure for an empty set, a number it cannot hold, or an unknown type
 */
export function normalize(value: AttributeValue): AttributeValue {
  switch (typeOf(value)) {
    case 'N':
      return { N: normalizeNumber(value.N ?? '') };
    case 'L':
      return { L: (value.L ?? []).map(normalize) };
    case 'M':
      return { M: normalizeItem(value.M ?? {}) };
    case 'SS':
      return { SS: checkSet(value.SS ?? [], 'string') };
    case 'NS':
      return { NS: checkSet((value.NS ?? []).map(normalizeNumber), 'number') };
    case 'NULL':
      if (value.NULL === true) return value;
      throw createInvalidParameter('Null attribute value types must have the value of true');
    default:
      return value;
  }
}

export function normalizeItem(item: Item): Item {
  return Object.fromEntries(Object.entries(item).map(([name, value]) => [name, normalize(value)]));
}

/** @see https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Constraints.html#limits-data-types */
function normalizeNumber(text: string): string {
  if (!/^\s*[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?\s*$/.test(text))
    throw createInvalid(`The parameter cannot be converted to a numeric value: ${text}`);
  const number = Big(text.trim().replace(/^\+/, ''));
  if (number.c.length > 38)
    throw createInvalid('Attempting to store more than 38 significant digits in a Number');
  if (number.e > 125)
    throw createInvalid(
      'Number overflow. Attempting to store a number with magnitude larger than supported range',
    );
  if (number.e < -130 && !number.eq(0))
    throw createInvalid(
      'Number underflow. Attempting to store a number with magnitude smaller than supported range',
    );
  return number.toFixed().replace(/^-0$/, '0');
}

function checkSet(members: readonly string[], kind: string): string[] {
  if (members.length === 0) throw createInvalidParameter(`An ${kind} set  may not be empty`);
  if (new Set(members).size < members.length)
    throw createInvalidParameter(`Input collection [${members.join(', ')}] contains duplicates.`);
  return [...members].sort();
}

export function isSame(a: AttributeValue, b: AttributeValue): boolean {
  return isDeepStrictEqual(normalize(a), normalize(b));
}

/** Below, at or above 0 as `a` sorts before, with or after `b`; null when they do not compare: of two types, or no texts or numbers. */
export function compare(a: AttributeValue, b: AttributeValue): number | null {
  if (a.S !== undefined && b.S !== undefined) return Buffer.compare(Buffer.from(a.S), Buffer.from(b.S));
  if (a.N !== undefined && b.N !== undefined) return Big(a.N).cmp(Big(b.N));
  return null;
}

/** Characters of a text, members of everything else; null where `size` has no meaning. */
export function countOf(value: AttributeValue): number | null {
  if (value.S !== undefined) return value.S.length;
  if (value.M !== undefined) return Object.keys(value.M).length;
  return (value.L ?? value.SS ?? value.NS)?.length ?? null;
}

/**
 * The bytes of an item by which DynamoDB limits and counts it.
 *
 * @see https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/CapacityUnitCalculations.html
 */
export function sizeOfItem(item: Item): number {
  let bytes = 0;
  for (const [name, value] of Object.entries(item)) bytes += Buffer.byteLength(name) + sizeOf(value);
  return bytes;
}

function sizeOf(value: AttributeValue): number {
  if (value.S !== undefined) return Buffer.byteLength(value.S);
  if (value.N !== undefined) return sizeOfNumber(value.N);
  if (value.SS !== undefined) return value.SS.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  if (value.NS !== undefined) return value.NS.reduce((sum, text) => sum + sizeOfNumber(text), 0);
  // A list or a map takes 3 bytes, and 1 more for each of its members.
  if (value.L !== undefined) return value.L.reduce((sum, member) => sum + 1 + sizeOf(member), 3);
  if (value.M !== undefined) return 3 + Object.keys(value.M).length + sizeOfItem(value.M);
  return 1;
}

/** About a byte for two significant digits, and one more. */
function sizeOfNumber(text: string): number {
  return Math.ceil(Big(text).c.length / 2) + 1;
}
