import type { ExchangeClient, SendOptions } from '../../exchange/client.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { Teller } from '../../ledger/tell-once.ts';
import type { AskedPlace } from '../protect/asked-places.ts';
import type { ExecuteServices } from '../services.ts';

/** The services that following orders needs. */
export interface FollowServices extends Omit<ExecuteServices, 'ledger' | 'markets' | 'settleSentBefore'> {
  readonly ledger: Pick<
    Ledger,
    'findByPrefix' | 'findOrder' | 'openOrders' | 'list' | 'readPause' | 'waiting'
  >;
  /** The options with which a command finds this relay, for example ` --stack relay-prod`; empty for `.relay`. */
  readonly commandOptions: string;
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
