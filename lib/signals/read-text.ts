import type { Json } from '../base/json.ts';
import { type Field, pathOf } from './fields.ts';
import { isExplicitId, isSignalId } from './identity.ts';
import { escapeText, type Issues } from './issues.ts';
import type { JsonNode, JsonObject } from './parse-json.ts';
import { describe, isPlaceholder, placeholderHint, textOf } from './written-value.ts';

/** As the exchange takes it. */
const clientOrderIdPattern = /^[A-Za-z0-9._-]{1,64}$/;
const largestExtras = 4096;

/**
 * Free text, from a JSON string or number; unprintable characters are spelled out, so that no comment forges a line
 * of a log.
 *
 * @returns null for an empty text, which says as much as none
 */
export function readText(field: Field, mostCharacters: number, faults: Issues): string | null | undefined {
  const text = textOf(field.node);
  if (text === undefined)
    return faults.add(field.path, `${describe(field.node)} is not text`, 'write text in double quotes');
  if (text.length > mostCharacters)
    return faults.add(
      field.path,
      `the text has ${text.length} characters`,
      `shorten it to ${mostCharacters} characters`,
    );
  return text === '' ? null : escapeText(text);
}

/**
 * One of a few words, whatever its case and the white space around it.
 *
 * @param words by their lower-case spelling
 * @param what for example `an action`
 * @param findForeignHint what a word means in alerts for other relays
 */
export function readWord<Word extends string>(
  field: Field,
  words: Readonly<Record<string, Word>>,
  what: string,
  faults: Issues,
  findForeignHint: (word: string) => string | undefined = () => undefined,
): Word | undefined {
  const text = field.node.kind === 'string' ? field.node.text.trim().toLowerCase() : '';
  const word = Object.hasOwn(words, text) ? words[text] : undefined;
  if (word !== undefined) return word;
  const known = Array.from(new Set(Object.values(words)), (value) => `"${value}"`).join(', ');
  const hint = isPlaceholder(text) ? placeholderHint : (findForeignHint(text) ?? `write one of ${known}`);
  return faults.add(field.path, `${describe(field.node)} is not ${what}`, hint);
}

/** The id an alert gives itself. */
export function readExplicitId(field: Field, faults: Issues): string | undefined {
  const text = textOf(field.node);
  if (text !== undefined && isExplicitId(text)) return text;
  return faults.add(
    field.path,
    `${describe(field.node)} cannot be the id of a signal`,
    'write 1 to 64 of A-Z a-z 0-9 . _ : - that do not begin with h- or refused-; every signal needs one of its own',
  );
}

/** The id of another signal, chosen by its alert or given by the relay. */
export function readSignalId(field: Field, faults: Issues): string | undefined {
  const text = textOf(field.node);
  if (text !== undefined && isSignalId(text)) return text;
  return faults.add(
    field.path,
    `${describe(field.node)} is not the id of a signal`,
    'write the id that the alert of the order carried, or the signalId that the relay answered with',
  );
}

export function readClientOrderId(field: Field, faults: Issues): string | undefined {
  const text = textOf(field.node);
  if (text !== undefined && clientOrderIdPattern.test(text)) return text;
  return faults.add(
    field.path,
    `${describe(field.node)} is not a client order id`,
    'write the id the order was placed with: 1 to 64 of A-Z a-z 0-9 . _ -',
  );
}

/** Whatever else the alert wants kept beside the signal. */
export function readExtras(field: Field, faults: Issues): Json | undefined {
  const foundBefore = faults.count;
  const extras = toValue(field.node, field.path, faults);
  const size = JSON.stringify(extras).length;
  if (size > largestExtras)
    return faults.add(
      field.path,
      `extras take ${size} characters`,
      `shorten them to ${largestExtras} characters`,
    );
  return faults.count === foundBefore ? extras : undefined;
}

function toValue(node: JsonNode, path: string, faults: Issues): Json {
  switch (node.kind) {
    case 'null':
      return null;
    case 'boolean':
      return node.value;
    case 'string':
      return escapeText(node.text);
    case 'number':
      return exactNumber(node.text);
    case 'array':
      return node.items.map((item, index) => toValue(item, `${path}[${index}]`, faults));
    case 'object':
      return toRecord(node, path, faults);
  }
}

/** A number that JavaScript would change stays text. */
function exactNumber(text: string): number | string {
  const value = Number(text);
  return String(value) === text ? value : text;
}

function toRecord(object: JsonObject, path: string, faults: Issues): Json {
  const entries = new Map<string, Json>();
  for (const { name: writtenName, value } of object.members) {
    const name = escapeText(writtenName);
    const memberPath = pathOf(`${path}.`, name);
    if (name === '__proto__')
      faults.add(memberPath, 'this key could change how objects behave', 'choose another key');
    else if (entries.has(name)) faults.add(memberPath, 'this key is given twice', 'keep one of them');
    else entries.set(name, toValue(value, memberPath, faults));
  }
  return Object.fromEntries(entries);
}
