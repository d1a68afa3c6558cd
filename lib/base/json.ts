/** A JSON value; decimals are stored as text. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

/** Converts the value to JSON: decimals become plain text, and fields that are undefined are dropped. */
export function toJson(value: unknown): Json {
  return parseOwnJson(JSON.stringify(value));
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
