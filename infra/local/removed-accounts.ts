import type { Alarms } from '../../lib/base/alarms.ts';
import type { SqliteFile } from '../../lib/base/sqlite.ts';
import { listFollowedMarkets } from '../../lib/ledger/sqlite-executions.ts';
import { findAccount, type Settings } from '../../lib/model/settings.ts';
import { tellRemovedAccount } from '../../lib/watch/removed-accounts.ts';

/**
 * Raises an alarm for each account that was taken out of the configuration while the ledger follows orders of it.
 *
 * @throws RelayError `store_unavailable`
 */
export function tellRemovedAccounts(file: SqliteFile, settings: Settings, alarms: Alarms): void {
  for (const [account, markets] of listFollowedMarkets(file))
    if (findAccount(settings, account) === null) tellRemovedAccount(alarms, account, markets);
}
