import type { Market } from '../lib/model/market.ts';
import type { Settings } from '../lib/model/settings.ts';
import { type Check, fail, pass, warn } from './check.ts';

const name = 'markets';
const advice = 'Correct tickers and markets in relay.config.ts, then start or deploy again.';

/**
 * Holds every configured ticker and market against the exchange's list.
 *
 * @param listed what the exchange lists, without markets that the relay cannot read
 */
export function checkMarkets({ tickers, accounts }: Settings, listed: readonly Market[]): Check {
  const byName = new Map(listed.map((market) => [market.name, market]));
  const allowed = new Set(Object.values(accounts).flatMap((account) => Object.keys(account.markets)));
  const named = new Set(Object.values(tickers));
  const broken = [
    ...Object.entries(tickers).flatMap(([ticker, market]) =>
      faultOf(byName.get(market)).map((fault) => `ticker ${ticker} → ${market} ${fault}`),
    ),
    ...[...allowed].flatMap((market) =>
      named.has(market) ? [] : faultOf(byName.get(market)).map((fault) => `market ${market} ${fault}`),
    ),
  ];
  if (broken.length > 0) return fail(name, broken.join('; '), advice);
  const idle = [
    ...[...named]
      .filter((market) => !allowed.has(market))
      .map((market) => `${market} has a ticker, and no account may trade it`),
    ...[...allowed]
      .filter((market) => !named.has(market))
      .map((market) => `${market} may be traded, and no ticker leads to it`),
  ];
  if (idle.length > 0) return warn(name, idle.join('; '), advice);
  return pass(name, `the exchange lists all ${named.size}, for ${Object.keys(tickers).length} tickers`);
}

/** None where the market can be traded. */
function faultOf(market: Market | undefined): readonly string[] {
  if (market === undefined) return ['is not listed by the exchange'];
  return market.tradesEnabled ? [] : ['is listed, and closed for trading'];
}
