import { endedExitsIn } from '../../account/exit-claims.ts';
import { type Decimal, parseDecimal, zero } from '../../base/decimal.ts';
import { replacedIn } from '../../ledger/cancel-reports.ts';
import type { Entry } from '../../ledger/entry.ts';
import { mostBelieved } from '../../ledger/ledger.ts';
import {
  filledBy,
  listRecords,
  type OrderRecord,
  orderRecordOf,
  sentOrCreatedAtMs,
} from '../../ledger/order-record.ts';
import type { Account } from '../../model/account.ts';
import { mayStillBeOpen } from '../../model/execution.ts';
import { placeOf } from '../../model/holdings.ts';
import type { PositionWish } from '../../model/step-facts.ts';
import { keptExit } from '../../protection/known-exits.ts';
import { leftOf } from '../../protection/left-of.ts';
import { shareOut } from '../../protection/shares.ts';
import { type GuardName, namesOf, namesOfWish } from '../../protection/wanted.ts';
import { parseWishes, wishFactOf } from '../../protection/wishes.ts';
import type { ExecuteServices } from '../services.ts';
import { askProtection, needOf, needOfWish } from './ask-protection.ts';

/**
 * Asks at once for what protects the rest of a position that an entry has reduced: a stop-loss that is larger than the rest
 * would turn it. Where nothing may stand, nothing is too large: what is missing, following finds.
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
  const left = leftBy(reduced);
  // A whole close has cancelled the exits itself, and has told what it could not cancel.
  if (left?.eq(zero) === true || filledBy(reduced).eq(zero)) return;
  const entries = await services.executions.followed(account.name, mostBelieved);
  const followed = listRecords(entries).filter(({ market }) => market === reduced.market);
  // No list need have shown yet what this entry itself has cancelled.
  const known = [...entries, entry];
  const over = new Set(known.flatMap(endedExitsIn));
  for (const { signalId, execution } of known) if (execution?.exitsEnded === true) over.add(signalId);
  const standing = listStanding(followed, { over, replaced: replacedIn(known) });
  const needs = findReduced(reduced, left, followed).flatMap((record) =>
    namesOf(record)
      .filter((name) => standing.some((one) => isNamed(one, name)))
      .map((name) => needOf(record, name)),
  );
  const wishes = parseWishes(await services.facts.read(account.name, wishFactOf(placeOf(reduced))));
  const ofWishes = wishes.flatMap((wish) =>
    namesOfWish(wish)
      .filter((name) => standing.some((one) => isNamed(one, name) || isTakenOver(one, wish, name)))
      .map((name) => needOfWish(account.name, wish, name)),
  );
  await askProtection(services, [...needs, ...ofWishes]);
}

/** A stop-loss or take-profit that may be open. */
interface Standing extends GuardName {
  /** When the order was stored that it is for; null for what an alert asked for the whole position. */
  readonly openedAtMs: number | null;
}

/**
 * What may be open of the exits of these orders: those that a list has shown, those that the relay has placed, and those that
 * the exchange may have made although no list has shown them.
 *
 * @param ended `over`: the signals whose exits have ended with their position; `replaced`: the ids of exits that the relay has
 *   cancelled
 */
function listStanding(
  records: readonly OrderRecord[],
  { over, replaced }: { readonly over: ReadonlySet<string>; readonly replaced: ReadonlySet<number> },
): readonly Standing[] {
  const opened = new Map(
    records.flatMap((one) =>
      one.protects === null ? [[one.signalId, sentOrCreatedAtMs(one)] as const] : [],
    ),
  );
  const kept = records.flatMap(({ protects, ...record }): readonly Standing[] => {
    const exit = protects === null ? null : keptExit({ ...record, protects });
    if (protects === null || exit === null || !mayStillBeOpen(exit.state) || replaced.has(exit.orderId))
      return [];
    return [{ ...protects, openedAtMs: opened.get(protects.of) ?? null }];
  });
  const made = records.flatMap((record) => {
    const { signalId: of } = record;
    const openedAtMs = sentOrCreatedAtMs(record);
    const isKept = records.some(({ protects }) => protects?.of === of && protects.part === undefined);
    return record.exits.flatMap(({ role, order }): readonly Standing[] => {
      // Where the relay had to place its own, the exchange has made none.
      const mayStand =
        order === null
          ? !isKept && !over.has(of)
          : mayStillBeOpen(order.status) && !replaced.has(order.orderId);
      return mayStand ? [{ of, role, openedAtMs }] : [];
    });
  });
  return [...kept, ...made];
}

function isNamed(one: GuardName, { of, role, part }: GuardName): boolean {
  return one.of === of && one.role === role && one.part === part;
}

/** Whether what an alert asked for the whole position is to take the place of what stands for an older order. */
function isTakenOver({ role, openedAtMs }: Standing, { atMs }: PositionWish, name: GuardName): boolean {
  return role === name.role && openedAtMs !== null && openedAtMs <= atMs;
}

/** The position after an order, in base units; null when it was not sized on one. */
function leftBy(reduced: OrderRecord): Decimal | null {
  const { plannedOn } = reduced;
  if (plannedOn === null) return null;
  const before = parseDecimal(plannedOn.amount);
  const filled = filledBy(reduced);
  return before.gt(zero) ? before.minus(filled) : before.plus(filled);
}

/** The orders of which less is left than their exits are for. */
function findReduced(
  { market, plannedOn }: OrderRecord,
  left: Decimal | null,
  records: readonly OrderRecord[],
): readonly OrderRecord[] {
  if (left === null) return records.filter(({ protects }) => protects === null);
  const position = { market, side: plannedOn?.side ?? null, amount: left, openedAtMs: null };
  return shareOut(records, position)
    .filter((share) => share.amount.lt(leftOf(share.record, records)))
    .map(({ record }) => record);
}
