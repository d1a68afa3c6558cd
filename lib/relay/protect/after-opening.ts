import { zero } from '../../base/decimal.ts';
import type { Entry } from '../../ledger/entry.ts';
import { filledBy, orderRecordOf } from '../../ledger/order-record.ts';
import type { Account } from '../../model/account.ts';
import { namesOf } from '../../protection/wanted.ts';
import type { ExecuteServices } from '../services.ts';
import { askProtection, needOf } from './ask-protection.ts';

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
  const parts = namesOf(opened).filter(({ part }) => part !== undefined);
  await askProtection(
    services,
    parts.map((name) => needOf(opened, name)),
  );
}
