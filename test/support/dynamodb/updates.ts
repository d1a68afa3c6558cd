import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import Big from 'big.js';
import { type Path, type TokenReader, valueAt } from './expressions.ts';
import { createInvalid } from './failure.ts';
import type { Item } from './item.ts';
import { normalize, normalizeItem } from './values.ts';

type Source =
  | { readonly kind: 'value'; readonly value: AttributeValue }
  | { readonly kind: 'path'; readonly path: Path }
  | { readonly kind: 'if_not_exists'; readonly path: Path; readonly otherwise: Source }
  | { readonly kind: 'list_append' | '+' | '-'; readonly left: Source; readonly right: Source };

type Action =
  | { readonly kind: 'SET'; readonly path: Path; readonly source: Source }
  | { readonly kind: 'REMOVE'; readonly path: Path }
  | { readonly kind: 'ADD' | 'DELETE'; readonly path: Path; readonly value: AttributeValue };

export type UpdateActions = readonly Action[];

const sections = ['SET', 'REMOVE', 'ADD', 'DELETE'] as const;

/** @see https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Expressions.UpdateExpressions.html */
export function parseUpdate(reader: TokenReader): UpdateActions {
  const actions: Action[] = [];
  const seen = new Set<string>();
  while (reader.peek() !== undefined) {
    const section = sections.find((name) => reader.take(name));
    if (section === undefined) throw reader.failAtNext();
    if (seen.has(section))
      throw reader.fail(`The "${section}" section can only be used once in an update expression;`);
    seen.add(section);
    do actions.push(parseAction(reader, section));
    while (reader.take(','));
  }
  checkApart(reader, actions);
  return actions;
}

function parseAction(reader: TokenReader, section: (typeof sections)[number]): Action {
  const path = reader.takePath();
  if (section === 'REMOVE') return { kind: section, path };
  if (section === 'SET') {
    reader.expect('=');
    return { kind: section, path, source: parseSource(reader) };
  }
  const value = reader.takeValue();
  if (value === null) throw reader.failAtNext();
  return { kind: section, path, value };
}

function parseSource(reader: TokenReader): Source {
  const left = parseOperand(reader);
  for (const kind of ['+', '-'] as const)
    if (reader.take(kind)) return { kind, left, right: parseOperand(reader) };
  return left;
}

function parseOperand(reader: TokenReader): Source {
  const value = reader.takeValue();
  if (value !== null) return { kind: 'value', value };
  const name = reader.takeFunction();
  if (name === null) return parseInner(reader);
  const source = parseFunction(reader, name);
  reader.expect(')');
  return source;
}

/** A path, or an operand in parentheses. */
function parseInner(reader: TokenReader): Source {
  if (!reader.take('(')) return { kind: 'path', path: reader.takePath() };
  const source = parseSource(reader);
  reader.expect(')');
  return source;
}

function parseFunction(reader: TokenReader, name: string): Source {
  if (name === 'if_not_exists') {
    const path = reader.takePath();
    reader.expect(',');
    return { kind: name, path, otherwise: parseOperand(reader) };
  }
  if (name !== 'list_append') throw reader.fail(`Invalid function name; function: ${name}`);
  const left = parseOperand(reader);
  reader.expect(',');
  return { kind: name, left, right: parseOperand(reader) };
}

/** No action may touch what another touches. */
function checkApart(reader: TokenReader, actions: UpdateActions): void {
  for (const [i, { path }] of actions.entries())
    for (const other of actions.slice(0, i)) {
      const isWithin = path.every((step, at) => at >= other.path.length || step === other.path[at]);
      if (isWithin)
        throw reader.fail(
          `Two document paths overlap with each other; must remove or rewrite one of these paths; path one: ${formatPath(other.path)}, path two: ${formatPath(path)}`,
        );
    }
}

function formatPath(path: Path): string {
  return `[${path.map((step) => (typeof step === 'number' ? `[${step}]` : step)).join(', ')}]`;
}

/**
 * The item after the update; what is read on the way is the item before it.
 *
 * @throws Failure when an action does not fit the item
 */
