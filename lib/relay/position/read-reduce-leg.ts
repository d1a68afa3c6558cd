import { type Account, findRehearsalReason } from '../../model/account.ts';
import { reduceLegIdOf } from '../../signals/identity.ts';
import type { ExecuteServices } from '../services.ts';
import { judgeReduceLeg, type ReduceLeg } from './judge-reduce-leg.ts';

/**
 * What the leg that reduces the position means for the signal after it. The account's mode may have changed between them.
 *
 * @throws RelayError `store_unavailable`
 */
export async function readReduceLeg(
  { ledger, isPaperExchange }: ExecuteServices,
  { name, mode }: Account,
  signalId: string,
): Promise<ReduceLeg> {
  const leg = await ledger.read({ account: name, signalId: reduceLegIdOf(signalId) });
  return judgeReduceLeg(leg, findRehearsalReason(mode, isPaperExchange) !== null);
}
