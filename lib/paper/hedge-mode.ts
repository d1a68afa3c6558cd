import type { OrderRequest } from '../model/order.ts';
import { type CommandResult, refused } from './command-result.ts';
import { collateralAccountOf, type ExchangeState } from './exchange-state.ts';
import { marketNamed } from './markets.ts';
import { closesOnly, positionAmountOf } from './positions.ts';
import type { RefusalName } from './refusals.ts';

export interface SetHedgeModeCommand {
  readonly kind: 'set_hedge_mode';
  readonly atMs: number;
  readonly account: string;
  readonly isHedged: boolean;
}

/**
 * Switches an account between hedge mode and one-way mode. It is refused while the account has an open order or a
 * position on a perpetual market.
 */
export function setHedgeMode(
  state: ExchangeState,
  { account, isHedged }: SetHedgeModeCommand,
): CommandResult {
  const collateralAccount = collateralAccountOf(state, account);
  const hasOrders = [...state.open.values()].some(
    (order) => order.account === account && isPerpetual(order.market),
  );
  const hasPosition = [...collateralAccount.positions.values()].some(({ market }) => isPerpetual(market));
  if (hasOrders || hasPosition) return refused('hedge_mode_in_use');
  collateralAccount.isHedged = isHedged;
  return { result: 'set' };
}

/**
 * Checks the position side of an order against the mode of its account. Hedge mode applies to perpetual
 * markets only: on other markets an order has no position side, or BOTH.
 *
 * @see https://docs.whitebit.com/glossary
 */
export function checkPositionSide(
  state: ExchangeState,
  account: string,
  order: OrderRequest,
): RefusalName | null {
  const { market, side, amount, positionSide = 'BOTH', reduceOnly = false } = order;
  const { isHedged } = collateralAccountOf(state, account);
  if (isHedged && !isPerpetual(market)) return positionSide === 'BOTH' ? null : 'position_side_futures_only';
  if (isHedged === (positionSide === 'BOTH')) return 'position_side_mismatch';
  // A reduce-only order is trimmed to the position instead.
  if (reduceOnly || !closesOnly({ side, positionSide, reduceOnly })) return null;
  const position = positionAmountOf(state, { account, market, positionSide });
  return amount.gt(position.abs()) ? 'position_opposite' : null;
}

function isPerpetual(market: string): boolean {
  return marketNamed(market).settlement === 'perpetual';
}
