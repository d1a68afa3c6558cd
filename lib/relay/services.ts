import type { Alarms } from '../base/alarms.ts';
import type { Clock } from '../base/clock.ts';
import type { Log } from '../base/log.ts';
import type { ExchangeClient } from '../exchange/client.ts';
import type { Ledger, LedgerEntrance } from '../ledger/ledger.ts';
import type { Settings } from '../model/settings.ts';
import type { SignalQueue } from '../queue/queue.ts';
import type { Arrival } from '../signals/staleness.ts';
import type { MarketCatalogue } from './market-catalogue.ts';
import type { OverloadWatch } from './overload.ts';

/** What a signal that came at that time is held against when it does not say when it fired. */
export function arrivalOf({ settings }: { readonly settings: Settings }, receivedAtMs: number): Arrival {
  return { receivedAtMs, defaultMaxLagMs: settings.defaultMaxLagMs };
}

/** `newest`: what was given before did not open the door; ask whoever keeps it, whatever is remembered. */
export type SecretAge = 'remembered' | 'newest';

/** What taking a signal in needs of the world. */
export interface ReceiveServices {
  readonly clock: Clock;
  readonly log: Log;
  readonly alarms: Alarms;
  readonly settings: Settings;
  readonly ledger: LedgerEntrance;
  readonly queue: SignalQueue;
  /** The tokens that are valid now, none for an unknown account. */
  webhookTokens(account: string, age: SecretAge): Promise<readonly string[]>;
  /**
   * Every secret this process holds, of all accounts: none of them may travel with an alert, which is stored and
   * shown. A function that may not read the keys of the exchange, as on AWS, looks for the webhook tokens alone.
   */
  heldSecrets(): Promise<readonly string[]>;
  readonly overload: OverloadWatch;
}

/** What executing a signal needs of the world. */
export interface ExecuteServices {
  readonly clock: Clock;
  readonly log: Log;
  readonly alarms: Alarms;
  readonly settings: Settings;
  readonly ledger: Ledger;
  readonly markets: MarketCatalogue;
  /** Whether the exchange is a paper exchange. Only there an account in paper mode sends its orders. */
  readonly isPaperExchange: boolean;
  /** How long one request to the exchange may take, retries included. */
  readonly exchangeTimeoutMs: number;
  /**
   * A client that signs with the account's key.
   *
   * @throws RelayError `secrets_missing` when no key is stored
   */
  exchangeFor(account: string): Promise<ExchangeClient>;
}
