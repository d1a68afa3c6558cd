import { zero } from '../../base/decimal.ts';
import { summaryOf } from './collateral.ts';
import { type CommandResult, refused } from './command-result.ts';
import { collateralAccountOf, type ExchangeState, isSpotOrder } from './exchange-state.ts';
import { setHold } from './funds.ts';
import { leverages } from './positions.ts';

export interface SetLeverageCommand {
  readonly kind: 'set_leverage';
  readonly atMs: number;
  readonly account: string;
  readonly leverage: number;
}

/**
 * Changes the leverage of an account, and with it the margin of its positions and open orders. A lower leverage is
 * refused when the account lacks the funds for it.
 */
export function setLeverage(state: ExchangeState, { account, leverage }: SetLeverageCommand): CommandResult {
  const collateral = collateralAccountOf(state, account);
  if (!leverages.includes(leverage)) return refused('leverage_unknown');
  const before = collateral.leverage;
  changeTo(state, account, leverage);
  const isCovered = leverage >= before || summaryOf(state, account).freeMargin.gte(zero);
  if (isCovered) return { result: 'set' };
  changeTo(state, account, before);
  return refused('leverage_not_covered');
}

function changeTo(state: ExchangeState, account: string, leverage: number): void {
  collateralAccountOf(state, account).leverage = leverage;
  for (const order of state.open.values())
    if (order.account === account && !isSpotOrder(order)) setHold(state, order, order.heldAmount);
}
