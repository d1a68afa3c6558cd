import type { OrderRequest } from '../../model/order.ts';
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
 * Checks the position side of an order on a perpetual market against the mode of its account. Hedge mode applies to
 * perpetual markets only.
 *
 * @see https://docs.whitebit.com/glossary
 */
export function checkPositionSide(
  state: ExchangeState,
  account: string,
  order: OrderRequest,
): RefusalName | null {
  const { market, side, amount, positionSide = 'BOTH', reduceOnly = false } = order;
  if (!isPerpetual(market)) return null;
  const { isHedged } = collateralAccountOf(state, account);
  if (isHedged === (positionSide === 'BOTH')) return 'position_side_mismatch';
  // A reduce-only order is trimmed to the position instead.
  if (reduceOnly || !closesOnly({ side, positionSide, reduceOnly })) return null;
  const position = positionAmountOf(state, { account, market, positionSide });
  return amount.gt(position.abs()) ? 'position_opposite' : null;
}

/**
 * Checks the position side of an order on a margin pair. The written API takes LONG and SHORT there, and answers them.
 * Of the live service one text says that they are ignored, another that they are refused: here they are refused, because
 * a sell that is meant to close a LONG would open a short position otherwise.
 */
export function checkMarginSide(
  state: ExchangeState,
  account: string,
  { market, positionSide = 'BOTH' }: Pick<OrderRequest, 'market' | 'positionSide'>,
): RefusalName | null {
  if (isPerpetual(market) || positionSide === 'BOTH') return null;
  return collateralAccountOf(state, account).isHedged
    ? 'position_side_futures_only'
    : 'position_side_mismatch';
}

export function isPerpetual(market: string): boolean {
  return marketNamed(market).settlement === 'perpetual';
}
