import type { Json } from '../../base/json.ts';
import type { AccountFacts, FactName } from '../../ledger/account-facts.ts';

/** As many as one market of an account can have had at once, and more. */
const mostKept = 200;

/**
 * The ids of the exits of a market that the relay itself has cancelled, or was about to. One that nobody else can have
 * cancelled is placed again.
 *
 * @throws RelayError `store_unavailable`
 */
export async function readTaken(
  facts: Pick<AccountFacts, 'read'>,
  account: string,
  market: string,
): Promise<ReadonlySet<number>> {
  const fact: Json = await facts.read(account, factOf(market));
  return new Set(Array.isArray(fact) ? (fact as readonly Json[]).map(Number) : []);
}

/**
 * Called before they are cancelled: the old order may go before the new one stands, and a relay that is killed in between
 * must know that it was not the owner who cancelled it. Only the signals of the market write it, one at a time.
 *
 * @throws RelayError `store_unavailable`
 */
export async function noteTaken(
  facts: Pick<AccountFacts, 'read' | 'write'>,
  account: string,
  market: string,
  orderIds: readonly number[],
): Promise<void> {
  const before = await readTaken(facts, account, market);
  await facts.write(account, factOf(market), [...new Set([...before, ...orderIds])].slice(-mostKept));
}

function factOf(market: string): FactName {
  return `stops taken in ${market}`;
}
