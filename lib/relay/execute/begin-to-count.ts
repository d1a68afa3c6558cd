import { findDealsState, readDealsState } from '../../account/account-deals.ts';
import { hasLimitOfLoss } from '../../account/check-loss.ts';
import type { ContestedFacts } from '../../ledger/account-facts.ts';
import { type Account, findRehearsalReason } from '../../model/account.ts';
import type { ExecuteServices } from '../services.ts';

/** Names of accounts that are known to be counted: nothing is read for their orders any more. */
const countedIn = new WeakMap<ContestedFacts, Set<string>>();

/**
 * Before the first order of an account is sent, it is read what that holds: what the order closes counts with its cost. It is
 * read beside what the order is planned on, and no order fails for it. Of an account that only rehearses, nothing is read but
 * for a limit of loss.
 *
 * @param startedAtMs when the order was first planned
 */
export async function beginToCount(
  services: ExecuteServices,
  account: Account,
  startedAtMs: number,
): Promise<void> {
  const { facts, exchangeTimeoutMs, isPaperExchange } = services;
  const counted = countedWith(facts);
  if (counted.has(account.name)) return;
  if (!hasLimitOfLoss(account) && findRehearsalReason(account.mode, isPaperExchange) !== null) return;
  const client = await services.exchangeFor(account.name);
  if (client.dialect !== 'live') return;
  // An exchange that does not answer leaves the time in which the order can be planned again.
  const timeoutMs = exchangeTimeoutMs / 2;
  const options = { timeoutMs, endByMs: startedAtMs + timeoutMs };
  if ((await findDealsState(services, account, { client, options })) !== null) counted.add(account.name);
}

/** The same of what is stored alone: for a process that has time before the first order comes. @throws RelayError `store_unavailable` */
export async function recallCounting(facts: ContestedFacts, account: string): Promise<void> {
  const counted = countedWith(facts);
  if (!counted.has(account) && (await readDealsState(facts, account)) !== null) counted.add(account);
}

function countedWith(facts: ContestedFacts): Set<string> {
  const counted = countedIn.get(facts) ?? new Set();
  countedIn.set(facts, counted);
  return counted;
}
