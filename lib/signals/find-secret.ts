import { decodeJsonEscapes } from '../base/json.ts';

/** Shorter texts also occur in ordinary words. The relay's tokens and the exchange's keys are all longer. */
const shortestSecret = 8;
/** How many layers of JSON text within JSON text are decoded. */
const mostWrappings = 4;

/**
 * Whether a text contains one of the secrets, in plain or written with JSON's escapes. It does not matter
 * where: in a key, in a value, at any depth, in JSON that is itself a JSON string, or in text that is not
 * JSON.
 *
 * @param secrets secrets shorter than 8 characters are ignored: they would be found in any alert
 * @see DECISIONS 18
 */
export function holdsSecret(text: string, secrets: readonly string[]): boolean {
  const searched = secrets.filter(({ length }) => length >= shortestSecret);
  let layer = text;
  for (let wrapping = 0; wrapping <= mostWrappings; wrapping += 1) {
    if (searched.some((secret) => layer.includes(secret))) return true;
    const decoded = decodeJsonEscapes(layer);
    if (decoded === layer) return false;
    layer = decoded;
  }
  return false;
}
