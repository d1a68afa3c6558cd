import type { ExchangeClient, SendOptions } from '../exchange/client.ts';
import { openPositions } from '../exchange/endpoints/open-positions.ts';
import { ExchangeError } from '../exchange/errors.ts';
import { type AccountDeal, listAccountDeals } from '../exchange/list-account.ts';
import { listPositions, type Positions } from '../exchange/list-positions.ts';
import type { OpenPosition } from '../model/holdings.ts';

/** What an account holds, and the deals since a time that may be in it. */
export interface Held {
  readonly positions: readonly OpenPosition[];
  readonly deals: readonly AccountDeal[];
}

export const nothingHeld: Held = { positions: [], deals: [] };
/** Of an account that deals without a pause, the positions tell by their times what is in them; only one that is closed does not. */
const mostReadings = 3;

/**
 * Reads the positions until no deal has come since the deals were last listed: a position that was closed is in no list, so
 * nothing else tells which deals its absence shows. At first no deal is expected, since the exchange's clock was just read.
 *
 * @throws ExchangeError when a list cannot be read, or it does not tell of a position what it cost
 */
export async function readHeld(client: ExchangeClient, sinceMs: number, options: SendOptions): Promise<Held> {
  let deals: readonly AccountDeal[] = [];
  for (let readings = 1; ; readings += 1) {
    const { positions, hidden } = await listPositions(client, options);
    refuseUnknown({ positions, hidden }, sinceMs);
    const listed = await listAccountDeals(client, sinceMs, options);
    if (listed.length === deals.length || readings === mostReadings) return { positions, deals };
    deals = listed;
  }
}

/**
 * A position that is not known would be taken for none, and its close for an order that opens the opposite one. It is read again
 * until it is known, however long that takes: meanwhile a limit of loss lets nothing be opened, and reductions pass.
 */
function refuseUnknown({ positions, hidden }: Positions, atMs: number): void {
  const unread = hidden.map(
    (market) => `a position in ${market ?? 'a market that is not known'} cannot be read`,
  );
  const unpriced = positions.flatMap(({ market, basePrice }) =>
    basePrice === null ? [`the position in ${market} has no entry price`] : [],
  );
  const unknown = [...unread, ...unpriced];
  if (unknown.length === 0) return;
  const reason = `${unknown.join('; ')}: what a close of it makes is not known; close it on the website of the exchange if this lasts`;
  throw new ExchangeError(openPositions, [{ atMs, failure: { kind: 'ambiguous', reason } }]);
}

/**
 * Until when the deals of a market are in the positions that were listed, where that is not `sinceMs`. A position tells it by its
 * time of change: the lists may lag behind the deals of the last seconds. Where none is listed, the deals that were listed before
 * it are in that.
 *
 * @param earliestMs no deal from before it counts
 */
export function findShown(
  { positions, deals }: Held,
  sinceMs: number,
  earliestMs: number,
): ReadonlyMap<string, number> {
  const shownToMs = new Map<string, number>();
  const show = (market: string, toMs: number) =>
    shownToMs.set(market, Math.max(shownToMs.get(market) ?? toMs, toMs));
  // In hedge mode, the position of the other side may have been closed since.
  const dated = positions.filter(
    ({ positionSide, modifiedAtMs }) => positionSide === 'BOTH' && modifiedAtMs !== null,
  );
  const isDated = (market: string) => dated.some((position) => position.market === market);
  for (const { market, modifiedAtMs } of positions)
    if (isDated(market)) show(market, Math.max(modifiedAtMs ?? 0, earliestMs));
    else if (modifiedAtMs !== null && modifiedAtMs >= sinceMs) show(market, modifiedAtMs);
  for (const { market, atMs } of deals) if (!isDated(market)) show(market, atMs);
  return shownToMs;
}
