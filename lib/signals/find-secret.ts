/** A text that short stands in ordinary words too; no token of ours and no key of the exchange is. */
const shortestSecret = 8;
/** JSON within JSON within JSON: nobody reads a text that is wrapped more often. */
const mostWrappings = 4;
const jsonEscape = /\\(?:u([0-9a-fA-F]{4})|(["\\/bfnrt]))/g;
const characters: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' };

/**
 * Whether one of the secrets stands in a text, in plain or behind JSON's escapes: as a key, a value, deep inside, in
 * JSON that is itself a text of JSON, or in what is no JSON at all.
 *
 * Backslashes stand in JSON only within strings, so decoding the whole text decodes each of its strings.
 *
 * @param secrets those of fewer than 8 characters are not looked for: they would be found in any alert
 */
export function holdsSecret(text: string, secrets: readonly string[]): boolean {
  const sought = secrets.filter(({ length }) => length >= shortestSecret);
  let layer = text;
  for (let wrapping = 0; wrapping <= mostWrappings; wrapping += 1) {
    if (sought.some((secret) => layer.includes(secret))) return true;
    const decoded = decodeEscapes(layer);
    if (decoded === layer) return false;
    layer = decoded;
  }
  return false;
}

function decodeEscapes(text: string): string {
  return text.replace(jsonEscape, (_, digits?: string, letter = '') =>
    digits === undefined ? (characters[letter] ?? letter) : String.fromCharCode(Number.parseInt(digits, 16)),
  );
}
