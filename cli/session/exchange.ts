import type { ExchangeClient } from '../../lib/exchange/client.ts';
import type { Account } from '../../lib/model/account.ts';
import type { Session } from './session.ts';

/** How long a command waits for the exchange before it reports a failure. */
export const timeoutMs = 5_000;

/**
 * Sends a request to the relay's exchange, signed with the account's key; null: unsigned.
 *
 * @throws CommandFailure `not_running` when the exchange does not accept connections; RelayError for any
 *   other failure
 */
export async function askExchange<T>(
  session: Session,
  account: Account | null,
  request: (client: ExchangeClient) => Promise<T>,
): Promise<T> {
  return await request(await session.openExchange(account));
}
