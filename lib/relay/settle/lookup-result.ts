import type { ExchangeClient } from '../../exchange/client.ts';
import type { Outcome } from '../execute/action.ts';
import type { CloseServices } from '../position/close-exits.ts';

/** The result of looking up an entry whose response was lost. */
export type LookupResult =
  /** The outcome is proven. */
  | { readonly kind: 'found'; readonly outcome: Outcome }
  /** No list shows the effect. Lists lag; `outcome` holds once enough lookups have given this result. */
  | { readonly kind: 'not_found'; readonly finding: string; readonly outcome: Outcome }
  /** The lists cannot prove anything about this entry; `isUnread`: none could be read. */
  | { readonly kind: 'inconclusive'; readonly finding: string; readonly isUnread?: boolean };

/** A lookup that settles nothing. */
export type UnsettledResult = Exclude<LookupResult, { kind: 'found' }>;

export interface LookupServices extends CloseServices {
  /** @throws RelayError `secrets_missing` when no key is stored */
  exchangeFor(account: string): Promise<ExchangeClient>;
}

/** The finding when an order is in none of the lists, and they do not hold every order. */
export const notListed =
  'the order is not listed, but the lists do not hold every order; check it on the exchange itself';
