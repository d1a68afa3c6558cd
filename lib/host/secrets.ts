import type { Credentials } from '../exchange/client.ts';
import type { SecretAge } from '../relay/services.ts';

/** Where keys and tokens are kept. They leave it for signing and comparing only. */
export interface SecretStore {
  /**
   * Tokens that open the account's webhook now, none for an unknown account. Two may be valid at once.
   *
   * @param age `remembered` unless told
   */
  webhookTokens(account: string, age?: SecretAge): Promise<readonly string[]>;
  /**
   * The account's exchange key; null when none is stored.
   *
   * @param age `remembered` unless told
   */
  exchangeKeys(account: string, age?: SecretAge): Promise<Credentials | null>;
}

/** A store that can tell all it holds, so that secrets are found where they do not belong. */
export interface SecretHolder extends SecretStore {
  /**
   * The tokens that open any webhook now, and the keys and secrets of the exchange, as far as they can be read. Costs
   * no question that is waited for long: what is remembered will do.
   */
  heldSecrets(): Promise<readonly string[]>;
}
