import { zero } from '../../base/decimal.ts';
import type { Entry } from '../../ledger/entry.ts';
import { mostBelieved } from '../../ledger/ledger.ts';
import { filledBy, listRecords, type OrderRecord, orderRecordOf } from '../../ledger/order-record.ts';
import { type Account, findRehearsalReason } from '../../model/account.ts';
import { mayStillBeOpen } from '../../model/execution.ts';
import { isGuardedBuy, isSale, spotLots } from '../../protection/spot-lots.ts';
import { stoppedBy } from '../../protection/stop-sales.ts';
import { namesOf } from '../../protection/wanted.ts';
import type { ExecuteServices } from '../services.ts';
import { askProtection, needOf, type ProtectionNeed } from './ask-protection.ts';

/**
 * Asks at once for the take-profits of what an order has opened: the exchange makes none of several.
 *
 * @throws RelayError `store_unavailable`
 */
export async function askAfterOpening(
  services: ExecuteServices,
  { protection }: Pick<Account, 'protection'>,
  entry: Entry,
): Promise<void> {
  const opened = orderRecordOf(entry);
  if (protection !== 'keep' || opened === null || filledBy(opened).eq(zero)) return;
  await askProtection(
    services,
    needsOf(opened).filter(({ part }) => part !== undefined),
  );
}

/**
 * Asks at once for what an order on spot makes necessary: the stop-loss of a buy that filled; and after a sale, whatever
 * became of it, those of the buys that it reduced, or whose stop-loss was cancelled for it.
 *
 * @throws RelayError `store_unavailable`
 */
export async function askAfterSpotOrder(
  services: ExecuteServices,
  { protection, mode }: Account,
  entry: Entry,
): Promise<void> {
  if (protection !== 'keep' || findRehearsalReason(mode, services.isPaperExchange) !== null) return;
  await askProtection(services, await findNeeds(services, entry));
}

async function findNeeds(
  { executions }: Pick<ExecuteServices, 'executions'>,
  entry: Entry,
): Promise<readonly ProtectionNeed[]> {
  const order = orderRecordOf(entry);
  if (order?.spot == null) return [];
  if (isGuardedBuy(order))
    return order.status === 'placed' && !filledBy(order).eq(zero) ? needsOf(order) : [];
  if (!isSale(order)) return [];
  const followed = listRecords(await executions.followed(entry.account, mostBelieved));
  const others = followed.filter(({ signalId }) => signalId !== order.signalId);
  const before = spotLots(others, order.market);
  const after = spotLots([...others, order], order.market);
  const replaced = new Set(entry.steps.flatMap(({ facts }) => facts?.replaced ?? []));
  return others.filter(isGuardedBuy).flatMap((buy) => {
    const left = after.get(buy.signalId);
    if (left === undefined) return [];
    const stops = others.filter((one) => one.protects?.of === buy.signalId);
    // One from the command of an alarm, too.
    const wasTaken = others.some(
      (one) => replaced.has(one.orderId ?? 0) && stoppedBy(one, others) === buy.signalId,
    );
    const stands = stops.some((one) => isStanding(one) && !replaced.has(one.orderId ?? 0));
    const isReduced = before.get(buy.signalId)?.eq(left) === false;
    return (left.eq(zero) ? stands : isReduced || wasTaken) ? needsOf(buy) : [];
  });
}

function needsOf(record: OrderRecord): readonly ProtectionNeed[] {
  return namesOf(record).map((name) => needOf(record, name));
}

function isStanding({ status, state, orderId }: OrderRecord): boolean {
  return status === 'placed' && orderId !== null && mayStillBeOpen(state);
}
