import type { BookedDeal } from '../../lib/reports/book-deals.ts';
import { escapeText } from '../../lib/signals/issues.ts';
import { formatMillisecond } from '../show/print.ts';
import type { CsvCell } from './csv.ts';
import { amountCell } from './export-rows.ts';

/** A deal as a JSON document: the stored fill, and what it changed. Money is in `quote`. */
export function describeDeal({
  fill,
  facts,
  quote,
  closed,
  unmatched,
  profit,
  feeInQuote,
  net,
  slippage,
}: BookedDeal) {
  return {
    ...fill,
    strategy: facts?.strategy ?? null,
    referencePrice: facts?.referencePrice ?? null,
    quote,
    closed,
    unmatched,
    profit,
    feeInQuote,
    net,
    slippage: slippage?.money ?? null,
  };
}

const titles = [
  ...['time (UTC)', 'account', 'strategy', 'signal', 'order', 'role', 'deal', 'market', 'side', 'liquidity'],
  ...['amount', 'price', 'notional', 'quote currency', 'fee', 'fee currency'],
  ...['reference price', 'slippage', 'closed', 'closed without known cost'],
  ...['profit before fees', 'fee in quote currency', 'net'],
];

export function* listDealRecords(deals: readonly BookedDeal[]): Generator<readonly CsvCell[]> {
  yield titles;
  for (const deal of deals) yield recordOf(deal);
}

function recordOf(deal: BookedDeal): readonly CsvCell[] {
  const { fill, facts } = deal;
  return [
    formatMillisecond(fill.atMs),
    fill.account,
    escapeText(facts?.strategy ?? ''),
    fill.signalId,
    fill.orderId,
    fill.role,
    fill.dealId,
    fill.market,
    fill.side,
    fill.liquidity,
    deal.amount,
    amountCell(fill.price),
    deal.notional,
    deal.quote,
    deal.fee,
    fill.feeAsset,
    facts?.referencePrice ?? null,
    deal.slippage?.money ?? null,
    deal.closed,
    deal.unmatched,
    deal.profit,
    deal.feeInQuote,
    deal.net,
  ];
}
