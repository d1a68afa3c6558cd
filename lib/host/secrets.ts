import type { Credentials } from '../exchange/client.ts';

/** Where keys and tokens are kept. They leave it for signing and comparing only. */
export interface SecretStore {
  /** Tokens that open the account's webhook now, none for an unknown account. Two may be valid at once. */
  webhookTokens(account: string): Promise<readonly string[]>;
  /** The account's exchange key; null when none is stored. */
  exchangeKeys(account: string): Promise<Credentials | null>;
}
