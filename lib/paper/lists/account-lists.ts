import { formatDecimal, zero } from '../../base/decimal.ts';
import { collateralBalance } from '../../exchange/endpoints/collateral-balance.ts';
import { collateralSummary } from '../../exchange/endpoints/collateral-summary.ts';
import { tradeBalance } from '../../exchange/endpoints/trade-balance.ts';
import { summaryOf, totalOf } from '../engine/collateral.ts';
import { type Balance, collateralAccountOf, tradingAccountOf } from '../engine/exchange-state.ts';
import { tradedTickers } from '../engine/markets.ts';
import type { RefusalName } from '../engine/refusals.ts';
import type { SpotReading } from '../engine/spot-history.ts';
import {
  createReadRoute,
  type Reply,
  type RequestContext,
  type Route,
  serveChecked,
  succeed,
} from '../requests/request-context.ts';
import { readingEndpoint } from '../requests/served-endpoint.ts';
import { type Checked, type FieldReader, failCheck } from '../requests/validation.ts';
import { hasComeThrough } from './list-lag.ts';
import { reportCollateral } from './reports.ts';

/**
 * What an account holds for spot trading and as collateral, under the wire names of the live service.
 *
 * @see https://docs.whitebit.com/api-reference/spot-trading/trading-balance
 * @see https://docs.whitebit.com/api-reference/collateral-trading/collateral-account-balance
 */
export const accountLists: readonly Route[] = [
  createReadRoute(tradeBalance, serveTradeBalance),
  createReadRoute(
    readingEndpoint('collateral-amounts', '/v4/collateral-account/balance'),
    serveCollateralAmounts,
  ),
  createReadRoute(collateralBalance, serveCollateralBalance),
  createReadRoute(collateralSummary, serveSummary),
];

/** All balances above zero by ticker; for one ticker, its balance alone. */
function serveTradeBalance(context: RequestContext): Reply {
  const { read } = context;
  const spot = shownBalances(context);
  const asked = checkTicker(read, 'ticker_not_text', 'currency_not_found');
  return serveChecked(asked, (ticker) => {
    if (ticker !== null) return succeed(describeBalance(spot.get(ticker)));
    const held = [...spot].filter(([, balance]) => !totalOf(balance).eq(zero));
    return succeed(Object.fromEntries(held.map(([name, balance]) => [name, describeBalance(balance)])));
  });
}

/** The balances as the list shows them: after every change that has come through. */
function shownBalances(context: RequestContext): SpotReading['balances'] {
  const { spot, spotHistory } = tradingAccountOf(context.trading.state, context.account);
  if (context.lagMs === 0) return spot;
  const shown = spotHistory.findLast(({ atMs }) => hasComeThrough(context, atMs)) ?? spotHistory[0];
  return shown?.balances ?? spot;
}

function describeBalance({ available, reserved }: Balance = { available: zero, reserved: zero }) {
  return { available: formatDecimal(available), freeze: formatDecimal(reserved) };
}

/** JSON numbers, which may lose digits. So the documents say; captures of earlier years show texts. */
function serveCollateralAmounts({ account, read, trading }: RequestContext): Reply {
  const { balances } = collateralAccountOf(trading.state, account);
  return serveChecked(checkTicker(read, 'collateral_ticker_invalid'), (ticker) => {
    const asked = [...balances].filter(([name]) => ticker === null || name === ticker);
    return succeed(
      Object.fromEntries(asked.map(([name, balance]) => [name, Number(formatDecimal(totalOf(balance)))])),
    );
  });
}

function serveCollateralBalance({ account, read, trading }: RequestContext): Reply {
  return serveChecked(checkTicker(read, 'collateral_ticker_invalid'), (ticker) => {
    const records = reportCollateral(trading.state, account);
    return succeed(records.filter(({ asset }) => ticker === null || asset === ticker));
  });
}

/** The exchange does not say how its figures for futures differ. Here they are those of the whole account. */
function serveSummary({ account, trading }: RequestContext): Reply {
  const summary = summaryOf(trading.state, account);
  return succeed({
    equity: formatDecimal(summary.equity),
    margin: formatDecimal(summary.margin),
    freeMargin: formatDecimal(summary.freeMargin),
    unrealizedFunding: '0',
    pnl: formatDecimal(summary.pnl),
    leverage: summary.leverage,
    marginFraction: formatDecimal(summary.marginFraction),
    futuresEquity: formatDecimal(summary.equity),
    futuresFreeMargin: formatDecimal(summary.freeMargin),
  });
}

/** The ticker of a query; null means all. */
function checkTicker(
  read: FieldReader,
  notText: RefusalName,
  unknown: RefusalName = notText,
): Checked<string | null> {
  const ticker = read('ticker') ?? null;
  if (ticker === null) return { valid: true, value: null };
  if (typeof ticker !== 'string') return failCheck(notText);
  return tradedTickers.has(ticker) ? { valid: true, value: ticker } : failCheck(unknown);
}
