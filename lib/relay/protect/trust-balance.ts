import { findLastMoves, isTrusted } from '../../account/trust-reading.ts';
import { type Decimal, sumOf } from '../../base/decimal.ts';
import { longestPositionLagMs } from '../../exchange/lag.ts';
import type { Entry } from '../../ledger/entry.ts';
import { listRecords } from '../../ledger/order-record.ts';
import { currenciesInName } from '../../model/market.ts';
import { spotLots } from '../../protection/spot-lots.ts';

/**
 * Whether a reading of a spot balance shows what the relay's own last acts did: it holds all that the relay knows to be left,
 * or it began long enough after the last act.
 *
 * @param amount what of the balance can be protected, in base units
 * @param entries of the account, oldest first; what was done in other markets with the same base currency counts, too
 */
export function isBalanceTrusted(
  amount: Decimal,
  entries: readonly Entry[],
  market: string,
  readAtMs: number,
): boolean {
  if (amount.gte(sumOf(spotLots(listRecords(entries), market).values()))) return true;
  const { base } = currenciesInName(market);
  const ofBase = entries.filter(
    ({ signal }) => signal !== null && currenciesInName(signal.market).base === base,
  );
  const acted = ofBase.filter(({ steps }) => steps.some(({ status }) => status === 'sending'));
  const isOld = acted.every(({ steps }) => readAtMs - (steps.at(-1)?.atMs ?? 0) > longestPositionLagMs);
  const dated = { position: { amount, side: null }, readAtMs, modifiedAtMs: null };
  return isOld && findLastMoves(entries, market).every((move) => isTrusted(dated, move));
}
