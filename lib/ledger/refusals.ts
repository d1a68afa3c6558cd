import { refusalPrefixOf } from '../model/refusal-prefix.ts';
import type { Entry } from './entry.ts';
import type { Ledger } from './ledger.ts';

/** The maximum number of refused alerts read for one id; there are more only if many alerts reuse the id. */
const mostRefusals = 10;

/**
 * Refused alerts with this id, newest first, at most ten. If
 * there are more, it is not defined which ones are returned.
 *
 * @param alertId the id in the alert
 */
export async function readRefusals(
  ledger: Pick<Ledger, 'findByPrefix'>,
  account: string,
  alertId: string,
): Promise<readonly Entry[]> {
  const entries = await ledger.findByPrefix(account, refusalPrefixOf(alertId), mostRefusals);
  return entries.toSorted((a, b) => b.createdAtMs - a.createdAtMs);
}
