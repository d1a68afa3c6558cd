import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, statSync } from 'node:fs';
import * as z from 'zod';
import { type Clock, hasPassed, systemClock } from '../base/clock.ts';
import { describeError } from '../base/describe-error.ts';
import { RelayError } from '../base/errors.ts';
import { isRecord } from '../base/json.ts';
import type { Credentials } from '../exchange/client.ts';
import { complainWays, type RequestChannelName, secretsIn, type Ways } from '../notices/channels.ts';
import type { SecretAge } from '../relay/services.ts';
import { holdLock } from './hold-lock.ts';
import { replaceFile } from './replace-file.ts';
import { shortestToken } from './secret-contents.ts';
import type { NoticeSecrets, SecretHolder } from './secrets.ts';

const Token = z.string().min(shortestToken);
/** A replaced token stays valid until `validUntilMs`. */
const ReplacedToken = z.strictObject({ token: Token, validUntilMs: z.int() });

const AccountsSchema = z.record(
  z.string(),
  z.strictObject({
    webhookTokens: z.array(z.union([Token, ReplacedToken])).max(2),
    exchangeKeys: z.strictObject({ apiKey: z.string().min(1), apiSecret: z.string().min(1) }).nullable(),
  }),
);
type Accounts = z.output<typeof AccountsSchema>;
type AccountSecrets = Accounts[string];

/** Beside the accounts; no account can have this name. */
const waysName = '#notices';

interface Secrets {
  readonly accounts: Accounts;
  /** How the channels of the notices are reached. */
  readonly ways: Ways;
}

/**
 * A remembered secret is at most this old, so a token that was withdrawn without grace works no longer than this. An
 * order asks three times; three looks at the file took 3 % of its processor time.
 */
const longestRememberedMs = 100;

/**
 * The secret store of a local run: one JSON file that only its owner can read.
 *
 * A change of the file takes effect within 100 ms; at once where the newest is asked for.
 */
export function createFileSecrets(path: string, clock: Clock = systemClock): SecretHolder & NoticeSecrets {
  let known: { readonly version: string; readonly secrets: Secrets; readonly checkedAtMs: number } | null =
    null;

  function read(age: SecretAge = 'remembered'): Secrets {
    const nowMs = clock.nowMs();
    if (age === 'remembered' && known !== null && !hasPassed(known.checkedAtMs, longestRememberedMs, nowMs))
      return known.secrets;
    const version = versionOf(path);
    const secrets = known?.version === version ? known.secrets : readSecrets(path);
    known = { version, secrets, checkedAtMs: nowMs };
    return secrets;
  }

  return {
    webhookTokens: async (account, age) =>
      liveTokensOf(read(age).accounts[account]?.webhookTokens ?? [], clock.nowMs()),
    exchangeKeys: async (account, age) => read(age).accounts[account]?.exchangeKeys ?? null,
    async noticeWays() {
      try {
        return read('newest').ways;
      } catch (error) {
        // That the secrets cannot be read is itself told through them.
        if (known === null) throw error;
        return known.secrets.ways;
      }
    },
    async heldSecrets() {
      const { accounts, ways } = read();
      const ofAccounts = Object.values(accounts).flatMap(({ webhookTokens, exchangeKeys }) => [
        ...liveTokensOf(webhookTokens, clock.nowMs()),
        ...(exchangeKeys === null ? [] : [exchangeKeys.apiKey, exchangeKeys.apiSecret]),
      ]);
      return [...ofAccounts, ...secretsIn(ways)];
    },
  };
}

/**
 * Creates a webhook token and stores exchange keys for every account that the file does not have yet.
 *
 * @param keysOf returns the exchange keys of a new account; null: it has none yet
 * @throws RelayError `store_unavailable` when an account is missing and the file cannot be written
 */
export function completeFileSecrets(
  path: string,
  accounts: readonly string[],
  keysOf: (account: string) => Credentials | null,
): void {
  const missingIn = (secrets: Secrets) =>
    accounts.filter((account) => !Object.hasOwn(secrets.accounts, account));
  if (missingIn(readIfThere(path)).length === 0) return;
  changeSecrets(path, () => {
    const secrets = readIfThere(path);
    const added: Accounts = Object.fromEntries(
      missingIn(secrets).map((account) => [
        account,
        { webhookTokens: [createToken()], exchangeKeys: keysOf(account) },
      ]),
    );
    return { ...secrets, accounts: { ...secrets.accounts, ...added } };
  });
}

/** @throws RelayError `secrets_missing` when the file is there and cannot be read, with every fault */
export function checkFileSecrets(path: string): void {
  if (existsSync(path)) readSecrets(path);
}

/** @throws RelayError `secrets_missing` when the file knows no such account, `store_unavailable` when it cannot be written */
export function storeFileKeys(path: string, account: string, keys: Credentials): void {
  changeSecrets(path, () => {
    const secrets = readSecrets(path);
    return withAccount(secrets, account, { ...secretsOf(secrets, path, account), exchangeKeys: keys });
  });
}

/**
 * Stores how a channel of the notices is reached.
 *
 * @param way null: it is forgotten
 * @throws RelayError `secrets_missing` when the file cannot be read, `store_unavailable` when it cannot be written
 */
