import { type Decimal, formatDecimal, parseDecimal, zero } from '../../lib/base/decimal.ts';
import { paperAccounts } from '../../lib/paper/engine/accounts.ts';
import type { Evidence, Violation } from './evidence.ts';

type Amount = readonly [ticker: string, amount: Decimal];

/**
 * Checks that no trade made or lost money: every currency has the same total over all balances, the counterparty and
 * the fees as before the run. Otherwise the exchange's own records prove nothing.
 */
export function checkBalances({ exchange }: Evidence): readonly Violation[] {
  const { accounts, counterparty, fees } = exchange;
  const held = Object.values(accounts).flatMap(({ spot, collateral }) =>
    [spot, collateral].flatMap((balances) =>
      Object.entries(balances).map(
        ([ticker, { available, reserved }]): Amount => [
          ticker,
          parseDecimal(available).plus(parseDecimal(reserved)),
        ],
      ),
    ),
  );
  const others = [counterparty, fees].flatMap(readAmounts);
  const before = sumUp(
    paperAccounts.flatMap(({ spot, collateral }) => [spot, collateral].flatMap(readAmounts)),
  );
  const after = sumUp([...held, ...others]);
  return [...new Set([...before.keys(), ...after.keys()])].flatMap((ticker) => {
    const [was, is] = [before.get(ticker) ?? zero, after.get(ticker) ?? zero];
    if (was.eq(is)) return [];
    const what = `the exchange had ${formatDecimal(was)} ${ticker} in all, and has ${formatDecimal(is)}`;
    return [{ wrong: 'disagreement' as const, what, details: [] }];
  });
}

function readAmounts(amounts: Readonly<Record<string, string>>): readonly Amount[] {
  return Object.entries(amounts).map(([ticker, amount]) => [ticker, parseDecimal(amount)]);
}

function sumUp(amounts: readonly Amount[]): ReadonlyMap<string, Decimal> {
  const sums = new Map<string, Decimal>();
  for (const [ticker, amount] of amounts) sums.set(ticker, (sums.get(ticker) ?? zero).plus(amount));
  return sums;
}
