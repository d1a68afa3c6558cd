import type { Market } from '../lib/model/market.ts';
import type { Settings } from '../lib/model/settings.ts';
import { type Check, fail, pass, warn } from './check.ts';

const name = 'markets';
const advice = 'Correct tickers and markets in relay.config.ts, then start or deploy again.';

/**
 * Compares every configured ticker and market with the exchange's list.
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
  return pass(name, `the exchange lists all ${named.size}, for ${Object.keys(tickers).length} tickers`);
}

/** What prevents trading in the market; empty when it can be traded. */
function problemOf(market: Market | undefined): readonly string[] {
  if (market === undefined) return ['is not listed by the exchange'];
  return market.tradesEnabled ? [] : ['is closed for trading'];
}
