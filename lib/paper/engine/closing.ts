import { zero } from '../../base/decimal.ts';
import { type CommandResult, refused } from './command-result.ts';
import { addChecked } from './creating.ts';
import { collateralAccountOf, type ExchangeState } from './exchange-state.ts';
import { draftOrder } from './order-life.ts';
import type { Position } from './position-records.ts';
import { endOrder } from './stop-loss-take-profit.ts';

export interface ClosePositionCommand {
  readonly kind: 'close_position';
  readonly atMs: number;
  readonly account: string;
  readonly market: string;
  readonly positionId: number;
}

/** Closes a position with a market order, after its stop-loss and take-profit orders are cancelled. */
export function closePosition(state: ExchangeState, command: ClosePositionCommand): CommandResult {
  const { account, market, positionId, atMs } = command;
  const position = [...collateralAccountOf(state, account).positions.values()].find(
    (each) => each.positionId === positionId && each.market === market,
  );
  if (position === undefined) return refused('position_not_found');
  cancelAttached(state, account, position, atMs);
  const draft = draftOrder({
    account,
    market,
    type: 'market',
    side: position.amount.gt(zero) ? 'sell' : 'buy',
    amount: position.amount.abs(),
    price: null,
    activationPrice: null,
    activationCondition: null,
    postOnly: false,
    ioc: false,
    reduceOnly: true,
    stp: 'no',
    clientOrderId: '',
    positionSide: position.side,
    statedSide: position.side,
    createdAtMs: atMs,
    parentId: null,
  });
  return { result: 'order', order: addChecked(state, draft) };
}

function cancelAttached(state: ExchangeState, account: string, position: Position, atMs: number): void {
  for (const order of [...state.open.values()]) {
    const isAttached =
      order.parentId !== null &&
      order.account === account &&
      order.market === position.market &&
      order.positionSide === position.side;
    if (isAttached && state.open.has(order.orderId)) endOrder(state, order, atMs);
  }
}
