import type { Ledger, Pause, PauseKind } from './ledger.ts';

/** A pause, and the account that it stops. */
export interface AccountPause extends Pause {
  readonly account: string;
}

/** The accounts that are paused. */
export async function readPauses(
  ledger: Pick<Ledger, 'readPause'>,
  accounts: readonly string[],
): Promise<readonly AccountPause[]> {
  const pauses = await Promise.all(
    accounts.map(async (account) => ({ account, pause: await ledger.readPause(account) })),
  );
  return pauses.flatMap(({ account, pause }) => (pause === null ? [] : [{ account, ...pause }]));
}

/** What a pause stops, and what it lets through. */
export function describePauseKind(kind: PauseKind): string {
  return kind === 'everything'
    ? 'no order goes out, but cancellations do'
    : 'nothing opens or enlarges a position, but closes go out';
}
