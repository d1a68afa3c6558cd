import type { TradingGround } from '../../model/account.ts';
import type { PositionSide } from '../../model/order.ts';
import { type CommandResult, refused } from './command-result.ts';
import { type ExchangeState, isSpotOrder, type PaperOrder } from './exchange-state.ts';
import { marketNamed } from './markets.ts';
import { endOrder } from './stop-loss-take-profit.ts';

export interface CancelCommand {
  readonly kind: 'cancel';
  readonly atMs: number;
  readonly account: string;
  readonly market: string;
  readonly orderId: number;
}

export interface CancelAllCommand {
  readonly kind: 'cancel_all';
  readonly atMs: number;
  readonly account: string;
  /** Null: all markets. */
  readonly market: string | null;
  /** Where the orders trade that are meant. */
  readonly types: readonly TradingGround[];
  /** Null: every side. */
  readonly positionSide: PositionSide | null;
}

/** Cancels an open pair, or an open order that has a stop-loss or take-profit planned. */
export interface CancelConditionalCommand {
  readonly kind: 'cancel_conditional';
  readonly atMs: number;
  readonly account: string;
  readonly market: string;
  /** The `ocoId` of the pair or the `otoId` of the order. */
  readonly id: number;
}

export function cancelOne(state: ExchangeState, command: CancelCommand): CommandResult {
  const order = state.open.get(command.orderId);
  if (order?.account !== command.account || order.market !== command.market)
    return refused('order_not_found');
  // A cancellation is no trade: the take-profit and stop-loss of a filled part can only fill at the next
  // trade.
  endOrder(state, order, command.atMs);
  return { result: 'order', order };
}

/**
 * Cancels every order that matches, stops and pairs included; the service does not say whether it takes those.
 *
 * The take-profit and stop-loss that it places for the filled part of an order stay: they are newer than the request.
 */
export function cancelMatching(state: ExchangeState, command: CancelAllCommand): CommandResult {
  const matching = [...state.open.values()].filter((order) => isMeant(order, command));
  // The end of one leg of a pair ends the other.
  for (const order of matching) if (state.open.has(order.orderId)) endOrder(state, order, command.atMs);
  return { result: 'set' };
}

function isMeant(order: PaperOrder, { account, market, types, positionSide }: CancelAllCommand): boolean {
  return (
    order.account === account &&
    (market === null || order.market === market) &&
    types.includes(groundOf(order)) &&
    (positionSide === null || order.positionSide === positionSide)
  );
}

function groundOf(order: PaperOrder): TradingGround {
  if (isSpotOrder(order)) return 'spot';
  return marketNamed(order.market).settlement === 'perpetual' ? 'futures' : 'margin';
}

export function endConditional(state: ExchangeState, command: CancelConditionalCommand): CommandResult {
  const order = [...state.open.values()].find(
    ({ account, market, ocoId, oto }) =>
      account === command.account &&
      market === command.market &&
      (ocoId === command.id || oto?.otoId === command.id),
  );
  if (order === undefined) return refused('conditional_not_found');
  endOrder(state, order, command.atMs);
  return { result: 'order', order };
}
