import { readDealsState } from '../../lib/account/account-deals.ts';
import { type PositionsReading, parseReading } from '../../lib/account/read-positions.ts';
import { mayHide } from '../../lib/exchange/listed.ts';
import type { Entry } from '../../lib/ledger/entry.ts';
import { openedBy } from '../../lib/model/holdings.ts';
import { findAccount } from '../../lib/model/settings.ts';
import { readEndings, type ToldEnding } from '../../lib/reports/read-endings.ts';
import type { Session } from '../session/session.ts';

/**
 * How the orders of entries ended, in the same order; null for one that placed none. The exchange is not asked: what counts
 * are the stored fills, and the positions as the relay's own watch last read them.
 */
export async function readSignalEndings(
  session: Session,
  entries: readonly Entry[],
): Promise<readonly (ToldEnding | null)[]> {
  const isSpot = (name: string, market: string) =>
    findAccount(session.settings, name)?.markets[market]?.tradesOn === 'spot';
  const readings = new Map<string, Promise<PositionsReading | null>>();
  const readingOf = (account: string) => {
    const reading =
      readings.get(account) ?? session.openFacts().read(account, 'positions').then(parseReading);
    readings.set(account, reading);
    return reading;
  };
  const executions = session.openExecutions();
  const sources = {
    ledger: session.openLedger(),
    executions,
    firstOf: async (account: string) => (await readDealsState(session.openFacts(), account))?.first ?? null,
    keptFromMs: executions.keptFromMs(session.clock.nowMs()),
    isSpot,
    async heldOf(account: string, market: string, side: 'buy' | 'sell', sinceMs: number) {
      if (isSpot(account, market)) return null;
      const reading = await readingOf(account);
      if (reading === null || reading.readAtMs < sinceMs) return null;
      return mayHide(reading.hidden, market) ? null : openedBy(reading.positions, market, side);
    },
  };
  return await readEndings(sources, entries, session.clock.nowMs());
}
