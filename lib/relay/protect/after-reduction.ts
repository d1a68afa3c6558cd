import { parseDecimal, zero } from '../../base/decimal.ts';
import { describeSafely } from '../../base/describe-error.ts';
import { RelayError } from '../../base/errors.ts';
import type { SignalEntry } from '../../ledger/entry.ts';
import { mostBelieved } from '../../ledger/ledger.ts';
import { listRecords, type OrderRecord, orderRecordOf } from '../../ledger/order-record.ts';
import { type Account, findRehearsalReason, tradingGroundOf } from '../../model/account.ts';
import { isMarkedReducing } from '../../model/order.ts';
import type { Status } from '../../model/outcome.ts';
import type { Signal } from '../../model/signal.ts';
import { filledBy, leftOf } from '../../protection/filled-by.ts';
import { shareOut } from '../../protection/shares.ts';
import { namesOf, namesOfWish } from '../../protection/wanted.ts';
import { parseWish, wishFactOf } from '../../protection/wishes.ts';
import type { ExecuteServices } from '../services.ts';
import { needsAfterSpotOrder } from './after-spot-order.ts';
import { askProtection, needOf, needOfWish } from './ask-protection.ts';

/**
 * Asks at once for what protects the rest of a position that a signal has reduced: a stop-loss that is larger than the rest
 * would turn it; and on spot for the stop-loss of a buy that has filled. What fails here, following asks for later.
 */
export async function askAfterReduction(
  services: ExecuteServices,
  account: Account,
  { signal, signalId }: SignalEntry,
  status: Status,
): Promise<void> {
  const isSpot = (tradingGroundOf(account, signal.market) ?? 'spot') === 'spot';
  const mayChange = isSpot ? signal.action === 'order' : status === 'placed' && reduces(signal);
  if (account.protection !== 'keep' || !mayChange) return;
  if (findRehearsalReason(account.mode, services.isPaperExchange) !== null) return;
  try {
    const entry = await services.ledger.read({ account: account.name, signalId });
    if (isSpot)
      return await askProtection(services, entry === null ? [] : await needsAfterSpotOrder(services, entry));
    const reduced = entry === null ? null : orderRecordOf(entry);
    if (reduced === null) return;
    const followed = listRecords(await services.executions.followed(account.name, mostBelieved));
    const needs = findReduced(reduced, followed).flatMap((record) =>
      namesOf(record).map((name) => needOf(record, name)),
    );
    const place = { market: signal.market, side: reduced.plannedOn?.side ?? null };
    const wish = parseWish(await services.facts.read(account.name, wishFactOf(place)));
    const ofWish = wish === null ? [] : namesOfWish(wish).map((name) => needOfWish(account.name, wish, name));
    await askProtection(services, [...needs, ...ofWish]);
  } catch (error) {
    if (!(error instanceof RelayError) || !error.row.retryMayHelp) throw error;
    services.log.warn('the protection of a reduced position is looked at later', {
      account: account.name,
      signalId,
      reason: describeSafely(error),
    });
  }
}

function reduces(signal: Signal): boolean {
  switch (signal.action) {
    case 'order':
      return isMarkedReducing(signal);
    case 'close':
      return true;
    case 'reverse':
    case 'target':
      return signal.leg === 'reduce';
    default:
      return false;
  }
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
