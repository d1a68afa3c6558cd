import { RelayError } from '../base/errors.ts';
import { readJson } from '../base/json.ts';
import type { Credentials } from '../exchange/client.ts';
import { complainWays, type Ways } from '../notices/channels.ts';

/** The content of the secret with an account's webhook tokens. */
export interface TokensContent {
  readonly current: string;
  /** The token that `current` replaced; it stays valid until `validUntilMs`. */
  readonly previous: { readonly token: string; readonly validUntilMs: number } | null;
}

/** The fewest characters of a webhook token. */
export const shortestToken = 16;

/** @throws RelayError `secrets_missing` for any other content; its message never quotes the secret */
export function parseTokensContent(text: string): TokensContent {
  const content = readJson(text);
  if (isTokens(content)) return content;
  throw createUnusable(
    'the secret with the webhook tokens',
    `{"current", "previous"}, with tokens of at least ${shortestToken} characters`,
  );
}

/** The webhook tokens that are valid at the given time, the current one first. */
export function liveTokensOf({ current, previous }: TokensContent, nowMs: number): readonly string[] {
  return previous === null || nowMs >= previous.validUntilMs ? [current] : [current, previous.token];
}

/**
 * @returns null while no key is stored
 * @throws RelayError `secrets_missing` for any other content; its message never quotes the secret
 */
export function parseKeysContent(text: string): Credentials | null {
  const content = readJson(text);
  if (!isKeys(content)) throw createUnusable('the secret with the exchange key', '{"apiKey", "apiSecret"}');
  return content.apiKey === '' || content.apiSecret === '' ? null : content;
}

/** @throws RelayError `secrets_missing` for any other content; its message never quotes the secret */
export function parseWaysContent(text: string): Ways {
  const content = readJson(text);
  const faults = complainWays(content);
  if (faults.length === 0) return content as Ways;
  throw new RelayError(
    'secrets_missing',
    `the secret with the channels of the notices is not usable: ${faults.join(', ')}`,
  );
}

// Checked by hand: these two are all that receive-signal would need a library of schemas for.

function isTokens(content: unknown): content is TokensContent {
  if (!hasFields(content, 'current', 'previous') || !isToken(content['current'])) return false;
  const { previous } = content;
  if (previous === null) return true;
  if (!hasFields(previous, 'token', 'validUntilMs')) return false;
  return isToken(previous['token']) && Number.isSafeInteger(previous['validUntilMs']);
}

function isToken(value: unknown): boolean {
  return typeof value === 'string' && value.length >= shortestToken;
}

function isKeys(content: unknown): content is Credentials {
  if (!hasFields(content, 'apiKey', 'apiSecret')) return false;
  return typeof content['apiKey'] === 'string' && typeof content['apiSecret'] === 'string';
}

/** Whether the value is an object with these fields and no others. */
function hasFields<Name extends string>(
  value: unknown,
  ...names: readonly Name[]
): value is Readonly<Record<Name, unknown>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  return Object.keys(value).length === names.length && names.every((name) => Object.hasOwn(value, name));
}

function createUnusable(name: string, expected: string): RelayError {
  return new RelayError('secrets_missing', `${name} is not usable: it must hold ${expected}`);
}
