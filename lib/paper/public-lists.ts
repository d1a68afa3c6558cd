import { type Decimal, formatDecimal } from '../base/decimal.ts';
import { ticker } from '../exchange/endpoints/ticker.ts';
import type { PaperFeeRecord } from './accounts.ts';
import { lastPriceOf } from './exchange-state.ts';
import { hundred, paperMarkets } from './markets.ts';
import { type PaperEndpoint, type Route, succeed } from './request-context.ts';

/** A list that the relay does not read. Other clients read it before their first order. */
function publicList(name: string): PaperEndpoint {
  const path = `/api/v4/public/${name}`;
  return {
    name,
    method: 'GET',
    path: { documented: path, live: path },
    access: 'public',
    availability: 'live-only',
    repeatable: true,
    requestsPer10s: 2000,
  };
}

/**
 * The public lists of the live service, under their wire names.
 *
 * @see https://docs.whitebit.com/api-reference/market-data/asset-status-list
 * @see https://docs.whitebit.com/api-reference/market-data/market-activity
 */
export const publicLists: readonly Route[] = [
  {
    endpoint: publicList('assets'),
    trades: false,
    serve: ({ trading }) =>
      succeed(
        Object.fromEntries(
          [...trading.state.mainAccount.transferFees.values()].map((record) => [
            record.ticker,
            describeAsset(record),
          ]),
        ),
      ),
  },
  {
    endpoint: ticker,
    trades: false,
    serve: ({ trading }) =>
      succeed(
        Object.fromEntries(
          [...paperMarkets.values()].map(({ name, startPrice }) => [
            name,
            describeActivity(lastPriceOf(trading.state, name), startPrice),
          ]),
        ),
      ),
  },
];

/** Fees are percentages, zero means "no limit", and every currency has one network without a name. */
function describeAsset({ name, canDeposit, canWithdraw, deposit, withdraw }: PaperFeeRecord) {
  return {
    name,
    unified_cryptoasset_id: 0,
    can_withdraw: canWithdraw,
    can_deposit: canDeposit,
    min_withdraw: withdraw.minAmount,
    max_withdraw: withdraw.maxAmount,
    maker_fee: '0.1',
    taker_fee: '0.1',
    min_deposit: deposit.minAmount,
    max_deposit: deposit.maxAmount,
    currency_precision: 8,
    is_memo: false,
    memo: { deposit: false, withdraw: false },
  };
}

/**
 * The paper exchange has no trade history: volumes are 0, and the change in % is measured from the start
 * price.
 */
function describeActivity(lastPrice: Decimal, startPrice: Decimal) {
  return {
    base_id: 0,
    quote_id: 0,
    last_price: formatDecimal(lastPrice),
    quote_volume: '0',
    base_volume: '0',
    isFrozen: false,
    change: formatDecimal(lastPrice.minus(startPrice).times(hundred).div(startPrice).round(2)),
  };
}