export function storeFileWay(
  path: string,
  channel: RequestChannelName,
  way: Ways[RequestChannelName] | null,
): void {
  changeSecrets(path, () => {
    const secrets = readSecrets(path);
    const { [channel]: _, ...others } = secrets.ways;
    return { ...secrets, ways: way === null ? others : { ...others, [channel]: way } };
  });
}

function withAccount(secrets: Secrets, account: string, changed: AccountSecrets): Secrets {
  return { ...secrets, accounts: { ...secrets.accounts, [account]: changed } };
}

/**
 * Gives the account a new webhook token; the replaced one stays valid until the given time.
 *
 * @throws RelayError `secrets_missing` when the file has no such account, `store_unavailable` when it cannot
 * be written; the old token then remains the only one
 */
export function rotateFileToken(path: string, account: string, validUntilMs: number): void {
  changeSecrets(path, () => {
    const secrets = readSecrets(path);
    const known = secretsOf(secrets, path, account);
    const replaced = known.webhookTokens
      .slice(0, 1)
      .map((entry) => ({ token: tokenOf(entry), validUntilMs }));
    return withAccount(secrets, account, { ...known, webhookTokens: [createToken(), ...replaced] });
  });
}

function liveTokensOf(entries: AccountSecrets['webhookTokens'], nowMs: number): readonly string[] {
  return entries
    .filter((entry) => typeof entry === 'string' || nowMs < entry.validUntilMs)
    .map((entry) => tokenOf(entry));
}

function tokenOf(entry: AccountSecrets['webhookTokens'][number]): string {
  return typeof entry === 'string' ? entry : entry.token;
}

function secretsOf({ accounts }: Secrets, path: string, account: string): AccountSecrets {
  const found = Object.hasOwn(accounts, account) ? accounts[account] : undefined;
  if (found === undefined)
    throw new RelayError(
      'secrets_missing',
      `the secrets file ${path} has no account ${account} yet: the next start of the relay adds it`,
    );
  return found;
}

/**
 * Writes what the function returns. Of two commands that read at the same time, the second would undo the change of the
 * first, such as the withdrawal of a token; so it reads while no other process writes.
 */
function changeSecrets(path: string, readAndChange: () => Secrets): void {
  // With no file, or one that cannot be read, there is nothing to lock.
  readAndChange();
  try {
    holdLock(`${path}.lock`, () => {
      replaceFile(path, formatSecrets(readAndChange()));
    });
  } catch (error) {
    if (error instanceof RelayError && error.code !== 'store_unavailable') throw error;
    const isFull = (error as NodeJS.ErrnoException).code === 'ENOSPC';
    throw new RelayError(
      'store_unavailable',
      `the secrets file ${path} could not be written: ${isFull ? 'the disk is full' : describeError(error)}; the file is unchanged, so the tokens and keys stored before stay valid`,
      { cause: error },
    );
  }
}

function formatSecrets({ accounts, ways }: Secrets): string {
  const content = { ...accounts, ...(Object.keys(ways).length === 0 ? {} : { [waysName]: ways }) };
  return `${JSON.stringify(content, null, 2)}\n`;
}

/** Creates a webhook token: 192 random bits, safe in a URL. */
export function createToken(): string {
  return randomBytes(24).toString('base64url');
}

/** A text that changes whenever the file does. A copy may keep the time of its contents, never that of its own change. */
function versionOf(path: string): string {
  const stats = findStats(path);
  if (stats === undefined)
    throw new RelayError(
      'secrets_missing',
      `there is no secrets file ${path} (ENOENT): put it back, or start the relay, which creates it`,
    );
  return `${stats.ctimeMs}:${stats.mtimeMs}:${stats.size}:${stats.ino}`;
}

function findStats(path: string) {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch (error) {
    throw createUnreadable(path, error);
  }
}

/** The operating system's words quote paths alone. */
function createUnreadable(path: string, error: unknown): RelayError {
  const advice =
    (error as NodeJS.ErrnoException).code === 'EACCES'
      ? 'give it back to the user who runs the relay, with `chown`'
      : 'see to the file and its disk';
  return new RelayError(
    'secrets_missing',
    `the secrets file ${path} cannot be read: ${describeError(error)}; ${advice}`,
    { cause: error },
  );
}

function readIfThere(path: string): Secrets {
  return existsSync(path) ? readSecrets(path) : { accounts: {}, ways: {} };
}

function readSecrets(path: string): Secrets {
  const content = parseFile(path);
  const { [waysName]: ways = {}, ...others } = isRecord(content) ? content : {};
  const parsed = AccountsSchema.safeParse(isRecord(content) ? others : content);
  const faults = complainWays(ways).map((message) => ({ path: [waysName], message }));
  const issues = [...(parsed.error?.issues ?? []), ...faults].map(({ path: place, message }) => ({
    path: place.join('.'),
    message,
    hint: 'correct the file, or move it away and start the relay, which creates a new one',
  }));
  if (parsed.success && issues.length === 0) return { accounts: parsed.data, ways: ways as Ways };
  throw new RelayError('secrets_missing', `the secrets file ${path} has ${issues.length} issue(s)`, {
    issues,
  });
}

function parseFile(path: string): unknown {
  const text = readText(path);
  try {
    return JSON.parse(text);
  } catch {
    // The parser's error is not passed on, because its message quotes the file.
    throw new RelayError('secrets_missing', `the secrets file ${path} cannot be read as JSON: correct it`);
  }
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw createUnreadable(path, error);
  }
}
