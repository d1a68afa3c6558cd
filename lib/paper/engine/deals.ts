import { recordActivity } from './activity.ts';
import { recordMinute } from './candles.ts';
import type { ExchangeState, PaperOrder } from './exchange-state.ts';
import type { PaperDeal, PublicTrade } from './trade-records.ts';

const publicTradesKept = 100;

/** What a fill adds to the list of deals. */
export type DealFill = Pick<PaperDeal, 'role' | 'amount' | 'price' | 'fee' | 'feeAsset' | 'atMs'>;

export function recordDeal(state: ExchangeState, order: PaperOrder, fill: DealFill): void {
  const { orderId, clientOrderId, account, market, side } = order;
  state.deals.push({
    dealId: state.nextDealId,
    orderId,
    clientOrderId,
    account,
    market,
    side,
    notional: fill.amount.times(fill.price),
    ...fill,
  });
  state.nextDealId += 1;
}

/** The newest trades of a market, newest first, at most 100. */
export function publicTradesOf(state: ExchangeState, market: string): readonly PublicTrade[] {
  return state.publicTrades.get(market) ?? [];
}

export function recordPublicTrade(
  state: ExchangeState,
  market: string,
  trade: Omit<PublicTrade, 'tradeId'>,
): void {
  const newest = { tradeId: state.nextPublicTradeId, ...trade };
  state.nextPublicTradeId += 1;
  state.publicTrades.set(market, [newest, ...publicTradesOf(state, market)].slice(0, publicTradesKept));
  recordActivity(state, market, trade);
  recordMinute(state, market, trade);
}
