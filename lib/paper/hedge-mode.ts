import { zero } from '../base/decimal.ts';
import type { OrderRequest } from '../model/order.ts';
import { marketNamed } from './markets.ts';
import type { RefusalName } from './refusals.ts';
import { booksOf, closesOnly, positionOf, type World } from './world.ts';

export interface SetHedgeModeCommand {
  readonly kind: 'set_hedge_mode';
  readonly atMs: number;
  readonly account: string;
  readonly isHedged: boolean;
}

/**
 * Switches an account between hedge mode and one-way mode.
 *
 * @throws RangeError for an account the exchange does not have, or one with an order or a position on a perpetual market
 */
export function setHedgeMode(world: World, { account, isHedged }: SetHedgeModeCommand): void {
  const books = booksOf(world, account);
  const hasOrders = [...world.open.values()].some(
    (order) => order.account === account && isPerpetual(order.market),
  );
  const hasPosition = [...books.positions.values()].some(({ amount }) => !amount.eq(zero));
  if (hasOrders || hasPosition)
    throw new RangeError(
      `account "${account}" cannot change its mode while it has orders or positions on a perpetual market; cancel and close them first`,
    );
  books.isHedged = isHedged;
}

/**
 * Checks the side of the position that an order names against the mode of its account. The mode is for perpetual
 * markets only: everywhere else an order names no side, or BOTH.
 *
 * @see https://docs.whitebit.com/glossary
 */
export function checkPositionSide(world: World, account: string, order: OrderRequest): RefusalName | null {
  const { market, amount, positionSide = 'BOTH' } = order;
  const { isHedged } = booksOf(world, account);
  if (isHedged && !isPerpetual(market)) return positionSide === 'BOTH' ? null : 'position_side_futures_only';
  if (isHedged === (positionSide === 'BOTH')) return 'position_side_mismatch';
  if (!closesOnly({ ...order, positionSide })) return null;
  const position = positionOf(world, { account, market, positionSide });
  return amount.gt(position.amount.abs()) ? 'position_opposite' : null;
}

function isPerpetual(market: string): boolean {
  return marketNamed(market).settlement === 'perpetual';
}
