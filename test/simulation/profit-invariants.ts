import { type Decimal, formatDecimal, parseDecimal, zero } from '../../lib/base/decimal.ts';
import { isSpotOrder } from '../../lib/paper/engine/exchange-state.ts';
import { openTrading } from '../../lib/paper/engine/trading.ts';
import type { Facts, Violation } from './invariants.ts';

/** The exchange at the start of every run. */
const start = openTrading(null).state;
/** Entry prices are rounded to eight places at the exchange, and costs are not. */
const tolerance = parseDecimal('0.0001');

/**
 * Finds accounts whose collateral at the exchange has changed by another amount than the profit that a report of the relay
 * adds up, although the ledger has all their deals.
 */
export function findWrongProfits(facts: Facts): readonly Violation[] {
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

function collateralOf({ accounts }: Facts['exchange'], name: string): Decimal {
  const balance = accounts.get(name)?.collateral.balances.get('USDT');
  return balance === undefined ? zero : balance.available.plus(balance.reserved);
}
