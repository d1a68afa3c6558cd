import { formatDecimal } from '../../base/decimal.ts';
import type { Entry } from '../../ledger/entry.ts';
import { listPages } from '../../ledger/ledger.ts';
import { listRecords, type OrderRecord } from '../../ledger/order-record.ts';
import type { Teller } from '../../ledger/tell-once.ts';
import { type SpentSale, spentSales } from '../../protection/spent-sales.ts';
import { isSale } from '../../protection/spot-lots.ts';
import type { StopSale } from '../../protection/stop-sales.ts';
import { listAnswers } from '../protect/answered-stops.ts';
import type { AskedActs } from '../protect/keep-protection.ts';
import type { FollowServices } from './follow-services.ts';
import { storeCancellation } from './store-cancellation.ts';

/**
 * Asks for the cancellation of the resting sales of what a stop-loss has sold, and tells it once of each. Without it such a
 * sale would sell what the owner holds besides.
 *
 * @param entries the followed ones, with what this reading has told of them, oldest first
 * @throws RelayError `store_unavailable`
 */
export async function endSpentSales(
  services: FollowServices,
  teller: Teller,
  account: string,
  entries: readonly Entry[],
  asked: AskedActs,
): Promise<void> {
  const records = listRecords(entries);
  const markets = new Set(records.filter(isSale).map(({ market }) => market));
  const spent: SpentSale[] = [];
  const known = new Set<string>();
  for (const market of markets) {
    // What a sale has counted itself, and older buys, only leave less to cancel: mostly they need not be read.
    if (spentSales(records, market, []).length === 0) continue;
    const answers = await listAnswers(services.facts, account, market);
    const found = spentSales(records, market, answers);
    for (const { orderId } of found) known.add(String(orderId));
    // One that stays for an older buy is found at each reading, for as long as it rests.
    const sign = found.map(({ orderId, parts }) => [orderId, ...parts.map(describePart)].join(' ')).join();
    known.add(market);
    if (found.length === 0 || !asked.isDue(market, sign, services.clock.nowMs())) continue;
    spent.push(...spentSales(records, market, answers, await readOlder(services, account, records)));
  }
  for (const sale of spent) {
    const { orderId } = sale;
    await tell(services, teller, account, sale);
    if (asked.isDue(String(orderId), '', services.clock.nowMs())) await askToCancel(services, account, sale);
  }
  asked.keepOnly(known);
}

function describePart({ orderId, amount }: StopSale): string {
  return `${orderId} ${formatDecimal(amount)}`;
}

/** The newest of those that are not followed, as far as one look into the ledger should go. */
async function readOlder(
  { ledger }: Pick<FollowServices, 'ledger'>,
  account: string,
  records: readonly OrderRecord[],
): Promise<readonly OrderRecord[]> {
  const followed = new Set(records.map(({ signalId }) => signalId));
  const read: Entry[] = [];
  for await (const { entries } of listPages(ledger, { account, limit: pageSize }, mostPages))
    read.push(...entries);
  return listRecords(read.filter(({ signalId }) => !followed.has(signalId)).toReversed());
}

const pageSize = 100;
const mostPages = 5;

async function tell(
  { commandOptions }: FollowServices,
  teller: Teller,
  account: string,
  { record: { signalId, market }, orderId, parts }: SpentSale,
): Promise<void> {
  const sold = parts.map(
    (part) =>
      `the stop-loss order ${part.orderId} of "${part.of}" has sold ${formatDecimal(part.amount)} of what it was to sell`,
  );
  const why = parts.length === 0 ? 'what it was to stop out is sold' : sold.join(' and ');
  const message = `the relay cancels the resting sale "${signalId}" in ${market}, order ${orderId}: ${why}, and it would sell what you hold besides; \`npx relay signals\` shows the cancellation`;
  await teller.tell(account, {
    key: `spent sale ${market} ${orderId}`,
    alarm: { name: 'sale_cancelled', message },
    facts: {
      signalId,
      market,
      orderId,
      whatToDo: `npx relay cancel ${market} --order-id ${orderId} --account ${account}${commandOptions}`,
    },
    everyMs: null,
  });
}

/** One that fails is asked for again, later and later. */
async function askToCancel(
  services: FollowServices,
  account: string,
  { record: { signalId: placedBy, market, strategy, asked }, orderId, parts, hasNext }: SpentSale,
): Promise<void> {
  await storeCancellation(services, account, orderId, {
    ticker: asked?.ticker ?? market,
    market,
    ...(strategy === undefined ? {} : { strategy }),
    comment: 'a stop-loss has sold what it was to sell',
    target: { by: 'signalId', signalId: placedBy },
    answers: (hasNext ? parts : []).map(({ amount, ...part }) => ({
      ...part,
      amount: formatDecimal(amount),
    })),
  });
}
