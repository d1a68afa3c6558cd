import { type Decimal, decimalOrUndefined } from './decimal.ts';

/** A JSON value; decimals are stored as text. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

/**
 * Converts the value to JSON: decimals become plain text, and fields that are undefined are dropped. The result is that
 * of writing the value as JSON and parsing it, for half the time.
 */
export function toJson(value: unknown): Json {
  return jsonOf(value) ?? null;
}

/** Undefined for what JSON leaves out. */
function jsonOf(value: unknown): Json | undefined {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return value;
    case 'number':
      // JSON has neither infinities nor a negative zero.
      return Number.isFinite(value) ? value || 0 : null;
    case 'object':
      return value === null ? null : jsonOfObject(value);
    case 'bigint':
      throw new TypeError('JSON has no form for a bigint');
    default:
      return undefined;
  }
}

function jsonOfObject(value: object): Json | undefined {
  if ('toJSON' in value && typeof value.toJSON === 'function') return jsonOf(value.toJSON());
  if (Array.isArray(value)) return value.map((item) => jsonOf(item) ?? null);
  const record: Record<string, Json> = {};
  for (const key of Object.keys(value)) {
    const json = jsonOf((value as Record<string, unknown>)[key]);
    if (json === undefined) continue;
    // Assigning `__proto__` would give the record another prototype instead of a field.
    if (key === '__proto__') return parseOwnJson(JSON.stringify(value));
    record[key] = json;
  }
  return record;
}

/** What a text of foreign origin holds as JSON; undefined when it is not JSON. */
export function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * What the relay itself wrote as JSON.
 *
 * @throws SyntaxError when the text was damaged since
 */
export function parseOwnJson<T>(text: string): T {
  return JSON.parse(text) as T;
}

/** Whether a value is an object, and no list. */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The fields of a JSON object; none for any other value. */
export function fieldsOf(json: Json | undefined): Readonly<Record<string, Json>> {
  return isRecord(json) ? json : {};
}

/** The decimal that a text is; null for anything else. */
export function decimalIn(json: Json | undefined): Decimal | null {
  return typeof json === 'string' ? (decimalOrUndefined(json) ?? null) : null;
}

export function numberIn(json: Json | undefined): number | null {
  return typeof json === 'number' ? json : null;
}

export function textIn(json: Json | undefined): string | null {
  return typeof json === 'string' ? json : null;
}

const escapes = /\\(?:u([0-9a-f]{4})|(.))/gi;
const characters: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' };

/**
 * Decodes one layer of the escapes of JSON strings. Backslashes stand in JSON only within strings, so decoding the whole
 * text decodes each of its strings. An escape that JSON does not know stands for its character: lenient readers take it so.
 */
export function decodeJsonEscapes(text: string): string {
  return text.replaceAll(escapes, (_, digits: string | undefined, letter: string) =>
    digits === undefined ? (characters[letter] ?? letter) : String.fromCharCode(Number.parseInt(digits, 16)),
  );
}
