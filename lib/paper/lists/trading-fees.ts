import { formatAsPercentage, marketNamed } from '../engine/markets.ts';
import { createReadRoute, type Route, succeed } from '../requests/request-context.ts';
import { readingEndpoint } from '../requests/served-endpoint.ts';

/** All markets of a sort have the same fees. */
const spot = marketNamed('BTC_USDT');
const perpetual = marketNamed('BTC_PERP');

/**
 * The trading fees of the account in per cent. A market that the request names is ignored, as on the live service; no
 * market has fees of its own.
 *
 * @see https://docs.whitebit.com/api-reference/account-wallet/query-market-fees
 */
export const tradingFees: Route = createReadRoute(readingEndpoint('market-fee', '/v4/market/fee'), () =>
  succeed({
    error: null,
    taker: formatAsPercentage(spot.takerFeeRate),
    maker: formatAsPercentage(spot.makerFeeRate),
    futures_taker: formatAsPercentage(perpetual.takerFeeRate),
    futures_maker: formatAsPercentage(perpetual.makerFeeRate),
    rpi_maker_fee_premium: null,
    futures_rpi_maker_fee_premium: null,
    custom_fee: {},
  }),
);
