import { platformStatus } from '../../exchange/endpoints/platform-status.ts';
import type { PaperFeeRecord, PaperFeeTerms } from '../engine/accounts.ts';
import { formatAsPercentage, marketNamed, paperMarkets, tradedTickers } from '../engine/markets.ts';
import { createReadRoute, type Route, succeed } from '../requests/request-context.ts';
import { publicEndpoint } from '../requests/served-endpoint.ts';

/**
 * The public lists of the live service that change rarely, under their wire names.
 *
 * @see https://docs.whitebit.com/api-reference/market-data/asset-status-list
 * @see https://docs.whitebit.com/api-reference/market-data/fee
 * @see https://docs.whitebit.com/api-reference/market-data/collateral-markets-list
 * @see https://docs.whitebit.com/api-reference/market-data/maintenance-status
 */
export const publicLists: readonly Route[] = [
  createReadRoute(publicEndpoint('assets', '/v4/public/assets'), ({ trading }) => {
    const records = trading.state.mainAccount.transferFees;
    const named = [...records.values()].map((record) => [record.ticker, describeAsset(record)]);
    const demo = [...tradedTickers].filter((ticker) => !records.has(ticker));
    return succeed({
      ...Object.fromEntries(named),
      ...Object.fromEntries(demo.map((ticker) => [ticker, describeDemoAsset(ticker)])),
    });
  }),
  createReadRoute(publicEndpoint('public-fee', '/v4/public/fee'), ({ trading }) => {
    const records = [...trading.state.mainAccount.transferFees.values()];
    return succeed(Object.fromEntries(records.map((record) => [record.ticker, describeFees(record)])));
  }),
  createReadRoute(publicEndpoint('collateral-markets', '/v4/public/collateral/markets'), () => {
    const margin = [...paperMarkets.values()].filter(
      ({ isCollateral, isFutures }) => isCollateral && !isFutures,
    );
    return succeed({ success: true, message: null, result: margin.map(({ name }) => name).sort() });
  }),
  createReadRoute(platformStatus, () => succeed({ status: 'system operational' })),
];

/** All spot markets have the same fees. */
const spot = marketNamed('BTC_USDT');
const spotFees = {
  maker_fee: formatAsPercentage(spot.makerFeeRate),
  taker_fee: formatAsPercentage(spot.takerFeeRate),
};
const withoutMemo = { is_memo: false, memo: { deposit: false, withdraw: false } } as const;

/** Fees are percentages, zero means "no limit", and every currency has one network of its own name. */
function describeAsset({ ticker, name, canDeposit, canWithdraw, deposit, withdraw }: PaperFeeRecord) {
  const limitsOf = ({ minAmount, maxAmount }: PaperFeeTerms) => ({
    [ticker]: maxAmount === '0' ? { min: minAmount } : { min: minAmount, max: maxAmount },
  });
  return {
    name,
    unified_cryptoasset_id: 0,
    can_withdraw: canWithdraw,
    can_deposit: canDeposit,
    min_withdraw: withdraw.minAmount,
    max_withdraw: withdraw.maxAmount,
    ...spotFees,
    min_deposit: deposit.minAmount,
    max_deposit: deposit.maxAmount,
    currency_precision: 8,
    ...withoutMemo,
    networks: {
      ...(canDeposit ? { deposits: [ticker] } : {}),
      ...(canWithdraw ? { withdraws: [ticker] } : {}),
      default: ticker,
    },
    limits: { deposit: limitsOf(deposit), withdraw: limitsOf(withdraw) },
  };
}

/** A currency without transfers, as those of the live service's demo pair are. */
function describeDemoAsset(ticker: string) {
  return {
    name: ticker,
    unified_cryptoasset_id: 0,
    can_withdraw: false,
    can_deposit: false,
    min_withdraw: '0',
    max_withdraw: '0',
    ...spotFees,
    min_deposit: '0',
    max_deposit: '0',
    currency_precision: 8,
    ...withoutMemo,
  };
}

function describeFees({ ticker, name, canDeposit, canWithdraw, deposit, withdraw }: PaperFeeRecord) {
  return {
    ticker,
    name,
    providers: [],
    is_depositable: canDeposit,
    is_withdrawal: canWithdraw,
    is_api_withdrawal: canWithdraw,
    is_api_depositable: canDeposit,
    deposit: describeTerms(deposit),
    withdraw: describeTerms(withdraw),
  };
}

/** A currency has either a fixed fee or a percentage; the other one is null. */
function describeTerms({ minFlex, maxFlex, percentFlex, fixed, minAmount, maxAmount }: PaperFeeTerms) {
  return {
    min_amount: minAmount,
    max_amount: maxAmount,
    fixed: fixed === '0' ? null : fixed,
    flex: percentFlex === '0' ? null : { percent: percentFlex, min_fee: minFlex, max_fee: maxFlex },
  };
}
