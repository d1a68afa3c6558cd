import { type Decimal, formatDecimal, zero } from '../../base/decimal.ts';
import type { CommandResult } from './command-result.ts';
import { balanceToChange, type ExchangeState, tradingAccountOf } from './exchange-state.ts';

/** The accounts whose balances orders trade. Every owner has one of each. */
export const accountTypes = ['spot', 'collateral'] as const;
export type AccountType = (typeof accountTypes)[number];

/** Sets a balance of the spot or the collateral account, as a deposit or withdrawal would. */
export interface SetFundsCommand {
  readonly kind: 'set_funds';
  readonly atMs: number;
  readonly account: string;
  readonly of: AccountType;
  readonly ticker: string;
  /** What the account holds afterwards, funds reserved for orders included. */
  readonly amount: Decimal;
}

/** @throws RangeError for an unknown account, a negative amount, or one below what orders reserve */
export function setFunds(state: ExchangeState, command: SetFundsCommand): CommandResult {
  const { account, of, ticker, amount } = command;
  if (amount.lt(zero)) throw new RangeError(`a balance must not be below 0; ${formatDecimal(amount)} is`);
  const { spot, collateral } = tradingAccountOf(state, account);
  const balance = balanceToChange(of === 'spot' ? spot : collateral.balances, ticker);
  if (amount.lt(balance.reserved))
    throw new RangeError(
      `the ${of} balance of account "${account}" cannot be ${formatDecimal(amount)} ${ticker}: open orders reserve ${formatDecimal(balance.reserved)}; cancel them first`,
    );
  balance.available = amount.minus(balance.reserved);
  return { result: 'set' };
}
