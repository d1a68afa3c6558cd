import { type Decimal, formatDecimal, parseDecimal, zero } from '../../base/decimal.ts';
import { decimalIn, fieldsOf, type Json, numberIn, textIn } from '../../base/json.ts';
import type { AccountFacts, ContestedFacts, FactName } from '../../ledger/account-facts.ts';
import type { Entry } from '../../ledger/entry.ts';
import type { OrderRecord } from '../../ledger/order-record.ts';
import type { SaleAnswer } from '../../protection/spent-sales.ts';
import { type StopSale, stoppedBy } from '../../protection/stop-sales.ts';

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
 * Called before the sale is settled or sent.
 *
 * What was asked of a stop-loss is kept for as long as that is read: without it, the next sale would count what that sold once
 * more, and leave unsold what it is for. Hundreds of sales may come while one buy is held.
 *
 * @param records what the sale was planned on; absent: it is not known which stop-losses are read
 * @param mark of what was sold before the sale, which is a share of what was left then
 * @throws RelayError `store_unavailable`
 */
export async function noteAnswered(
  facts: Pick<ContestedFacts, 'read' | 'replace'>,
  { account, market, clientOrderId }: SaleName,
  parts: readonly StopSale[],
  records?: readonly OrderRecord[],
  mark: Pick<SaleAnswer, 'isBefore'> = {},
): Promise<void> {
  if (parts.length === 0) return;
  const own = parts.map(({ orderId, amount }) => ({ sale: clientOrderId, orderId, amount, ...mark }));
  const read =
    records === undefined
      ? null
      : new Set(
          records.filter((record) => stoppedBy(record, records) !== null).map(({ orderId }) => orderId),
        );
  const isRead = ({ orderId }: SaleAnswer) => read === null || read.has(orderId);
  // A lookup that finds a sale cancelled writes it, too, beside the signals of the market.
  for (;;) {
    const was = await facts.read(account, factOf(market));
    const others = parseAnswers(was).filter(
      ({ sale, orderId, isBefore }) =>
        isBefore !== mark.isBefore || !own.some((one) => one.sale === sale && one.orderId === orderId),
    );
    const gone = others.filter((one) => !isRead(one)).slice(-mostOthers);
    const kept = [...gone, ...others.filter(isRead), ...own];
    const fact = kept.map(({ amount, ...one }) => ({ ...one, amount: formatDecimal(amount) }));
    if (await facts.replace(account, factOf(market), fact, was)) return;
  }
}

/**
 * A resting sale that is cancelled because stop-losses have sold the same counts as the sale of that: it is not sold, or asked for,
 * again. Called before the outcome of its cancellation is stored, whoever has found that out.
 *
 * @throws RelayError `store_unavailable`
 */
export async function noteCancelledSale(
  facts: Pick<ContestedFacts, 'read' | 'replace'>,
  { account, signalId, signal }: Pick<Entry, 'account' | 'signalId' | 'signal'>,
): Promise<void> {
  if (signal?.action !== 'cancel' || signal.answers === undefined) return;
  const parts = signal.answers.map((part) => ({ ...part, amount: parseDecimal(part.amount) }));
  await noteAnswered(facts, { account, market: signal.market, clientOrderId: signalId }, parts);
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
  return parseAnswers(await facts.read(account, factOf(market)));
}

function parseAnswers(fact: Json): readonly SaleAnswer[] {
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
