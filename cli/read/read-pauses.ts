import type { PauseShown } from '../../dashboard/documents.ts';
import type { Ledger } from '../../lib/ledger/ledger.ts';

/** The accounts that are paused. */
export async function readPauses(
  ledger: Pick<Ledger, 'readPause'>,
  accounts: readonly string[],
): Promise<readonly PauseShown[]> {
  const pauses = await Promise.all(
    accounts.map(async (account) => ({ account, pause: await ledger.readPause(account) })),
  );
  return pauses.flatMap(({ account, pause }) => (pause === null ? [] : [{ account, ...pause }]));
}
