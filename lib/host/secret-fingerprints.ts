import { randomBytes } from 'node:crypto';
import { type Clock, hasPassed } from '../base/clock.ts';
import { describeSafely } from '../base/describe-error.ts';
import { fieldsOf, type Json, numberIn, textIn } from '../base/json.ts';
import type { Log } from '../base/log.ts';
import type { AccountFacts, AllAccountFacts } from '../ledger/account-facts.ts';
import { fingerprintSecret, type SecretFingerprint } from '../signals/find-secret.ts';
import type { SecretStore } from './secrets.ts';

/**
 * On AWS, the function that receives alerts recognises an exchange key that it may not read, and what opens a channel of the
 * notices: by fingerprints beside the ledger. `keys set` and `notify set` store them. For secrets that an older release
 * stored, or a person by hand, the reconciler does, and the function that sends notices.
 *
 * @see DECISIONS 18
 */
const factName = 'key fingerprints';

/** How often the reconciler looks whether the fingerprints of a key are stored. */
const keepEveryMs = 60 * 60_000;

/** Owns what opens the channels of the notices: no account has such a name. */
export const ofChannels = '*';

/**
 * Stores the fingerprints of all secrets of an owner, unless they are stored.
 *
 * @param owner the account whose key and secret they are, or {@link ofChannels}
 * @throws RelayError `store_unavailable`
 */
export async function storeFingerprints(
  facts: AccountFacts,
  owner: string,
  secrets: readonly string[],
): Promise<void> {
  const stored = parseFact(await facts.read(owner, factName));
  const salt = randomBytes(16).toString('base64url');
  const current = secrets.flatMap(
    (secret) =>
      stored.find((one) => fingerprintSecret(secret, one.salt)?.hash === one.hash) ??
      fingerprintSecret(secret, salt) ??
      [],
  );
  if (current.every((one) => stored.includes(one))) return;
  // As many of those before stay, too: until a key is deleted at the exchange, it is worth as much.
  const before = stored.filter((one) => !current.includes(one)).slice(0, current.length);
  await facts.write(
    owner,
    factName,
    [...current, ...before].map((one) => ({ ...one })),
  );
}

/**
 * Makes what the reconciler calls in every run. In the first run of a process, and then once an hour, it stores the
 * fingerprints of each key that has none. What fails is tried again in the next run.
 */
export function createFingerprintKeeper(services: {
  readonly accounts: readonly string[];
  readonly clock: Clock;
  readonly log: Log;
  readonly secrets: Pick<SecretStore, 'exchangeKeys'>;
  readonly facts: AccountFacts;
}): () => Promise<void> {
  const { accounts, clock, log, secrets, facts } = services;
  const keptAtMs = new Map<string, number>();

  async function keep(account: string): Promise<void> {
    const keys = await secrets.exchangeKeys(account, 'newest');
    if (keys !== null) await storeFingerprints(facts, account, [keys.apiKey, keys.apiSecret]);
  }

  return async () => {
    const nowMs = clock.nowMs();
    const due = accounts.filter((account) =>
      hasPassed(keptAtMs.get(account) ?? Number.NEGATIVE_INFINITY, keepEveryMs, nowMs),
    );
    for (const account of due)
      try {
        await keep(account);
        keptAtMs.set(account, nowMs);
      } catch (error) {
        const message =
          'alerts cannot be searched for the exchange key of an account; the next run tries again';
        log.warn(message, { account, reason: describeSafely(error) });
      }
  };
}

/**
 * The fingerprints of all accounts and of the channels, with one request. They are read for every alert: the owner of a new
 * key may try it at once.
 *
 * @throws RelayError `store_unavailable`
 */
export async function readFingerprints(
  facts: Pick<AllAccountFacts, 'readOfAll'>,
  accounts: readonly string[],
): Promise<readonly SecretFingerprint[]> {
  return (await facts.readOfAll([...accounts, ofChannels], factName)).flatMap(parseFact);
}

function parseFact(fact: Json): readonly SecretFingerprint[] {
  return Array.isArray(fact) ? fact.flatMap((one: Json) => parseFingerprint(one) ?? []) : [];
}

function parseFingerprint(json: Json): SecretFingerprint | null {
  const fields = fieldsOf(json);
  const [salt, length, hash] = [textIn(fields['salt']), numberIn(fields['length']), textIn(fields['hash'])];
  if (salt === null || length === null || hash === null) return null;
  return { salt, length, isAlphanumeric: fields['isAlphanumeric'] === true, hash };
}
