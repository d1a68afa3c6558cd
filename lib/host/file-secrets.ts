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
    const version = versionOf(path);
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

/** Changes whenever the file does. */
function versionOf(path: string): string {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats === undefined)
    throw new RelayError(
      'secrets_missing',
      `there is no secrets file ${path}: start the relay, which makes it`,
    );
  return `${stats.mtimeMs}:${stats.size}:${stats.ino}`;
}

function readSecrets(path: string): Secrets {
  const parsed = SecretsSchema.safeParse(parseFile(path));
  if (parsed.success) return parsed.data;
  const issues = parsed.error.issues.map(({ path: place, message }) => ({
    path: place.join('.'),
    message,
    hint: 'correct the file, or move it away and start the relay, which makes a new one',
  }));
  throw new RelayError('secrets_missing', `the secrets file ${path} has ${issues.length} fault(s)`, {
    issues,
  });
}

function parseFile(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    // The parser's own message quotes the file.
    throw new RelayError('secrets_missing', `the secrets file ${path} cannot be read as JSON: correct it`);
  }
}
