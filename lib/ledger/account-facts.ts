import { fieldsOf, type Json, numberIn } from '../base/json.ts';
import type { TradingGround } from '../model/account.ts';

/**
 * The names of what is kept: the positions as they were last read, what older fills left behind, since and until when the
 * deals of the account were read, the owner of a market, what alerts asked to protect a position with and how far following it
 * has come, where such positions may be, the stop-losses on spot that the relay has cancelled itself, what alerts have asked
 * to sell of what those had sold, which alarms were told that come once, since when a release is kept warm, what a rehearsal
 * found out of the exchange, what recognises the exchange key in an alert, which orders of another relay were told, when the
 * ledger was restored from a backup, and which accounts were configured.
 */
export type FactName =
  | 'positions'
  | 'books'
  | 'deals'
  | 'told'
  | 'kept warm'
  | `strategy of ${string}`
  | `protection asked in ${string}`
  | `protection seen in ${string}`
  | 'protected places'
  | `stops taken in ${string}`
  | `stops answered in ${string}`
  | `rehearsal on ${TradingGround}`
  | 'key fingerprints'
  | 'foreign orders'
  | 'restored'
  | 'accounts';

/** What is known of an account and must outlive the process. Each fact is replaced as a whole. */
export interface AccountFacts {
  /**
   * Null when nothing is stored under the name.
   *
   * @throws RelayError `store_unavailable`
   */
  read(account: string, name: FactName): Promise<Json>;
  /**
   * Durable once it resolves.
   *
   * @throws RelayError `store_unavailable`
   */
  write(account: string, name: FactName, fact: Json): Promise<void>;
}

/** Facts that two processes may want to write at the same time. */
export interface ContestedFacts extends AccountFacts {
  /**
   * Writes over the fact that was read, and over no other one. Durable once it resolves.
   *
   * @param was as it was read; null: there was none
   * @returns whether it was written
   * @throws RelayError `store_unavailable`
   */
  replace(account: string, name: FactName, fact: Json, was: Json): Promise<boolean>;
}

/** A store that reads the facts of several accounts at once. */
export interface AllAccountFacts extends AccountFacts {
  /**
   * The facts of several accounts under one name, in their order; null for each that is not stored.
   *
   * @throws RelayError `store_unavailable`
   */
  readOfAll(accounts: readonly string[], name: FactName): Promise<readonly Json[]>;
}

/** The same facts for a command that only reads: what is written is not stored. */
export function withoutWrites(facts: AccountFacts): ContestedFacts {
  return {
    read: (account, name) => facts.read(account, name),
    write: async () => undefined,
    replace: async () => true,
  };
}

/**
 * When the folder of each of these accounts was restored from a backup; without those of which it was not.
 *
 * @throws RelayError `store_unavailable`
 */
export async function readRestoredAt(
  facts: Pick<AccountFacts, 'read'>,
  accounts: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const restoredAtMs = new Map<string, number>();
  for (const account of accounts) {
    const atMs = numberIn(fieldsOf(await facts.read(account, 'restored'))['atMs']);
    if (atMs !== null) restoredAtMs.set(account, atMs);
  }
  return restoredAtMs;
}
