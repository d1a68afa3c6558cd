import type { Decimal } from '../../base/decimal.ts';
import { describeSafely } from '../../base/describe-error.ts';
import type { Json } from '../../base/json.ts';
import type { Log } from '../../base/log.ts';
import type { ExchangeClient, SendOptions } from '../../exchange/client.ts';
import type { AccountFacts, FactName } from '../../ledger/account-facts.ts';
import { replacedIn } from '../../ledger/cancel-reports.ts';
import type { Entry } from '../../ledger/entry.ts';
import { listRecords } from '../../ledger/order-record.ts';
import { isStillOpen } from '../../model/execution.ts';
import type { Order } from '../../model/order.ts';
import type { ProtectSignal } from '../../model/signal.ts';
import { readStopEnd } from './read-stop-end.ts';

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
 * must know that it was not the owner who cancelled it. A close, after which nothing is placed, calls it once they are cancelled.
 * Only the signals of the market write it, one at a time.
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

/**
 * Called for those that were surely not cancelled: whoever cancels one of them now is the owner. A failure of the store is
 * logged: it must not make an outcome unknown that is known.
 */
export async function noteLeft(
  { facts, log }: { readonly facts: Pick<AccountFacts, 'read' | 'write'>; readonly log: Log },
  account: string,
  market: string,
  orderIds: readonly number[],
): Promise<void> {
  try {
    const taken = await readTaken(facts, account, market);
    const others = [...taken].filter((orderId) => !orderIds.includes(orderId));
    if (others.length < taken.size) await facts.write(account, factOf(market), others);
  } catch (error) {
    const names = { account, market, orderIds, reason: describeSafely(error) };
    log.warn('a stop-loss that was not cancelled still counts as cancelled by the relay', names);
  }
}

function factOf(market: string): FactName {
  return `stops taken in ${market}`;
}

/** What a market has, and what of it the relay was about to cancel. */
export interface TakenView {
  readonly entries: readonly Entry[];
  readonly open: readonly Order[];
  readonly taken: ReadonlySet<number>;
}

/**
 * What those orders that protect a part of a signal have sold that the relay meant to cancel without an answer, and that no list
 * shows. One that is placed anew would sell the same again: a stop-loss on spot, which no flag keeps from that, or one of several
 * take-profits.
 *
 * @returns by their ids, in base units; null while no list tells how one of them has ended
 */
export async function lookUpTaken(
  client: ExchangeClient,
  { entries, open, taken }: TakenView,
  { of, market, role }: Pick<ProtectSignal, 'of' | 'market' | 'role'>,
  limits: SendOptions,
): Promise<ReadonlyMap<number, Decimal> | null> {
  const confirmed = replacedIn(entries);
  const sold = new Map<number, Decimal>();
  for (const record of listRecords(entries)) {
    const { orderId, amount, state, orderOpen, protects, status } = record;
    if (status !== 'placed' || record.market !== market) continue;
    if (protects?.of !== of || protects.role !== role) continue;
    if (orderId === null || amount === null || !taken.has(orderId) || confirmed.has(orderId)) continue;
    const hasEnded = state === null ? !orderOpen : !isStillOpen(state);
    if (hasEnded || open.some((order) => order.orderId === orderId)) continue;
    const end = await readStopEnd(client, record, amount, limits);
    if (end === null) return null;
    sold.set(orderId, end.filled);
  }
  return sold;
}
