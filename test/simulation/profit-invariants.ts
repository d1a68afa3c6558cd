import { type Decimal, formatDecimal, maximum, minimum, parseDecimal, zero } from '../../lib/base/decimal.ts';
import { isSpotOrder } from '../../lib/paper/engine/exchange-state.ts';
import type { PaperDeal } from '../../lib/paper/engine/trade-records.ts';
import { openTrading } from '../../lib/paper/engine/trading.ts';
import type { Facts, Violation } from './invariants.ts';
import { type EntryOf, entriesOf, replayLots, sum } from './spot-lots.ts';

/** The exchange at the start of every run. */
const start = openTrading(null).state;
/** Entry prices are rounded to eight places at the exchange, and costs are not. */
const tolerance = parseDecimal('0.0001');

/**
 * Finds accounts whose collateral at the exchange has changed by another amount than the profit that a report of the relay
 * adds up, although the ledger has all their deals.
 */
export function findWrongProfits(facts: Facts): readonly Violation[] {
  return [...findWrongCollateral(facts), ...findWrongBooks(facts)];
}

function findWrongCollateral(facts: Facts): readonly Violation[] {
  return reportedAccounts(facts).flatMap((account) => {
    const reported = facts.profits.get(account)?.net ?? zero;
    const changed = collateralOf(facts.exchange, account).minus(collateralOf(start, account));
    if (reported.minus(changed).abs().lte(tolerance)) return [];
    const text = `the report of ${account} says ${formatDecimal(reported)}, and its collateral has changed by ${formatDecimal(changed)}`;
    return [{ invariant: 'I45', harm: 'silent', text }];
  });
}

/**
 * The accounts all of whose deals the relay has been told of, and of which its report does not say that it leaves something
 * out.
 */
export function reportedAccounts(facts: Facts): readonly string[] {
  if (facts.dialect !== 'live') return [];
  return Object.values(facts.settings.accounts)
    .filter(({ name, mode }) => mode === 'live' && facts.exchange.accounts.has(name))
    .map(({ name }) => name)
    .filter((name) => facts.profits.get(name)?.isWhole === true)
    .filter((name) => hasAllDeals(facts, name));
}

/** What was dealt before the account was first read, or too lately to be listed, is in no report. */
function hasAllDeals({ exchange, fills }: Facts, name: string): boolean {
  const known = new Set(
    fills.filter(({ account }) => account === name).map(({ dealId, orderId }) => `${dealId} ${orderId}`),
  );
  const deals = exchange.deals.filter(({ account, orderId }) => {
    const order = exchange.orders.get(orderId);
    return account === name && order !== undefined && !isSpotOrder(order);
  });
  return deals.length > 0 && deals.every(({ dealId, orderId }) => known.has(`${dealId} ${orderId}`));
}

/**
 * Finds spot markets in which the report counts more or less as sold of what the relay's orders had bought than the deals of the
 * exchange tell, or a profit that no choice among these buys explains.
 */
function findWrongBooks({ dialect, exchange, entries, fills, profits }: Facts): readonly Violation[] {
  if (dialect !== 'live') return [];
  const entryOf = entriesOf({ entries });
  const known = new Set(fills.map(({ account, dealId, orderId }) => `${account} ${dealId} ${orderId}`));
  const onSpot = exchange.deals.filter(({ orderId }) => {
    const order = exchange.orders.get(orderId);
    return order !== undefined && isSpotOrder(order);
  });
  const places = Map.groupBy(onSpot, ({ account, market }) => `${account} ${market}`);
  return [...places].flatMap(([place, deals]) => {
    const [{ account, market } = { account: '', market: '' }] = deals;
    const { spot } = profits.get(account) ?? {};
    const reported = spot?.get(market) ?? { net: zero, unmatched: zero };
    const isTold = ({ dealId, orderId }: PaperDeal) => known.has(`${account} ${dealId} ${orderId}`);
    // What the owner deals by hand there is in no book of the relay.
    if (spot === undefined || !deals.every((deal) => isTold(deal) && entryOf(deal) !== undefined)) return [];
    const { left, unmatched, least, most } = replaySales(deals, entryOf);
    const broken = (text: string): Violation => ({
      invariant: 'I45',
      harm: 'silent',
      text: `${place}: ${text}`,
    });
    if (!reported.unmatched.eq(unmatched))
      return [
        broken(
          `the report says that ${formatDecimal(reported.unmatched)} was sold of what the relay had not bought, and it is ${formatDecimal(unmatched)}`,
        ),
      ];
    if (unmatched.gt(zero)) return [];
    const isExplained = reported.net.gte(least.minus(tolerance)) && reported.net.lte(most.plus(tolerance));
    if (isExplained) return [];
    return [
      broken(
        `the report says ${formatDecimal(reported.net)}; with ${formatDecimal(left)} left it is between ${formatDecimal(least)} and ${formatDecimal(most)}`,
      ),
    ];
  });
}

/** What sales brought, less what was paid for what they sold: what is left may be the cheapest of the buys, or the dearest. */
function replaySales(deals: readonly PaperDeal[], entryOf: EntryOf) {
  const sides = Map.groupBy(deals, ({ side }) => side);
  const [buys, sales] = [sides.get('buy') ?? [], sides.get('sell') ?? []];
  const bought = sum(buys.map(({ amount, fee }) => amount.minus(fee)));
  const costs = sum(buys.map(({ amount, price }) => amount.times(price)));
  const left = sum([...replayLots(deals, entryOf).values()].map((lot) => lot.left));
  const unmatched = sum(sales.map(({ amount }) => amount)).minus(bought.minus(left));
  const brought = sum(sales.map(({ amount, price, fee }) => amount.times(price).minus(fee))).minus(costs);
  // The fee of a buy, which is taken from what was bought, is a loss at once.
  const worth = buys.length === 0 ? [zero] : buys.map(({ price }) => price.times(left));
  const least = brought.plus(worth.reduce((one, other) => minimum(one, other)));
  const most = brought.plus(worth.reduce((one, other) => maximum(one, other)));
  return { left, unmatched, least, most };
}

function collateralOf({ accounts }: Facts['exchange'], name: string): Decimal {
  const balance = accounts.get(name)?.collateral.balances.get('USDT');
  return balance === undefined ? zero : balance.available.plus(balance.reserved);
}
