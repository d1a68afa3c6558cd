import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import * as z from 'zod';
import { RelayError } from '../base/errors.ts';
import type { Credentials } from '../exchange/client.ts';
import type { SecretStore } from './secrets.ts';

const SecretsSchema = z.record(
  z.string(),
  z.strictObject({
    webhookTokens: z.array(z.string().min(16)).max(2),
    exchangeKeys: z.strictObject({ apiKey: z.string().min(1), apiSecret: z.string().min(1) }).nullable(),
  }),
);
type Secrets = z.output<typeof SecretsSchema>;

/**
 * Keeps the secrets of a local run in one JSON file that only its owner can read.
 *
 * A change of the file takes effect on the next request.
 */
export function createFileSecrets(path: string): SecretStore {
  let known: { readonly version: string; readonly secrets: Secrets } | null = null;

  function read(): Secrets {
    const { mtimeMs, size, ino } = statSync(path);
    const version = `${mtimeMs}:${size}:${ino}`;
    if (known?.version !== version) known = { version, secrets: readSecrets(path) };
    return known.secrets;
  }

  return {
    webhookTokens: async (account) => read()[account]?.webhookTokens ?? [],
    exchangeKeys: async (account) => read()[account]?.exchangeKeys ?? null,
  };
}

/**
 * Gives every account that has none yet a fresh webhook token and the keys offered.
 *
 * @param keysOf the exchange keys of a new account
 */
export function completeFileSecrets(
  path: string,
  accounts: readonly string[],
  keysOf: (account: string) => Credentials,
): void {
  const secrets = existsSync(path) ? readSecrets(path) : {};
  const missing = accounts.filter((account) => !Object.hasOwn(secrets, account));
  if (missing.length === 0) return;
  for (const account of missing)
    secrets[account] = { webhookTokens: [createToken()], exchangeKeys: keysOf(account) };
  // Written aside and renamed, so that a crash leaves the old file or the new one.
  writeFileSync(`${path}.new`, `${JSON.stringify(secrets, null, 2)}\n`, { mode: 0o600 });
  renameSync(`${path}.new`, path);
}

/** 192 bits, safe in a URL. */
function createToken(): string {
  return randomBytes(24).toString('base64url');
}

function readSecrets(path: string): Secrets {
  try {
    return SecretsSchema.parse(JSON.parse(readFileSync(path, 'utf8')));
  } catch (error) {
    // The parser's own message may quote the file.
    const reason = error instanceof z.ZodError ? z.prettifyError(error) : 'it cannot be read as JSON';
    throw new RelayError('secrets_missing', `the secrets file ${path} is not usable: ${reason}`);
  }
}
