import type { Alarms } from '../../base/alarms.ts';
import type { Clock } from '../../base/clock.ts';
import type { Log } from '../../base/log.ts';
import type { ExchangeClient, SendOptions } from '../../exchange/client.ts';
import type { ContestedFacts } from '../../ledger/account-facts.ts';
import type { Executions } from '../../ledger/executions.ts';
import type { Ledger, LedgerEntrance } from '../../ledger/ledger.ts';
import type { Teller } from '../../ledger/tell-once.ts';
import type { Settings } from '../../model/settings.ts';
import type { AskedPlace } from '../protect/asked-places.ts';
import type { LostProtection } from '../protect/lost-protection.ts';

/** The services that following orders needs. */
export interface FollowServices {
  readonly clock: Clock;
  readonly log: Log;
  readonly alarms: Alarms;
  readonly settings: Settings;
  readonly ledger: Pick<
    Ledger,
    'findByPrefix' | 'findOrder' | 'openOrders' | 'list' | 'readPause' | 'waiting'
  >;
  /** Takes in signals that the relay itself makes, and puts them in line. */
  readonly entrance: Pick<LedgerEntrance, 'accept'>;
  readonly isPaperExchange: boolean;
  readonly executions: Executions;
  readonly facts: ContestedFacts;
  /** How long one request to the exchange may take, retries included. */
  readonly exchangeTimeoutMs: number;
  /** The options with which a command finds this relay, for example ` --stack relay-prod`; empty for `.relay`. */
  readonly commandOptions: string;
  /** What a relay that is gone has placed to protect positions; absent: there can be nothing. */
  readonly lostProtection?: LostProtection | undefined;
  /** @throws RelayError `secrets_missing` when no key is stored */
  exchangeFor(account: string): Promise<ExchangeClient>;
}

/** What is needed to follow the orders of one account. */
export interface Watch {
  readonly services: FollowServices;
  readonly teller: Teller;
  readonly account: string;
  readonly client: ExchangeClient;
  readonly options: SendOptions;
  /** Whether the relay keeps the protection of this account's positions itself. */
  readonly keeps: boolean;
  /** Whether it tells of exits that are more than what is left of their entries, because it keeps nothing. */
  readonly tells: boolean;
  /** Where alerts asked to protect a position, whoever opened it; none where the relay keeps nothing. */
  readonly places: readonly AskedPlace[];
}
