import { formatDecimal } from '../../lib/base/decimal.ts';
import type { Fill } from '../../lib/model/execution.ts';
import { type ExchangeState, isSpotOrder } from '../../lib/paper/engine/exchange-state.ts';

/**
 * The deals of the paper exchange as fills of two kinds of accounts: `main spot` and `main collateral`. There a market may
 * trade on both; an account of the relay trades each market on one of them.
 */
export function paperFills(state: ExchangeState): readonly Fill[] {
  return state.deals.map((deal) => {
    const order = state.orders.get(deal.orderId);
    if (order === undefined) throw new Error(`deal ${deal.dealId} has no order`);
    return {
      account: `${deal.account} ${isSpotOrder(order) ? 'spot' : 'collateral'}`,
      market: deal.market,
      dealId: deal.dealId,
      atMs: deal.atMs,
      signalId: `s-${deal.orderId}`,
      orderId: deal.orderId,
      role: 'order',
      side: deal.side,
      liquidity: deal.role,
      amount: formatDecimal(deal.amount),
      price: formatDecimal(deal.price),
      notional: formatDecimal(deal.notional),
      fee: formatDecimal(deal.fee),
      feeAsset: deal.feeAsset,
    };
  });
}
