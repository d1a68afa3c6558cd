import * as z from 'zod';
import { RelayError } from '../base/errors.ts';
import { readJson } from '../base/json.ts';
import type { Credentials } from '../exchange/client.ts';

const Token = z.string().min(16);

const TokensSchema = z.strictObject({
  current: Token,
  /** The token that `current` replaced; it stays valid until `validUntilMs`. */
  previous: z.strictObject({ token: Token, validUntilMs: z.int() }).nullable(),
});

/** Both texts are empty until a key is stored. */
const KeysSchema = z.strictObject({ apiKey: z.string(), apiSecret: z.string() });

/** The content of the secret with an account's webhook tokens. */
export type TokensContent = z.output<typeof TokensSchema>;

/** @throws RelayError `secrets_missing` for any other content; its message never quotes the secret */
export function parseTokensContent(text: string): TokensContent {
  return parseContent(TokensSchema, 'the secret with the webhook tokens', text);
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
  const keys = parseContent(KeysSchema, 'the secret with the exchange key', text);
  return keys.apiKey === '' || keys.apiSecret === '' ? null : keys;
}

function parseContent<S extends z.ZodType>(schema: S, name: string, text: string): z.output<S> {
  const parsed = schema.safeParse(readJson(text));
  if (parsed.success) return parsed.data;
  const fields = parsed.error.issues.map(({ path, code }) => `${path.join('.') || 'the whole'} (${code})`);
  throw new RelayError('secrets_missing', `${name} is not usable: ${fields.join(', ')}`);
}
