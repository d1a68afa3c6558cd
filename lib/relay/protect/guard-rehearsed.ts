import { readExitsListedAfter } from '../../account/rehearsed.ts';
import type { AccountFacts } from '../../ledger/account-facts.ts';
import { type GuardView, guardPosition, lacksExits, type PositionGuards } from '../../protection/guards.ts';
import type { GuardedPosition } from '../../protection/shares.ts';

/**
 * What should protect a position beside what does. How long the exchange may take for the exits that it makes follows from
 * a rehearsal of the account, which is read only where exits are missing.
 *
 * @throws RelayError `store_unavailable`
 */
export async function guardRehearsed(
  facts: AccountFacts,
  account: string,
  position: GuardedPosition,
  view: GuardView,
): Promise<PositionGuards> {
  const assumed = guardPosition(position, view);
  if (position.isSpot === true || !assumed.guards.some(lacksExits)) return assumed;
  const exitsListedAfterMs = await readExitsListedAfter(facts, account, position.market);
  return guardPosition(position, { ...view, exitsListedAfterMs });
}
