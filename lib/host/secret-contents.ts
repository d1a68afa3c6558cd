import * as z from 'zod';
import { RelayError } from '../base/errors.ts';
import { readJson } from '../base/json.ts';
import type { Credentials } from '../exchange/client.ts';

const Token = z.string().min(16);

const TokensSchema = z.strictObject({
  current: Token,
  /** The one that `current` replaced, and until when it still opens. */
  previous: z.strictObject({ token: Token, validUntilMs: z.int() }).nullable(),
});

/** Empty texts stand where no key was stored yet. */
const KeysSchema = z.strictObject({ apiKey: z.string(), apiSecret: z.string() });

/** What the secret of an account's webhook tokens holds. */
export type TokensContent = z.output<typeof TokensSchema>;

/** @throws RelayError `secrets_missing` when it is anything else; its words never quote the secret */
export function parseTokensContent(text: string): TokensContent {
  return parseContent(TokensSchema, 'the secret with the webhook tokens', text);
}

/** The tokens that open the webhook at the given time, the current one first. */
export function liveTokensOf({ current, previous }: TokensContent, nowMs: number): readonly string[] {
  return previous === null || nowMs >= previous.validUntilMs ? [current] : [current, previous.token];
}

/**
 * @returns null while no key is stored
 * @throws RelayError `secrets_missing` when it is anything else; its words never quote the secret
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
