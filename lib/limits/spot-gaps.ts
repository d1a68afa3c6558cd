import type { Account } from '../model/account.ts';
import { currenciesInName, playMoney } from '../model/market.ts';

/** What the limits of an account leave out on spot, one sentence each, where an owner may expect that it counts. */
export function describeSpotGaps(account: Account): readonly string[] {
  const spot = Object.entries(account.markets).flatMap(([market, { tradesOn }]) =>
    tradesOn === 'spot' ? [market] : [],
  );
  return [...describeUnbounded(account, spot), ...describeUnmatched(account, spot)];
}

/** On spot what has filled is no position: nothing says what of a balance was bought, and what the owner had before. */
function describeUnbounded({ limits }: Account, spot: readonly string[]): readonly string[] {
  // What is bought with play money is worth nothing.
  const markets = spot.filter((market) => currenciesInName(market).quote !== playMoney);
  if ((limits?.maxOpenNotional ?? null) === null || markets.length === 0) return [];
  return [
    `maxOpenNotional does not count what has filled on spot (${markets.join(', ')}), only orders that are still open there; maxAmount and maxNotional bound each order, and the balance of the account bounds all of them`,
  ];
}

/** Profit is booked by market: a sale closes nothing that was bought against another quote currency. */
function describeUnmatched({ limits }: Account, spot: readonly string[]): readonly string[] {
  const blind = [
    ...((limits?.maxDailyLoss ?? null) === null ? [] : ['maxDailyLoss']),
    ...((limits?.coolDownMs ?? null) === null ? [] : ['coolDownAfterLoss']),
  ];
  if (blind.length === 0) return [];
  const does = blind.length === 1 ? 'does' : 'do';
  return [...Map.groupBy(spot, (market) => currenciesInName(market).base).values()].flatMap((markets) =>
    markets.length < 2
      ? []
      : [
          `${blind.join(' and ')} ${does} not count the loss of what is bought in one of ${markets.join(', ')} and sold in another; sell where you bought`,
        ],
  );
}
