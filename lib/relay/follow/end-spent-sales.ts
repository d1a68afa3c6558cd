import { formatDecimal } from '../../base/decimal.ts';
import type { Entry } from '../../ledger/entry.ts';
import { listRecords } from '../../ledger/order-record.ts';
import type { Teller } from '../../ledger/tell-once.ts';
import { type SpentSale, spentSales } from '../../protection/spent-sales.ts';
import { isSale } from '../../protection/spot-lots.ts';
import { fingerprintOf } from '../../signals/identity.ts';
import { listAnswers } from '../protect/answered-stops.ts';
import type { AskedActs } from '../protect/keep-protection.ts';
import type { FollowServices } from './follow-services.ts';

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
  for (const market of markets) {
    // What a sale has counted itself only leaves less to cancel: mostly it need not be read.
    if (spentSales(records, market, []).length > 0)
      spent.push(...spentSales(records, market, await listAnswers(services.facts, account, market)));
  }
  for (const sale of spent) {
    const { orderId } = sale;
    await tell(services, teller, account, sale);
    if (asked.isDue(String(orderId), '', services.clock.nowMs())) await askToCancel(services, account, sale);
  }
  asked.keepOnly(new Set(spent.map(({ orderId }) => String(orderId))));
}

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
  const message = `the relay cancels the resting sale "${signalId}" in ${market}, order ${orderId}: ${why}, and it would sell what you hold besides; \`relay signals\` shows the cancellation`;
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

/** A cancellation in the line of the market, as of an alert. One that fails is asked for again, later and later. */
async function askToCancel(
  { entrance, clock }: FollowServices,
  account: string,
  { record: { signalId: placedBy, market, strategy, asked }, orderId, parts, hasNext }: SpentSale,
): Promise<void> {
  const nowMs = clock.nowMs();
  const signalId = `cancel-${orderId}-${Math.floor(nowMs / 1000)}`;
  const signal = {
    ticker: asked?.ticker ?? market,
    market,
    timeMs: null,
    maxLagMs: null,
    ...(strategy === undefined ? {} : { strategy }),
    comment: 'a stop-loss has sold what it was to sell',
    action: 'cancel' as const,
    target: { by: 'signalId' as const, signalId: placedBy },
    answers: (hasNext ? parts : []).map(({ amount, ...part }) => ({
      ...part,
      amount: formatDecimal(amount),
    })),
  };
  const fingerprint = fingerprintOf(Buffer.from(signalId));
  const entry = { account, signalId, signal, clientOrderId: null, fingerprint, atMs: nowMs };
  await entrance.accept([entry], null);
}
