import { longestOrderLagMs, longestPositionLagMs } from '../../exchange/lag.ts';
import type { Positions } from '../../exchange/list-positions.ts';
import type { Entry } from '../../ledger/entry.ts';
import { type Ledger, mostBelieved } from '../../ledger/ledger.ts';
import { mayStillBeOpen } from '../../model/execution.ts';
import { positionAt } from '../../model/holdings.ts';
import { growWishes, type RestedView } from '../../protection/grown-wishes.ts';
import type { ProtectionSight } from '../../protection/wishes.ts';

/** What was read of an account, the positions last. */
export interface GrowthReading {
  readonly entries: readonly Entry[];
  readonly positions: Positions;
  /** When the reading of the positions began. */
  readonly readAtMs: number;
}

/**
 * Notes how far a position has grown since alerts asked for take-profits of all of it. That is never taken back, so it waits
 * until the position has rested for so long that the lists show which orders have enlarged it.
 *
 * @throws RelayError `store_unavailable`
 */
export async function noteGrowth(
  { ledger }: { readonly ledger: Pick<Ledger, 'openOrders'> },
  account: string,
  view: RestedView,
  reading: GrowthReading,
  sight: ProtectionSight,
): Promise<ProtectionSight> {
  if (view.wishes.length === 0 || !hasRested(view, reading)) return sight;
  const { position } = view;
  const grown = growWishes(view, sight);
  if (![...grown.grown].some(([of, whole]) => sight.grown.get(of)?.eq(whole) !== true)) return sight;
  const sent = await ledger.openOrders(account, position.market, mostBelieved);
  const read = new Set(reading.entries.map(({ signalId }) => signalId));
  return sent.every(({ signalId }) => read.has(signalId)) ? grown : sight;
}

function hasRested({ position, records }: RestedView, reading: GrowthReading): boolean {
  const { positions, readAtMs } = reading;
  // A list of orders may show one as open for longer that has enlarged the position.
  const mayBeFilled = records.some(({ protects, state }) => protects === null && mayStillBeOpen(state));
  const restMs = mayBeFilled ? longestOrderLagMs : longestPositionLagMs;
  const held = positionAt(positions.positions, position);
  return held?.modifiedAtMs != null && readAtMs - held.modifiedAtMs > restMs;
}
