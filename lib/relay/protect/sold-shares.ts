import { formatDecimal, zero } from '../../base/decimal.ts';
import type { AccountFacts } from '../../ledger/account-facts.ts';
import type { Entry } from '../../ledger/entry.ts';
import { filledBy, listRecords, type OrderRecord } from '../../ledger/order-record.ts';
import { placeOf } from '../../model/holdings.ts';
import { usedUpBy } from '../../protection/wanted.ts';
import {
  describeSight,
  parseSight,
  parseWishes,
  type SoldShare,
  sightFactOf,
  wishFactOf,
} from '../../protection/wishes.ts';

/**
 * Notes what take-profits have sold of the shares that an alert about a whole position gave them. Called before their orders
 * are not followed any more: such an alert is no order, so that nothing else keeps them in sight, and they would be placed anew.
 *
 * @param ended the entries that are not read again
 * @throws RelayError `store_unavailable`
 */
export async function noteSold(
  facts: Pick<AccountFacts, 'read' | 'write'>,
  account: string,
  ended: readonly Entry[],
): Promise<void> {
  const records = listRecords(ended).filter((record) => soldShareOf(record) !== null);
  for (const ofPlace of Map.groupBy(records, (record) => wishFactOf(placeOf(record))).values()) {
    const [first] = ofPlace;
    if (first === undefined) continue;
    const place = placeOf(first);
    const wishes = parseWishes(await facts.read(account, wishFactOf(place)));
    const isAsked = ({ of }: SoldShare) => wishes.some(({ signalId }) => signalId === of);
    const parts = ofPlace.flatMap((record) => soldShareOf(record) ?? []).filter(isAsked);
    if (parts.length === 0) continue;
    const sight = parseSight(await facts.read(account, sightFactOf(place)));
    const before = sight.sold.filter((part) => isAsked(part) && !parts.some(({ by }) => by === part.by));
    await facts.write(account, sightFactOf(place), describeSight({ ...sight, sold: [...before, ...parts] }));
  }
}

/** Null for any other order, and for one that has sold nothing. */
function soldShareOf(record: OrderRecord): SoldShare | null {
  const { protects, signalId: by } = record;
  const filled = filledBy(record);
  if (protects?.part === undefined || !filled.gt(zero)) return null;
  const amount = formatDecimal(usedUpBy(record));
  return { of: protects.of, part: protects.part, by, amount, filled: formatDecimal(filled) };
}
