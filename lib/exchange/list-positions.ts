import type { OpenPosition } from '../model/holdings.ts';
import type { ExchangeClient, SendOptions } from './client.ts';
import { openPositions } from './endpoints/open-positions.ts';
import { ExchangeError } from './errors.ts';
import { type HiddenMarkets, hiddenIn, mayHide } from './listed.ts';

/** The open positions of an account. */
export interface Positions {
  readonly positions: readonly OpenPosition[];
  /** Where a position may be open that could not be read. */
  readonly hidden: HiddenMarkets;
}

/**
 * Reads the open positions of the account that signs, of all markets.
 *
 * @throws ExchangeError when the list cannot be read
 */
export async function listPositions(client: ExchangeClient, options: SendOptions): Promise<Positions> {
  const { records, oddities } = await client.call(openPositions, {}, options);
  return { positions: records, hidden: hiddenIn(oddities) };
}

/**
 * Reads the open positions of a market: none, one, or in hedge mode two.
 *
 * @param nowMs dates the failure
 * @throws ExchangeError when the list cannot be read, or a record that may be of this market: then the position is not known
 */
export async function listPositionsIn(
  client: ExchangeClient,
  market: string,
  nowMs: number,
  options: SendOptions,
): Promise<readonly OpenPosition[]> {
  const { records, oddities } = await client.call(openPositions, { market }, options);
  if (mayHide(hiddenIn(oddities), market)) {
    const issues = oddities.flatMap((oddity) => (oddity.kind === 'record' ? [oddity.issues] : []));
    const reason = `a position in ${market} cannot be read: ${issues.join('; ')}`;
    throw new ExchangeError(openPositions, [{ atMs: nowMs, failure: { kind: 'ambiguous', reason } }]);
  }
  return records.filter((position) => position.market === market);
}
