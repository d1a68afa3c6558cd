import { zero } from '../base/decimal.ts';
import type { OrderRequest } from '../model/order.ts';
import { closesOnly, collateralAccountOf, type ExchangeState, positionOf } from './exchange-state.ts';
import { marketNamed } from './markets.ts';
import type { RefusalName } from './refusals.ts';

export interface SetHedgeModeCommand {
  readonly kind: 'set_hedge_mode';
  readonly atMs: number;
  readonly account: string;
  readonly isHedged: boolean;
}

/**
 * Switches an account between hedge mode and one-way mode.
 *
 * @throws RangeError for an unknown account, or one with an open order or a position on a perpetual market
 */
export function setHedgeMode(state: ExchangeState, { account, isHedged }: SetHedgeModeCommand): void {
  const collateralAccount = collateralAccountOf(state, account);
  const hasOrders = [...state.open.values()].some(
    (order) => order.account === account && isPerpetual(order.market),
  );
  const hasPosition = [...collateralAccount.positions.values()].some(({ amount }) => !amount.eq(zero));
  if (hasOrders || hasPosition)
    throw new RangeError(
      `account "${account}" cannot change its mode while it has orders or positions on a perpetual market; cancel and close them first`,
    );
  collateralAccount.isHedged = isHedged;
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
  const { market, amount, positionSide = 'BOTH' } = order;
  const { isHedged } = collateralAccountOf(state, account);
  if (isHedged && !isPerpetual(market)) return positionSide === 'BOTH' ? null : 'position_side_futures_only';
  if (isHedged === (positionSide === 'BOTH')) return 'position_side_mismatch';
  if (!closesOnly({ ...order, positionSide })) return null;
  const position = positionOf(state, { account, market, positionSide });
  return amount.gt(position.amount.abs()) ? 'position_opposite' : null;
}

function isPerpetual(market: string): boolean {
  return marketNamed(market).settlement === 'perpetual';
}
