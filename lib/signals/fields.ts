import { type FieldName, fieldNames, fieldTable } from './field-table.ts';
import { plainWord } from './foreign-words.ts';
import { hintForGroup, memberNames } from './grouped-fields.ts';
import { judgeInforming, withoutPrefix } from './informing-fields.ts';
import { type Issues, quoteText, shortenText } from './issues.ts';
import type { JsonNode, JsonObject } from './parse-json.ts';
import { longestName, removedSecret } from './remove-secrets.ts';
import { hintForUnknownKey } from './unknown-keys.ts';
import { describe } from './written-value.ts';

export type { FieldName } from './field-table.ts';

/** Every field of an alert, with its other accepted names. */
export const otherNames = Object.fromEntries(
  fieldNames.map((name) => [name, fieldTable[name].others]),
) as unknown as Readonly<Record<FieldName, readonly string[]>>;

/** One value of an alert, and its place in the alert. */
export interface Field {
  /** The key as the alert wrote it. */
  readonly key: string;
  /** The key, safe to print, after its position in an array: `[1].qty`. */
  readonly path: string;
  readonly node: JsonNode;
  /** Whether it stands within an object such as TradingView's `strategy`. */
  readonly isGrouped?: true;
}

export type Fields = Partial<Readonly<Record<FieldName, Field>>> & {
  /** What is recorded, and decides nothing. */
  readonly informing?: readonly Field[];
};

/** Every accepted name, plain, and its field. */
const nameOfPlainKey: ReadonlyMap<string, FieldName> = new Map(
  fieldNames.flatMap((name) =>
    [name, ...fieldTable[name].others].map((key): [string, FieldName] => [plainWord(key), name]),
  ),
);
/** As the table spells them: the usual keys, found without being made plain. */
const nameOfKey: ReadonlyMap<string, FieldName> = new Map(
  fieldNames.flatMap((name) =>
    [name, ...fieldTable[name].others].map((key): [string, FieldName] => [key, name]),
  ),
);

/**
 * Assigns the members of an alert to its fields, by any of their names.
 *
 * A field that only informs is taken and recorded. A field that could change what is bought, sold, protected or cancelled
 * is understood, or the alert is refused: a misspelt `stopLoss` must not leave a position without a stop-loss.
 *
 * @param prefix the object's position in an array, for example `[1].`; empty for a single alert
 */
export function collectFields(object: JsonObject, prefix: string, issues: Issues): Fields {
  const collection = new Collection(object, issues);
  for (const { name: key, value } of object.members) {
    const names = value.kind === 'object' ? memberNames(key) : undefined;
    if (names === undefined || value.kind !== 'object') collection.add(key, key, pathOf(prefix, key), value);
    else collection.addGroup(names, pathOf(prefix, key), value);
  }
  const { fields, informing } = collection;
  return informing.length === 0 ? fields : { ...fields, informing };
}

class Collection {
  readonly fields: Partial<Record<FieldName, Field>> = {};
  readonly informing: Field[] = [];
  readonly #isForBot: boolean;
  readonly #issues: Issues;

  constructor({ members }: JsonObject, issues: Issues) {
    this.#isForBot = members.some(({ name }) => name === 'tv_instrument');
    this.#issues = issues;
  }

  /** Takes the members of an object as if they stood beside it. */
  addGroup(names: ReadonlyMap<string, string>, path: string, { members }: JsonObject): void {
    for (const { name: member, value } of members) {
      const memberPath = pathOf(`${path}.`, member);
      const key = names.get(plainWord(member.slice(0, longestName)));
      if (key === undefined)
        this.#issues.add(memberPath, `${quoteText(member)} is not understood here`, hintForGroup);
      else this.add(key, memberPath, memberPath, value, true);
    }
  }

  /** @param shownKey the key as the alert wrote it */
  add(key: string, shownKey: string, path: string, node: JsonNode, isGrouped?: true): void {
    const name = findName(key);
    const field: Field = { key, path, node, ...(isGrouped && { isGrouped }) };
    if (name === undefined) this.#addUnknown(shownKey, key, field);
    else if (name === 'time' && this.fields.time !== undefined) this.#addTime(field, this.fields.time);
    else if (this.fields[name] === undefined) this.fields[name] = field;
    else refuseSecond(this.fields[name].key, key, path, this.#issues);
  }

  #addUnknown(shownKey: string, key: string, field: Field): void {
    const verdict = judgeInforming(key, field.node, this.#isForBot);
    if (verdict === 'no') refuseUnknownKey(shownKey, field, this.#issues);
    else if (verdict === 'informs') this.informing.push(field);
    else this.informing.push({ ...field, node: { kind: 'string', text: removedSecret } });
  }

  /** `timenow` is when the alert was sent, and decides. Beside it, another time is that of a bar, and only informs. */
  #addTime(field: Field, earlier: Field): void {
    const isSending = ({ key }: Field) => plainWord(key) === 'timenow';
    const [sending, other] = isSending(field) ? [field, earlier] : [earlier, field];
    if (isSending(sending) === isSending(other)) {
      refuseSecond(earlier.key, field.key, field.path, this.#issues);
      return;
    }
    this.fields.time = sending;
    const { node, path } = other;
    if (node.kind === 'object' || node.kind === 'array')
      this.#issues.add(path, `${describe(node)} is not a time`, 'write it as text, or remove it');
    else this.informing.push(other);
  }
}

/** The field of a key, in whatever spelling. */
function findName(key: string): FieldName | undefined {
  const name = nameOfKey.get(key);
  if (name !== undefined || key.length > longestName) return name;
  return nameOfPlainKey.get(withoutPrefix(plainWord(key)));
}

/** The path of a key, safe to print. */
export function pathOf(prefix: string, key: string): string {
  return `${prefix}${shortenText(key)}`;
}

function refuseSecond(earlierKey: string, key: string, path: string, issues: Issues): void {
  const message =
    earlierKey === key
      ? `"${key}" is given twice`
      : `"${earlierKey}" and "${key}" are names of the same field`;
  issues.add(path, message, 'keep one of them');
}

function refuseUnknownKey(key: string, { path, node }: Field, issues: Issues): void {
  const message = `${quoteText(key)} is not a field of an alert`;
  issues.add(path, message, issues.isFull ? '' : hintForUnknownKey(key, node));
}
