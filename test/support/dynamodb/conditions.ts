import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import { type Path, type TokenReader, valueAt } from './expressions.ts';
import type { Item } from './item.ts';
import { compare, countOf, isSame, typeOf } from './values.ts';

export type Operand =
  | { readonly kind: 'path'; readonly path: Path }
  | { readonly kind: 'value'; readonly value: AttributeValue }
  | { readonly kind: 'size'; readonly of: Operand };

export type Comparator = '=' | '<>' | '<' | '<=' | '>' | '>=';

export type Condition =
  | { readonly kind: 'and' | 'or'; readonly left: Condition; readonly right: Condition }
  | { readonly kind: 'not'; readonly condition: Condition }
  | {
      readonly kind: 'compare';
      readonly left: Operand;
      readonly comparator: Comparator;
      readonly right: Operand;
    }
  | { readonly kind: 'between'; readonly operand: Operand; readonly low: Operand; readonly high: Operand }
  | { readonly kind: 'in'; readonly operand: Operand; readonly choices: readonly Operand[] }
  | { readonly kind: 'exists'; readonly path: Path; readonly wanted: boolean }
  | {
      readonly kind: 'begins_with' | 'contains' | 'attribute_type';
      readonly left: Operand;
      readonly right: Operand;
    };

const comparators: readonly Comparator[] = ['=', '<>', '<', '<=', '>', '>='];

/**
 * Reads a whole condition; NOT binds closer than AND, AND closer than OR.
 *
 * @see https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Expressions.OperatorsAndFunctions.html
 */
export function parseCondition(reader: TokenReader): Condition {
  const condition = parseOr(reader);
  reader.expectEnd();
  return condition;
}

function parseOr(reader: TokenReader): Condition {
  let left = parseAnd(reader);
  while (reader.take('OR')) left = { kind: 'or', left, right: parseAnd(reader) };
  return left;
}

function parseAnd(reader: TokenReader): Condition {
  let left = parseNot(reader);
  while (reader.take('AND')) left = { kind: 'and', left, right: parseNot(reader) };
  return left;
}

function parseNot(reader: TokenReader): Condition {
  if (reader.take('NOT')) return { kind: 'not', condition: parseNot(reader) };
  if (!reader.take('(')) return parseTest(reader);
  const inner = parseOr(reader);
  reader.expect(')');
  return inner;
}

function parseTest(reader: TokenReader): Condition {
  const next = reader.peek();
  const name = next?.text === 'size' ? null : reader.takeFunction();
  if (name !== null) return parseFunction(reader, name);
  const left = parseOperand(reader);
  if (reader.take('BETWEEN')) return parseBetween(reader, left);
  if (reader.take('IN')) return { kind: 'in', operand: left, choices: parseChoices(reader) };
  const comparator = comparators.find((sign) => reader.take(sign));
  if (comparator === undefined) throw reader.failAtNext();
  return { kind: 'compare', left, comparator, right: parseOperand(reader) };
}

function parseFunction(reader: TokenReader, name: string): Condition {
  switch (name) {
    case 'attribute_exists':
    case 'attribute_not_exists': {
      const path = reader.takePath();
      reader.expect(')');
      return { kind: 'exists', path, wanted: name === 'attribute_exists' };
    }
    case 'begins_with':
    case 'contains':
    case 'attribute_type': {
      const left = parseOperand(reader);
      reader.expect(',');
      const right = parseOperand(reader);
      reader.expect(')');
      if (name === 'begins_with' && right.kind === 'value' && typeOf(right.value) !== 'S')
        throw reader.fail(
          `Incorrect operand type for operator or function; operator or function: begins_with, operand type: ${typeOf(right.value)}`,
        );
      return { kind: name, left, right };
    }
    default:
      throw reader.fail(`Invalid function name; function: ${name}`);
  }
}