export function applyUpdate(actions: UpdateActions, before: Item): Item {
  const after = normalizeItem(before);
  // From the end of a list: what is removed must not shift what is still to be removed.
  const removals = actions.filter(({ kind }) => kind === 'REMOVE').sort((a, b) => placeOf(b) - placeOf(a));
  for (const action of [...actions.filter(({ kind }) => kind !== 'REMOVE'), ...removals]) {
    if (action.kind === 'REMOVE') remove(after, action.path);
    else if (action.kind === 'SET') put(after, action.path, evaluate(action.source, before));
    else changeSet(after, action.kind, action.path, action.value);
  }
  return after;
}

function placeOf({ path }: Action): number {
  return Number(path.at(-1)) || 0;
}

function evaluate(source: Source, item: Item): AttributeValue {
  switch (source.kind) {
    case 'value':
      return source.value;
    case 'path':
      return valueAt(item, source.path) ?? failMissing();
    case 'if_not_exists':
      return valueAt(item, source.path) ?? evaluate(source.otherwise, item);
    case 'list_append': {
      const lists = [evaluate(source.left, item).L, evaluate(source.right, item).L];
      return { L: lists.flatMap((list) => list ?? failType()) };
    }
    default: {
      const left = Big(evaluate(source.left, item).N ?? failType());
      const right = Big(evaluate(source.right, item).N ?? failType());
      return normalize({ N: (source.kind === '+' ? left.plus(right) : left.minus(right)).toString() });
    }
  }
}

function failMissing(): never {
  throw createInvalid('The provided expression refers to an attribute that does not exist in the item');
}

function failType(): never {
  throw createInvalid('An operand in the update expression has an incorrect data type');
}

function failPath(): never {
  throw createInvalid('The document path provided in the update expression is invalid for update');
}

/** What holds the last step of the path; undefined when it is not there. */
function parentOf(item: Item, [first, ...rest]: Path): AttributeValue | undefined {
  return rest.length === 0 ? { M: item } : valueAt(item, [first, ...rest.slice(0, -1)]);
}

function put(item: Item, path: Path, value: AttributeValue): void {
  const parent = parentOf(item, path);
  const step = path.at(-1);
  if (typeof step === 'string' && parent?.M !== undefined) parent.M[step] = value;
  // What is set beyond the end of a list is appended to it.
  else if (typeof step === 'number' && parent?.L !== undefined)
    parent.L.splice(Math.min(step, parent.L.length), 1, value);
  else failPath();
}

function remove(item: Item, path: Path): void {
  const parent = parentOf(item, path);
  const step = path.at(-1);
  if (typeof step === 'string' && parent?.M !== undefined) delete parent.M[step];
  else if (typeof step === 'number' && parent?.L !== undefined) parent.L.splice(step, 1);
  else failPath();
}

function changeSet(item: Item, kind: 'ADD' | 'DELETE', path: Path, value: AttributeValue): void {
  const present = valueAt(item, path);
  const changed = kind === 'ADD' ? addTo(present, value) : deleteFrom(present, value);
  if (changed === undefined) {
    if (present !== undefined) remove(item, path);
  } else put(item, path, changed);
}

function addTo(present: AttributeValue | undefined, value: AttributeValue): AttributeValue {
  if (value.N !== undefined)
    return normalize({
      N: Big(present === undefined ? 0 : (present.N ?? failType()))
        .plus(value.N)
        .toString(),
    });
  if (value.SS !== undefined) return { SS: [...new Set([...membersOf(present, 'SS'), ...value.SS])].sort() };
  if (value.NS !== undefined) return { NS: [...new Set([...membersOf(present, 'NS'), ...value.NS])].sort() };
  return failType();
}

function deleteFrom(present: AttributeValue | undefined, value: AttributeValue): AttributeValue | undefined {
  for (const type of ['SS', 'NS'] as const) {
    const without = value[type];
    if (without === undefined) continue;
    const left = membersOf(present, type).filter((member) => !without.includes(member));
    if (left.length === 0) return undefined;
    return type === 'SS' ? { SS: left } : { NS: left };
  }
  return failType();
}

function membersOf(present: AttributeValue | undefined, type: 'SS' | 'NS'): readonly string[] {
  if (present === undefined) return [];
  return present[type] ?? failType();
}
