import { formatPercent } from '../../lib/base/decimal.ts';
import type { Dialect } from '../../lib/exchange/dialect.ts';
import type { Account, TradingGround } from '../../lib/model/account.ts';
import type { Market } from '../../lib/model/market.ts';
import type { Settings } from '../../lib/model/settings.ts';
import { isCarried } from '../../lib/orders/order-types.ts';
import { type Check, fail, pass, warn } from './check.ts';

const name = 'markets';
const advice = 'Correct tickers and markets in relay.config.ts, then start or deploy again.';

/**
 * Compares every configured ticker and market with the exchange's list, and where each market trades with what its
 * record says.
 *
 * @param listed the markets of the exchange, without those that the relay cannot parse
 */
export function checkMarkets({ tickers, accounts }: Settings, listed: readonly Market[]): Check {
  const byName = new Map(listed.map((market) => [market.name, market]));
  const allowed = new Set(Object.values(accounts).flatMap((account) => Object.keys(account.markets)));
  const named = new Set(Object.values(tickers));
  const broken = [
    ...Object.entries(tickers).flatMap(([ticker, market]) =>
      problemOf(byName.get(market)).map((problem) => `ticker ${ticker} → ${market} ${problem}`),
    ),
    ...[...allowed].flatMap((market) =>
      named.has(market) ? [] : problemOf(byName.get(market)).map((problem) => `market ${market} ${problem}`),
    ),
    ...Object.values(accounts).flatMap((account) => listMisplaced(account, byName)),
  ];
  if (broken.length > 0) return fail(name, broken.join('; '), advice);
  const idle = [
    ...[...named]
      .filter((market) => !allowed.has(market))
      .map((market) => `${market} has a ticker, but no account may trade it`),
    ...[...allowed]
      .filter((market) => !named.has(market))
      .map((market) => `${market} may be traded, but no ticker is mapped to it`),
  ];
  if (idle.length > 0) return warn(name, idle.join('; '), advice);
  const leaving = [...allowed].flatMap((market) => {
    const atMs = byName.get(market)?.delistedAtMs;
    return atMs === undefined ? [] : [`${market} on ${new Date(atMs).toISOString().slice(0, 10)}`];
  });
  if (leaving.length > 0)
    return warn(
      name,
      `the exchange will take off ${leaving.join(', ')}, and cancels what is open there then`,
      'Close what is open there in time, and trade another market.',
    );
  return pass(name, `the exchange lists all ${named.size}, for ${Object.keys(tickers).length} tickers`);
}

/** What prevents trading in the market; empty when it can be traded. */
function problemOf(market: Market | undefined): readonly string[] {
  if (market === undefined) return ['is not listed by the exchange'];
  return market.tradesEnabled ? [] : ['is closed for trading'];
}

/** The markets that the exchange does not trade where the account's configuration says. */
function listMisplaced(account: Account, byName: ReadonlyMap<string, Market>): readonly string[] {
  return Object.entries(account.markets).flatMap(([market, { tradesOn }]) => {
    const record = byName.get(market);
    if (record === undefined) return [];
    const grounds = groundsOf(record);
    if (grounds.includes(tradesOn)) return [];
    const others = grounds.map((ground) => `'${ground}'`).join(' or ');
    return [
      `market ${market} of account ${account.name} has tradesOn: '${tradesOn}', and the exchange trades it on ${others} only`,
    ];
  });
}

function groundsOf({ isFutures, isCollateral }: Market): readonly TradingGround[] {
  if (isFutures) return ['futures'];
  return isCollateral ? ['spot', 'margin'] : ['spot'];
}

/**
 * Says for each account that may trade how its market orders are bounded, and warns where they need a bound in the
 * alert. The documented dialect has no market orders.
 */
export function checkMarketOrders({ accounts }: Settings, dialect: Dialect): readonly Check[] {
  if (!isCarried('market', dialect)) return [];
  return Object.values(accounts)
    .filter(({ markets }) => Object.keys(markets).length > 0)
    .map((account) => checkMarketOrdersOf(account));
}

function checkMarketOrdersOf({
  name: account,
  region,
  maxSlippageRate,
  allowUnguardedMarket,
}: Account): Check {
  const about = `market orders of ${account}`;
  const stops = allowUnguardedMarket
    ? 'stop-market orders fill at any price'
    : 'stop-market orders are denied, because they fill at any price';
  if (maxSlippageRate !== null)
    return pass(
      about,
      `fill at most ${formatPercent(maxSlippageRate)} beyond the best opposite price; ${stops}`,
    );
  // The exchange takes no order with a price bound from a region, so an alert cannot have one either.
  const unless = region === null ? ' unless the alert has a maxSlippage' : '';
  if (allowUnguardedMarket) return pass(about, `fill at any price${unless}; ${stops}`);
  return warn(
    about,
    `are refused unless the alert has a maxSlippage; ${stops}`,
    "Set maxSlippage for the account in relay.config.ts, for example maxSlippage: '0.5%'.",
  );
}
