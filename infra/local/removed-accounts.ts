import type { Alarms } from '../../lib/base/alarms.ts';
import type { SqliteFile } from '../../lib/base/sqlite.ts';
import { listFollowedMarkets } from '../../lib/ledger/sqlite-executions.ts';
import { findAccount, type Settings } from '../../lib/model/settings.ts';

/**
 * Raises an alarm for each account that was taken out of the configuration while the ledger follows orders of it. Without
 * the configuration the relay neither reads its orders nor keeps what protects its positions.
 *
 * @throws RelayError `store_unavailable`
 */
export function tellRemovedAccounts(file: SqliteFile, settings: Settings, alarms: Alarms): void {
  for (const [account, markets] of listFollowedMarkets(file)) {
    if (findAccount(settings, account) !== null) continue;
    const message = `account ${account} is not in relay.config.ts any more, and orders that the relay has placed for it in ${markets.join(', ')} may be open: they are followed no longer, and nothing keeps the stop-losses and take-profits of its positions; close its positions and cancel its orders on the website of the exchange, or put the account back; once it was back for a minute with nothing open, it can be removed without this alarm`;
    alarms.raise({ name: 'orders_unread', message }, { account, markets });
  }
}
