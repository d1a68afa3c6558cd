import type { Alarms } from '../base/alarms.ts';
import type { Clock } from '../base/clock.ts';
import type { Log } from '../base/log.ts';
import type { ExchangeClient } from '../exchange/client.ts';
import type { ContestedFacts } from '../ledger/account-facts.ts';
import type { SignalEntry } from '../ledger/entry.ts';
import type { Executions } from '../ledger/executions.ts';
import type { Ledger, LedgerEntrance } from '../ledger/ledger.ts';
import type { Status } from '../model/outcome.ts';
import type { Settings } from '../model/settings.ts';
import type { HeldSecret } from '../signals/find-secret.ts';
import type { Arrival } from '../signals/staleness.ts';
import type { PreparedAction } from './execute/action.ts';
import type { MarketCatalogue } from './execute/market-catalogue.ts';
import type { ClearedEntries } from './position/cleared-entries.ts';
import type { LostProtection } from './protect/lost-protection.ts';
import type { OverloadWatch } from './receive/overload.ts';
import type { RepeatWatch } from './receive/repeated-alert.ts';

/**
 * The arrival that a signal's age is checked against when the alert does not say when it fired.
 *
 * @see DECISIONS 28
 */
export function arrivalOf({ settings }: { readonly settings: Settings }, receivedAtMs: number): Arrival {
  return { receivedAtMs, defaultMaxLagMs: settings.defaultMaxLagMs };
}

/** `remembered` allows cached tokens; `newest` reads the secret store, because no cached token matched. */
export type SecretAge = 'remembered' | 'newest';

/** The services that receive-signal needs. */
export interface ReceiveServices {
  readonly clock: Clock;
  readonly log: Log;
  readonly alarms: Alarms;
  readonly settings: Settings;
  /** `accept` also puts the signals in line to be executed. */
  readonly ledger: LedgerEntrance;
  /** The tokens that are valid now; none for an unknown account. */
  webhookTokens(account: string, age: SecretAge): Promise<readonly string[]>;
  /**
   * The tokens and exchange keys of all accounts. An alert is stored and shown, so it must contain none of them. On AWS
   * the function may not read the exchange keys, so it has their fingerprints.
   *
   * @throws RelayError `store_unavailable` when the fingerprints cannot be read
   */
  heldSecrets(): Promise<readonly HeldSecret[]>;
  readonly overload: OverloadWatch;
  readonly repeats: RepeatWatch;
}

/** The services that execute-signal needs. */
export interface ExecuteServices {
  readonly clock: Clock;
  readonly log: Log;
  readonly alarms: Alarms;
  readonly settings: Settings;
  readonly ledger: Ledger;
  /** Takes in signals that the relay itself makes, and puts them in line. */
  readonly entrance: Pick<LedgerEntrance, 'accept'>;
  readonly executions: Executions;
  readonly facts: ContestedFacts;
  readonly markets: MarketCatalogue;
  /** Whether the exchange is a paper exchange. Only there an account in paper mode sends its orders. */
  readonly isPaperExchange: boolean;
  /** How long one request to the exchange may take, retries included. */
  readonly exchangeTimeoutMs: number;
  /**
   * Creates a client that signs with the account's key.
   *
   * @throws RelayError `secrets_missing` when no key is stored
   */
  exchangeFor(account: string): Promise<ExchangeClient>;
  /**
   * Settles an entry whose order a relay that is gone has sent, or may have sent, and sends nothing. Null: nobody has sent it.
   * Absent: nobody can have.
   */
  readonly settleSentBefore?:
    | ((entry: SignalEntry, action: PreparedAction, cleared: ClearedEntries) => Promise<Status | null>)
    | undefined;
  /** What a relay that is gone has placed to protect positions; absent: there can be nothing. */
  readonly lostProtection?: LostProtection | undefined;
}
