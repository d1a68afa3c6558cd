import type { Json } from '../base/json.ts';
import { type Field, pathOf } from './fields.ts';
import { plainWord } from './foreign-words.ts';
import { isExplicitId, isSignalId } from './identity.ts';
import { isSecretKey } from './informing-fields.ts';
import { escapeText, type Issues } from './issues.ts';
import type { JsonNode, JsonObject } from './parse-json.ts';
import { removedSecret, removeSecrets } from './remove-secrets.ts';
import { describe, isPlaceholder, placeholderHint, textOf } from './written-value.ts';

/** What the exchange accepts as a client order id. */
const clientOrderIdPattern = /^[A-Za-z0-9._-]{1,64}$/;
const largestExtras = 4096;

/**
 * Reads free text from a JSON string or number. Secrets of other relays are removed, and unprintable characters escaped,
 * so that no comment can forge a line of the log.
 *
 * @returns null for an empty text, which means the same as a missing one
 */
export function readText(field: Field, mostCharacters: number, issues: Issues): string | null | undefined {
  const text = textOf(field.node);
  if (text === undefined)
    return issues.add(field.path, `${describe(field.node)} is not text`, 'write text in double quotes');
  if (text.length > mostCharacters)
    return issues.add(
      field.path,
      `the text has ${text.length} characters`,
      `shorten it to ${mostCharacters} characters`,
    );
  return text === '' ? null : escapeText(removeSecrets(text));
}

/** The words that a field takes. */
export interface Vocabulary<Meaning> {
  /** What a word is, for example `an action`. */
  readonly what: string;
  /** By their spelling in lower case, without spaces, dashes and underscores. */
  readonly words: Readonly<Record<string, Meaning>>;
  /** The words as the documents spell them. */
  readonly known: readonly string[];
  /** What a word means in alerts for other relays. */
  readonly findHint?: (word: string) => string | undefined;
}

/** Longer texts are no word of any relay. */
const longestWord = 32;

/** Reads one of a few words. Case, spaces, dashes and underscores do not matter. */
export function readWord<Meaning>(
  field: Field,
  { what, words, known, findHint }: Vocabulary<Meaning>,
  issues: Issues,
): Meaning | undefined {
  const text = field.node.kind === 'string' ? field.node.text.trim() : '';
  const plain = text.length > longestWord ? '' : plainWord(text);
  if (Object.hasOwn(words, plain)) return words[plain];
  const hint = isPlaceholder(text)
    ? placeholderHint
    : (findHint?.(plain) ?? `write one of ${quoteAll(known)}`);
  return issues.add(field.path, `${describe(field.node)} is not ${what}`, hint);
}

function quoteAll(words: readonly string[]): string {
  return words.map((word) => `"${word}"`).join(', ');
}

const flags: Readonly<Record<string, boolean>> = { true: true, '1': true, false: false, '0': false };

/** Reads yes or no: `true` and `false`, also as text, or 1 and 0. */
export function readFlag(field: Field, issues: Issues): boolean | undefined {
  const { node, path } = field;
  if (node.kind === 'boolean') return node.value;
  const text = textOf(node)?.trim().toLowerCase() ?? '';
  const value = Object.hasOwn(flags, text) ? flags[text] : undefined;
  if (value !== undefined) return value;
  const hint = isPlaceholder(text) ? placeholderHint : 'write true or false, or leave the line out for false';
  return issues.add(path, `${describe(node)} is neither true nor false`, hint);
}

/** Reads the explicit id of a signal. */
export function readExplicitId(field: Field, issues: Issues): string | undefined {
  const text = textOf(field.node);
  if (text !== undefined && isExplicitId(text)) return text;
  return issues.add(
    field.path,
    `${describe(field.node)} cannot be the id of a signal`,
    hintFor(
      text,
      'write 1 to 64 of A-Z a-z 0-9 . _ : - that do not begin with h- or refused-; every signal needs its own id',
    ),
  );
}

/** Reads the id of another signal, explicit or derived. */
export function readSignalId(field: Field, issues: Issues): string | undefined {
  const text = textOf(field.node);
  if (text !== undefined && isSignalId(text)) return text;
  return issues.add(
    field.path,
    `${describe(field.node)} is not the id of a signal`,
    hintFor(
      text,
      'write the id in the alert that placed the order, or the signalId in the response of the relay',
    ),
  );
}

export function readClientOrderId(field: Field, issues: Issues): string | undefined {
  const text = textOf(field.node);
  if (text !== undefined && clientOrderIdPattern.test(text)) return text;
  return issues.add(
    field.path,
    `${describe(field.node)} is not a client order id`,
    hintFor(text, 'write the id the order was placed with: 1 to 64 of A-Z a-z 0-9 . _ -'),
  );
}

function hintFor(text: string | undefined, hint: string): string {
  return text !== undefined && isPlaceholder(text) ? placeholderHint : hint;
}

/** Reads further values that are stored with the signal, without the secrets of other relays. */
export function readExtras(field: Field, issues: Issues): Json | undefined {
  const foundBefore = issues.count;
  const extras = toValue(field.node, field.path, issues);
  const size = JSON.stringify(extras).length;
  if (size > largestExtras)
    return issues.add(
      field.path,
      `extras take ${size} characters`,
      `shorten them to ${largestExtras} characters`,
    );
  return issues.count === foundBefore ? extras : undefined;
}

function toValue(node: JsonNode, path: string, issues: Issues): Json {
  switch (node.kind) {
    case 'null':
      return null;
    case 'boolean':
      return node.value;
    case 'string':
      return escapeText(removeSecrets(node.text));
    case 'number':
      return exactNumber(node.text);
    case 'array':
      return node.items.map((item, index) => toValue(item, `${path}[${index}]`, issues));
    case 'object':
      return toRecord(node, path, issues);
  }
}

/** A number that a JavaScript number cannot represent exactly stays text. */
function exactNumber(text: string): number | string {
  const value = Number(text);
  return String(value) === text ? value : text;
}

function toRecord(object: JsonObject, path: string, issues: Issues): Json {
  const entries = new Map<string, Json>();
  for (const { name: writtenName, value } of object.members) {
    const name = escapeText(writtenName);
    const memberPath = pathOf(`${path}.`, name);
    if (name === '__proto__')
      issues.add(memberPath, 'this key could change how objects behave', 'choose another key');
    else if (entries.has(name)) issues.add(memberPath, 'this key is given twice', 'keep one of them');
    else entries.set(name, isSecretKey(name) ? removedSecret : toValue(value, memberPath, issues));
  }
  return Object.fromEntries(entries);
}
