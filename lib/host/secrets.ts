import type { Credentials } from '../exchange/client.ts';
import type { Ways } from '../notices/channels.ts';
import type { SecretAge } from '../relay/services.ts';

/** The store of keys and tokens. They leave it only for signing and comparison. */
export interface SecretStore {
  /**
   * The valid webhook tokens of the account, at most two; none for an unknown account.
   *
   * @param age `remembered` by default
   */
  webhookTokens(account: string, age?: SecretAge): Promise<readonly string[]>;
  /**
   * The account's exchange key; null when none is stored.
   *
   * @param age `remembered` by default
   */
  exchangeKeys(account: string, age?: SecretAge): Promise<Credentials | null>;
}

/** A store that can list all its secrets, so that they are recognised when an alert contains one. */
export interface SecretHolder extends SecretStore {
  /**
   * All valid webhook tokens and all exchange keys and secrets, as far as they
   * can be read. Cached values are good enough, so a call never waits long.
   */
  heldSecrets(): Promise<readonly string[]>;
}

/** The store of what opens the channels of the notices. */
export interface NoticeSecrets {
  /**
   * How each channel is reached; a channel that nobody has set is missing.
   *
   * @throws RelayError `secrets_missing` when it cannot be read
   */
  noticeWays(): Promise<Ways>;
}
