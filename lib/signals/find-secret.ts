import { decodeJsonEscapes } from '../base/json.ts';

/** A text that short stands in ordinary words too; no token of ours and no key of the exchange is. */
const shortestSecret = 8;
/** JSON within JSON within JSON: nobody reads a text that is wrapped more often. */
const mostWrappings = 4;

/**
 * Whether one of the secrets stands in a text, in plain or behind JSON's escapes: as a key, a value, deep inside, in
 * JSON that is itself a text of JSON, or in what is no JSON at all.
 *
 * @param secrets those of fewer than 8 characters are not looked for: they would be found in any alert
 */
export function holdsSecret(text: string, secrets: readonly string[]): boolean {
  const sought = secrets.filter(({ length }) => length >= shortestSecret);
  let layer = text;
  for (let wrapping = 0; wrapping <= mostWrappings; wrapping += 1) {
    if (sought.some((secret) => layer.includes(secret))) return true;
    const decoded = decodeJsonEscapes(layer);
    if (decoded === layer) return false;
    layer = decoded;
  }
  return false;
}
