import { hash } from 'node:crypto';
import { decodeJsonEscapes } from '../base/json.ts';

/**
 * What recognises a secret without being one: whoever reads it learns the length, and nothing else of a secret that was
 * drawn by chance.
 */
export interface SecretFingerprint {
  readonly salt: string;
  /** In characters. */
  readonly length: number;
  /** Whether the secret consists of ASCII letters and digits. */
  readonly isAlphanumeric: boolean;
  /** SHA-256 of salt and secret, as base64url. */
  readonly hash: string;
}

/** A secret, or what recognises it where the secret itself must not be. */
export type HeldSecret = string | SecretFingerprint;

/** Shorter texts also occur in ordinary words. The relay's tokens and the exchange's keys are all longer. */
const shortestSecret = 8;
/** A shorter secret could be found out by trying: it has no fingerprint. The exchange's keys are all longer. */
const shortestFingerprinted = 20;
/** How many layers of encoded text within encoded text are decoded. */
const mostWrappings = 4;

/** @param salt another one for each account; @returns null for a secret of less than 20 characters */
export function fingerprintSecret(secret: string, salt: string): SecretFingerprint | null {
  if (secret.length < shortestFingerprinted) return null;
  const isAlphanumeric = /^[0-9a-z]+$/i.test(secret);
  return { salt, length: secret.length, isAlphanumeric, hash: hashOf(salt, secret) };
}

function hashOf(salt: string, text: string): string {
  return hash('sha256', `${salt}${text}`, 'base64url');
}

/**
 * Whether a text contains one of the secrets, in plain, written with JSON's escapes or with those of URLs. It does not
 * matter where: in a key, in a value, at any depth, in JSON that is itself a JSON string, or in text that is not JSON.
 *
 * @param secrets secrets shorter than 8 characters are ignored: they would be found in any alert
 * @see DECISIONS 18
 */
export function holdsSecret(text: string, secrets: readonly HeldSecret[]): boolean {
  const texts = secrets.filter((secret) => typeof secret === 'string');
  const plain = texts.filter(({ length }) => length >= shortestSecret);
  const searches = groupFingerprints(secrets.filter((secret) => typeof secret !== 'string'));
  const isFound = (layer: string) =>
    plain.some((secret) => layer.includes(secret)) || searches.some((search) => isHeld(layer, search));
  for (const layer of layersOf(text)) if (isFound(layer)) return true;
  return false;
}

/** The text, and what it says after each decoding of the escapes of JSON and of URLs. */
export function* layersOf(text: string): Generator<string, void> {
  let layer = text;
  yield layer;
  for (let wrapping = 0; wrapping < mostWrappings; wrapping += 1) {
    const unescaped = decodeJsonEscapes(layer);
    if (unescaped !== layer) yield unescaped;
    const decoded = decodeUrlEscapes(unescaped);
    if (decoded === layer) return;
    if (decoded !== unescaped) yield decoded;
    layer = decoded;
  }
}

/** Those of ASCII characters: a secret has no others. */
function decodeUrlEscapes(text: string): string {
  return text.replaceAll(/%([0-7][0-9a-f])/gi, (_, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 16)),
  );
}

/** Fingerprints that one hash of a piece of text is compared with. */
interface Search extends Omit<SecretFingerprint, 'hash'> {
  readonly hashes: ReadonlySet<string>;
}

function groupFingerprints(fingerprints: readonly SecretFingerprint[]): readonly Search[] {
  const groups = Object.values(
    Object.groupBy(fingerprints, ({ salt, length, isAlphanumeric }) => `${salt} ${length} ${isAlphanumeric}`),
  );
  return groups.flatMap((group = []) => {
    const [first] = group;
    return first === undefined ? [] : [{ ...first, hashes: new Set(group.map((one) => one.hash)) }];
  });
}

/** Hashes every piece of the length. Few texts have one: in most alerts no word is as long as a key. */
function isHeld(text: string, { salt, length, isAlphanumeric, hashes }: Search): boolean {
  for (const [word] of text.matchAll(isAlphanumeric ? /[0-9a-z]+/gi : /[!-~]+/g))
    for (let end = length; end <= word.length; end += 1)
      if (hashes.has(hashOf(salt, word.slice(end - length, end)))) return true;
  return false;
}
