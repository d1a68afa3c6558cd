import { hasPassed } from '../../base/clock.ts';
import { zero } from '../../base/decimal.ts';
import { fieldsOf, type Json, numberIn, textIn, toJson } from '../../base/json.ts';
import { longestLagMs } from '../../exchange/lag.ts';
import type { Positions } from '../../exchange/list-positions.ts';
import { mayHide } from '../../exchange/listed.ts';
import type { AccountFacts, ContestedFacts, FactName } from '../../ledger/account-facts.ts';
import { type PositionPlace, positionAt } from '../../model/holdings.ts';
import { wishFactOf } from '../../protection/wishes.ts';

/** Where an alert asked to protect a position that may still be there. */
export interface AskedPlace extends PositionPlace {
  /** When the last alert did. */
  readonly atMs: number;
}

/** The positions as they were read, and where alerts had asked to protect one by then. */
interface PlacesReading {
  readonly places: readonly AskedPlace[];
  readonly positions: Positions;
  /** When the reading of the positions began. */
  readonly readAtMs: number;
}

/** Signals of several markets and the follower write it at the same time. */
const fact: FactName = 'protected places';

/**
 * The positions that alerts asked to protect. Their exits are kept also where no followed order opened them.
 *
 * @throws RelayError `store_unavailable`
 */
export async function readAskedPlaces(
  facts: Pick<AccountFacts, 'read'>,
  account: string,
): Promise<readonly AskedPlace[]> {
  return parsePlaces(await facts.read(account, fact));
}

/** @throws RelayError `store_unavailable` */
export async function noteAskedPlace(
  facts: ContestedFacts,
  account: string,
  { market, side, atMs }: AskedPlace,
): Promise<void> {
  const isSame = (one: AskedPlace) => one.market === market && one.side === side;
  await change(facts, account, (known) => [...known.filter((one) => !isSame(one)), { market, side, atMs }]);
}

/**
 * Forgets the places whose position is gone for longer than the list of positions may lag behind.
 *
 * @param goneSinceMs by place; kept from one reading to the next
 * @throws RelayError `store_unavailable`
 */
export async function forgetAskedPlaces(
  facts: ContestedFacts,
  account: string,
  { places, positions: { positions, hidden }, readAtMs }: PlacesReading,
  goneSinceMs: Map<string, number>,
): Promise<void> {
  const isHeld = (place: PositionPlace) =>
    mayHide(hidden, place.market) || positionAt(positions, place)?.amount.eq(zero) === false;
  const absent = places.filter((place) => !isHeld(place));
  const names = new Set<string>(absent.map(wishFactOf));
  for (const name of goneSinceMs.keys()) if (!names.has(name)) goneSinceMs.delete(name);
  const gone = absent.filter((place) => {
    // What was seen before the last alert was another position.
    const sinceMs = Math.min(Math.max(goneSinceMs.get(wishFactOf(place)) ?? readAtMs, place.atMs), readAtMs);
    goneSinceMs.set(wishFactOf(place), sinceMs);
    return sinceMs < readAtMs && hasPassed(sinceMs, longestLagMs, readAtMs);
  });
  if (gone.length === 0) return;
  for (const place of gone) goneSinceMs.delete(wishFactOf(place));
  // One that an alert has noted again since is not gone.
  const isGone = ({ market, side, atMs }: AskedPlace) =>
    gone.some((one) => one.market === market && one.side === side && one.atMs === atMs);
  await change(facts, account, (known) => known.filter((one) => !isGone(one)));
}

async function change(
  facts: ContestedFacts,
  account: string,
  to: (known: readonly AskedPlace[]) => readonly AskedPlace[],
): Promise<void> {
  for (;;) {
    const was = await facts.read(account, fact);
    if (await facts.replace(account, fact, toJson(to(parsePlaces(was))), was)) return;
  }
}

function parsePlaces(stored: Json): readonly AskedPlace[] {
  if (!Array.isArray(stored)) return [];
  return (stored as readonly Json[]).flatMap((one): AskedPlace | [] => {
    const { market, side, atMs } = fieldsOf(one);
    const [name, sinceMs] = [textIn(market), numberIn(atMs)];
    if (name === null || sinceMs === null) return [];
    return { market: name, side: side === 'LONG' || side === 'SHORT' ? side : null, atMs: sinceMs };
  });
}
