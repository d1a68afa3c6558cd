import { parseDecimal, zero } from '../../base/decimal.ts';
import type { Entry } from '../../ledger/entry.ts';
import { mostBelieved } from '../../ledger/ledger.ts';
import { filledBy, listRecords, type OrderRecord, orderRecordOf } from '../../ledger/order-record.ts';
import type { Account } from '../../model/account.ts';
import { leftOf } from '../../protection/left-of.ts';
import { shareOut } from '../../protection/shares.ts';
import { namesOf, namesOfWish } from '../../protection/wanted.ts';
import { parseWishes, wishFactOf } from '../../protection/wishes.ts';
import type { ExecuteServices } from '../services.ts';
import { askProtection, needOf, needOfWish } from './ask-protection.ts';

/**
 * Asks at once for what protects the rest of a position that an entry has reduced: a stop-loss that is larger than the rest
 * would turn it.
 *
 * @throws RelayError `store_unavailable`
 */
export async function askAfterReduction(
  services: ExecuteServices,
  account: Account,
  entry: Entry,
): Promise<void> {
  const reduced = orderRecordOf(entry);
  if (account.protection !== 'keep' || reduced === null) return;
  const followed = listRecords(await services.executions.followed(account.name, mostBelieved));
  const needs = findReduced(reduced, followed).flatMap((record) =>
    namesOf(record).map((name) => needOf(record, name)),
  );
  const place = { market: reduced.market, side: reduced.plannedOn?.side ?? null };
  const wishes = parseWishes(await services.facts.read(account.name, wishFactOf(place)));
  const ofWishes = wishes.flatMap((wish) =>
    namesOfWish(wish).map((name) => needOfWish(account.name, wish, name)),
  );
  await askProtection(services, [...needs, ...ofWishes]);
}

/** The orders of which less is left than their exits are for. A whole close has cancelled the exits itself. */
function findReduced(reduced: OrderRecord, records: readonly OrderRecord[]): readonly OrderRecord[] {
  const { market, plannedOn } = reduced;
  const filled = filledBy(reduced);
  if (filled.eq(zero)) return [];
  if (plannedOn === null)
    return records.filter((record) => record.market === market && record.protects === null);
  const before = parseDecimal(plannedOn.amount);
  const amount = before.gt(zero) ? before.minus(filled) : before.plus(filled);
  if (amount.eq(zero)) return [];
  return shareOut(records, { market, side: plannedOn.side ?? null, amount, openedAtMs: null })
    .filter((share) => share.amount.lt(leftOf(share.record, records)))
    .map(({ record }) => record);
}
