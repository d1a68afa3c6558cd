import type { ExchangeClient } from '../../lib/exchange/client.ts';
import { ExchangeError } from '../../lib/exchange/errors.ts';
import type { Account } from '../../lib/model/account.ts';
import { CommandFailure } from '../failure.ts';
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

/** A refusal of a market that the account does not have names the account's markets; any other failure stays as it is. */
export function explainMarket(error: unknown, { name, markets }: Account, market: string): unknown {
  if (!(error instanceof ExchangeError) || error.failure.kind !== 'rejected') return error;
  if (Object.hasOwn(markets, market)) return error;
  return new CommandFailure(
    error.code,
    `account ${name} has no market "${market}", and the exchange refused it: ${error.message}`,
    `Name one of: ${Object.keys(markets).join(', ')}; or another market as the exchange writes it.`,
  );
}