function parseOperand(reader: TokenReader): Operand {
  const value = reader.takeValue();
  if (value !== null) return { kind: 'value', value };
  if (reader.peek()?.text === 'size' && reader.takeFunction() !== null) {
    const of = parseOperand(reader);
    reader.expect(')');
    return { kind: 'size', of };
  }
  return { kind: 'path', path: reader.takePath() };
}

function parseBetween(reader: TokenReader, operand: Operand): Condition {
  const low = parseOperand(reader);
  reader.expect('AND');
  const high = parseOperand(reader);
  if (low.kind === 'value' && high.kind === 'value' && (compare(low.value, high.value) ?? 0) > 0)
    throw reader.fail(
      `The BETWEEN operator requires upper bound to be greater than or equal to lower bound; lower bound operand: AttributeValue: ${describe(low.value)}, upper bound operand: AttributeValue: ${describe(high.value)}`,
    );
  return { kind: 'between', operand, low, high };
}

function describe(value: AttributeValue): string {
  return JSON.stringify(value).replaceAll('"', '');
}

function parseChoices(reader: TokenReader): readonly Operand[] {
  reader.expect('(');
  const choices = [parseOperand(reader)];
  while (reader.take(',')) choices.push(parseOperand(reader));
  reader.expect(')');
  return choices;
}

/** Whether the condition holds of the item; of one that is not there, ask with `{}`. */
export function holds(condition: Condition, item: Item): boolean {
  switch (condition.kind) {
    case 'and':
      return holds(condition.left, item) && holds(condition.right, item);
    case 'or':
      return holds(condition.left, item) || holds(condition.right, item);
    case 'not':
      return !holds(condition.condition, item);
    case 'exists':
      return (valueAt(item, condition.path) !== undefined) === condition.wanted;
    case 'compare':
      return compares(resolve(condition.left, item), condition.comparator, resolve(condition.right, item));
    case 'between': {
      const value = resolve(condition.operand, item);
      return (
        compares(value, '>=', resolve(condition.low, item)) &&
        compares(value, '<=', resolve(condition.high, item))
      );
    }
    case 'in':
      return condition.choices.some((choice) =>
        compares(resolve(condition.operand, item), '=', resolve(choice, item)),
      );
    default:
      return matches(condition.kind, resolve(condition.left, item), resolve(condition.right, item));
  }
}

function resolve(operand: Operand, item: Item): AttributeValue | undefined {
  if (operand.kind === 'value') return operand.value;
  if (operand.kind === 'path') return valueAt(item, operand.path);
  const of = resolve(operand.of, item);
  const count = of === undefined ? null : countOf(of);
  return count === null ? undefined : { N: String(count) };
}

/** What is not there differs from everything, and compares with nothing else. */
function compares(
  left: AttributeValue | undefined,
  comparator: Comparator,
  right: AttributeValue | undefined,
): boolean {
  if (left === undefined || right === undefined) return comparator === '<>';
  if (comparator === '=') return isSame(left, right);
  if (comparator === '<>') return !isSame(left, right);
  const order = compare(left, right);
  if (order === null) return false;
  if (comparator === '<') return order < 0;
  if (comparator === '<=') return order <= 0;
  return comparator === '>' ? order > 0 : order >= 0;
}

function matches(
  kind: 'begins_with' | 'contains' | 'attribute_type',
  left: AttributeValue | undefined,
  right: AttributeValue | undefined,
): boolean {
  if (left === undefined || right === undefined) return false;
  if (kind === 'attribute_type') return typeOf(left) === right.S;
  if (kind === 'begins_with') return right.S !== undefined && left.S?.startsWith(right.S) === true;
  if (left.S !== undefined) return right.S !== undefined && left.S.includes(right.S);
  if (left.SS !== undefined) return right.S !== undefined && left.SS.includes(right.S);
  if (left.NS !== undefined) return right.N !== undefined && left.NS.includes(right.N);
  return left.L?.some((member) => isSame(member, right)) === true;
}
