import type { Alarms } from '../base/alarms.ts';
import type { Json } from '../base/json.ts';
import type { ContestedFacts } from '../ledger/account-facts.ts';
import type { Entry } from '../ledger/entry.ts';
import type { Executions } from '../ledger/executions.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { findAccount, type Settings } from '../model/settings.ts';

/** No account has this name: the fact is about all accounts. */
const home = '*';
const mostNamed = 100;

interface AccountsServices {
  readonly settings: Settings;
  readonly facts: ContestedFacts;
  readonly executions: Pick<Executions, 'followed'>;
  readonly ledger: Pick<Ledger, 'list'>;
  readonly alarms: Alarms;
}

/**
 * Raises an alarm for each account that was taken out of the configuration while the ledger follows orders of it, once in a
 * process. For a store that cannot list the orders of all accounts: the names of the accounts are kept in it.
 *
 * @returns to be called until it resolves; then it does nothing more
 * @throws RelayError `store_unavailable`
 */
export function createRemovedAccountsWatch(services: AccountsServices): () => Promise<void> {
  const { settings, facts, alarms } = services;
  let isDone = false;
  return async () => {
    if (isDone) return;
    const stored = await facts.read(home, 'accounts');
    const known = namesIn(stored);
    const followed = await Promise.all(
      known
        .filter((account) => findAccount(settings, account) === null)
        .map(async (account) => [account, await listUnfinished(services, account)] as const),
    );
    const removed = followed.filter(([, entries]) => entries.length > 0);
    for (const [account, entries] of removed)
      tellRemovedAccount(alarms, account, [
        ...new Set(entries.flatMap(({ signal }) => signal?.market ?? [])),
      ]);
    const kept = [...Object.keys(settings.accounts), ...removed.map(([account]) => account)].sort();
    const isSame = kept.length === known.length && kept.every((account, place) => account === known[place]);
    // Of two processes that start at once, one writes it: both have the same list.
    if (!isSame) await facts.replace(home, 'accounts', kept, stored);
    isDone = true;
  };
}

/** Orders that are followed, and those of which it is not known yet whether they are open. */
async function listUnfinished(
  { executions, ledger }: AccountsServices,
  account: string,
): Promise<readonly Entry[]> {
  const pages = await Promise.all(
    (['sending', 'unknown'] as const).map((status) => ledger.list({ account, status, limit: mostNamed })),
  );
  return [...(await executions.followed(account, mostNamed)), ...pages.flatMap(({ entries }) => entries)];
}

function namesIn(stored: Json): readonly string[] {
  return Array.isArray(stored) ? (stored as readonly Json[]).map(String) : [];
}

/** Without the configuration, the relay neither reads the orders of an account nor keeps what protects its positions. */
export function tellRemovedAccount(alarms: Alarms, account: string, markets: readonly string[]): void {
  const message = `account ${account} is not in relay.config.ts any more, and orders that the relay has placed for it in ${markets.join(', ')} may be open: they are followed no longer, and nothing keeps the stop-losses and take-profits of its positions; close its positions and cancel its orders on the website of the exchange, or put the account back; once it was back for a minute with nothing open, it can be removed without this alarm`;
  alarms.raise({ name: 'orders_unread', message }, { account, markets });
}
