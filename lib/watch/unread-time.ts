import { readDealsState, storeEveryMs } from '../account/account-deals.ts';
import { turnedWithinMs } from '../account/find-turned.ts';
import { hasPassed } from '../base/clock.ts';
import { farthestBackMs } from '../exchange/lag.ts';
import type { AccountFacts } from '../ledger/account-facts.ts';
import type { UnreadTime, WatchState } from './watch-state.ts';

/** An open position is read every minute. */
const longestGapMs = 3 * 60_000;

/**
 * The last time in which an account was not read, while what happened in it may be new: its fills are stored when the orders
 * are followed, which may be after the positions were read. Of several such times in a row, all of them.
 *
 * @param before what the watch kept of its last reading
 * @throws RelayError `store_unavailable`
 */
export async function findUnread(
  facts: AccountFacts,
  account: string,
  before: WatchState | null,
  nowMs: number,
): Promise<UnreadTime | null> {
  const { readAtMs = 0, unread = null } = before ?? {};
  // Positions may be read while orders and deals cannot be.
  const deals = await readDealsState(facts, account);
  const readToMs = Math.min(readAtMs, deals === null ? readAtMs : deals.readToMs + storeEveryMs);
  if (nowMs - readToMs > longestGapMs) return { fromMs: unread?.fromMs ?? readToMs, untilMs: nowMs };
  return unread === null || hasPassed(unread.untilMs, turnedWithinMs, nowMs) ? null : unread;
}

/** From when on fills are looked at. */
export function lookedAtFromMs(unread: UnreadTime | null, nowMs: number): number {
  return Math.max(Math.min(unread?.fromMs ?? nowMs, nowMs) - turnedWithinMs, nowMs - farthestBackMs);
}
