import { listRecent } from '../../account/read-position.ts';
import { type Decimal, formatDecimal, parseDecimal, zero } from '../../base/decimal.ts';
import { decimalIn, fieldsOf, type Json, numberIn, textIn } from '../../base/json.ts';
import type { AccountFacts, FactName } from '../../ledger/account-facts.ts';
import type { Entry } from '../../ledger/entry.ts';
import { listRecords, type OrderRecord } from '../../ledger/order-record.ts';
import type { CancelSignal } from '../../model/signal.ts';
import type { SaleAnswer } from '../../protection/spent-sales.ts';
import { type StopSale, stoppedBy } from '../../protection/stop-sales.ts';
import { changeAction, type Plan } from '../execute/action.ts';
import type { ExecuteServices } from '../services.ts';

/** Of stop-losses that are not read any more: a list may have left one out. */
const mostOthers = 200;

/**
 * What alerts have asked to sell of what the stop-losses of a spot market have sold, by id of the stop-loss, in base units.
 *
 * @param clientOrderId of a sale that does not count: it may have been noted before the relay was killed
 * @throws RelayError `store_unavailable`
 */
export async function readAnswered(
  facts: Pick<AccountFacts, 'read'>,
  account: string,
  market: string,
  clientOrderId: string,
): Promise<ReadonlyMap<number, Decimal>> {
  const answered = new Map<number, Decimal>();
  for (const { sale, orderId, amount, isBefore } of await listAnswers(facts, account, market))
    if (sale !== clientOrderId && isBefore !== true)
      answered.set(orderId, amount.plus(answered.get(orderId) ?? zero));
  return answered;
}

/**
 * Called before the sale is settled or sent. Only the signals of the market write it, one at a time.
 *
 * What was asked of a stop-loss is kept for as long as that is read: without it, the next sale would count what that sold once
 * more, and leave unsold what it is for. Hundreds of sales may come while one buy is held.
 *
 * @param records what the sale was planned on
 * @param mark of what was sold before the sale, which is a share of what was left then
 * @throws RelayError `store_unavailable`
 */
export async function noteAnswered(
  facts: Pick<AccountFacts, 'read' | 'write'>,
  { account, market, clientOrderId }: SaleName,
  parts: readonly StopSale[],
  records: readonly OrderRecord[],
  mark: Pick<SaleAnswer, 'isBefore'> = {},
): Promise<void> {
  if (parts.length === 0) return;
  const before = await listAnswers(facts, account, market);
  const own = parts.map(({ orderId, amount }) => ({ sale: clientOrderId, orderId, amount, ...mark }));
  const others = before.filter(
    ({ sale, orderId, isBefore }) =>
      isBefore !== mark.isBefore || !own.some((one) => one.sale === sale && one.orderId === orderId),
  );
  const read = new Set(
    records.filter((record) => stoppedBy(record, records) !== null).map(({ orderId }) => orderId),
  );
  const gone = others.filter(({ orderId }) => !read.has(orderId)).slice(-mostOthers);
  const kept = [...gone, ...others.filter(({ orderId }) => read.has(orderId)), ...own];
  await facts.write(
    account,
    factOf(market),
    kept.map(({ amount, ...one }) => ({ ...one, amount: formatDecimal(amount) })),
  );
}

/** A resting sale that is cancelled because stop-losses have sold the same counts as the sale of that: it is not sold, or asked for, again. */
export function answeredOnceCancelled(
  services: ExecuteServices,
  { account, signalId }: Pick<Entry, 'account' | 'signalId'>,
  { market, answers = [] }: CancelSignal,
  plan: Plan,
): Plan {
  if (answers.length === 0) return plan;
  return changeAction(plan, (action) => ({
    async send(options) {
      const outcome = await action.send(options);
      if (outcome.status !== 'cancelled') return outcome;
      const { entries } = await listRecent(services, account, market);
      const parts = answers.map((part) => ({ ...part, amount: parseDecimal(part.amount) }));
      const name = { account, market, clientOrderId: signalId };
      await noteAnswered(services.facts, name, parts, listRecords(entries));
      return outcome;
    },
  }));
}

export interface SaleName {
  readonly account: string;
  readonly market: string;
  readonly clientOrderId: string;
}

/**
 * What each sale of a spot market has asked to sell of what stop-losses have sold.
 *
 * @throws RelayError `store_unavailable`
 */
export async function listAnswers(
  facts: Pick<AccountFacts, 'read'>,
  account: string,
  market: string,
): Promise<readonly SaleAnswer[]> {
  const fact = await facts.read(account, factOf(market));
  const list = Array.isArray(fact) ? (fact as readonly Json[]) : [];
  return list.flatMap((one) => {
    const { sale, orderId, amount, isBefore } = fieldsOf(one);
    const known = { sale: textIn(sale), orderId: numberIn(orderId), amount: decimalIn(amount) };
    return known.sale === null || known.orderId === null || known.amount === null
      ? []
      : [
          {
            sale: known.sale,
            orderId: known.orderId,
            amount: known.amount,
            ...(isBefore === true ? { isBefore } : {}),
          },
        ];
  });
}

function factOf(market: string): FactName {
  return `stops answered in ${market}`;
}
