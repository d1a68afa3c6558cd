import { decodeJsonEscapes } from '../base/json.ts';
/** What stands in the place of a secret that came back. */
export const redacted = '[redacted]';

/** Shorter ones would be found in ordinary words. */
const minimumSecretLength = 8;

/** What looks like a signature (128 hex digits) or a signed payload (base64 of a JSON object), of whatever request. */
const secretForms = /[0-9a-f]{128}|eyJ[\w+/-]{24,}={0,2}/giu;

/** As deep as any response of the exchange. */
const maximumDepth = 32;

/** How often a text can be JSON within JSON. */
const maximumEscapes = 4;

/**
 * Reads the JSON text of a response, without what the request carried in confidence: a hostile or careless exchange may
 * throw key and signature back at us, in any field and in any spelling that JSON has for them.
 *
 * @param secrets whole texts; any that is shorter than 8 characters is not looked for
 * @throws SyntaxError when the text is not JSON; RangeError when it holds a secret deeper than any response nests
 */
export function parseRedacted(text: string, secrets: readonly string[]): unknown {
  const known = secrets.filter((secret) => secret.length >= minimumSecretLength);
  const content: unknown = JSON.parse(text);
  return known.length > 0 && mayHold(text, known) ? redact(content, known, 0) : content;
}

/** An ordinary response is told by one pass over its text: without a backslash, nothing in it is spelt otherwise. */
function mayHold(text: string, secrets: readonly string[]): boolean {
  return (
    text.includes('\\') || text.search(secretForms) >= 0 || secrets.some((secret) => text.includes(secret))
  );
}

function redact(value: unknown, secrets: readonly string[], depth: number): unknown {
  if (depth > maximumDepth) throw new RangeError(`the response nests deeper than ${maximumDepth} levels`);
  if (typeof value === 'string') return redactText(value, secrets);
  if (Array.isArray(value)) return value.map((item) => redact(item, secrets, depth + 1));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [redactText(key, secrets), redact(item, secrets, depth + 1)]),
  );
}

/** A text that is itself JSON may spell a secret with escapes of its own: what a reader would decode is decoded. */
function redactText(text: string, secrets: readonly string[]): string {
  let cleaned = replaceSecrets(text, secrets);
  let decoded = cleaned;
  for (let time = 0; time < maximumEscapes && decoded.includes('\\'); time += 1) {
    decoded = decodeJsonEscapes(decoded);
    const redactedText = replaceSecrets(decoded, secrets);
    if (redactedText !== decoded) cleaned = decoded = redactedText;
  }
  return cleaned;
}

function replaceSecrets(text: string, secrets: readonly string[]): string {
  let cleaned = text;
  for (const secret of secrets) cleaned = cleaned.replaceAll(secret, redacted);
  return cleaned.replaceAll(secretForms, redacted);
}
