import type { ExchangeClient } from '../lib/exchange/client.ts';
import type { Account } from '../lib/model/account.ts';
import type { Session } from './session.ts';

/** A person waits; what the exchange did not answer by then is told rather than waited for. */
export const timeoutMs = 5_000;

/**
 * Asks the relay's exchange, signing with the account's key; null signs nothing.
 *
 * @throws CommandFailure `not_running` when nobody listens there; RelayError for any other failure
 */
export async function askExchange<T>(
  session: Session,
  account: Account | null,
  request: (client: ExchangeClient) => Promise<T>,
): Promise<T> {
  return await request(await session.openExchange(account));
}
