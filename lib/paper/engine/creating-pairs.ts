import { zero } from '../../base/decimal.ts';
import { type CommandResult, refused } from './command-result.ts';
import { checkAsked, draftFor, type NewOrder, triggerOf } from './creating.ts';
import { type ExchangeState, type PaperOrder, takeId } from './exchange-state.ts';
import { amountToHold, canHold } from './funds.ts';
import { addOrder } from './order-life.ts';
import type { RefusalName } from './refusals.ts';
import { addPair, holdForPair } from './stop-loss-take-profit.ts';
import { wouldTake } from './taking.ts';

/** The legs of a requested pair, whose fields were checked. They have market, side, amount and names in common. */
export interface NewPair {
  readonly stopLoss: NewOrder;
  readonly takeProfit: NewOrder;
}

/** Places a stop-loss and a take-profit of which one cancels the other. */
export interface CreatePairCommand extends NewPair {
  readonly kind: 'create_pair';
  readonly atMs: number;
  readonly account: string;
}

/**
 * Places a pair on the collateral account, unless one of its checks refuses it. The order of the result is its stop-loss.
 *
 * @see https://docs.whitebit.com/api-reference/collateral-trading/create-collateral-oco-order
 */
export function createPair(state: ExchangeState, command: CreatePairCommand): CommandResult {
  const { account, atMs, stopLoss, takeProfit } = command;
  const refusal = checkAsked(state, account, stopLoss);
  if (refusal !== null) return refused(refusal);
  const trigger = triggerOf(state, stopLoss);
  if (trigger === null) return refused('activation_at_last_price');
  const noTrigger = { activationPrice: null, activationCondition: null };
  const stop = draftFor(state, { order: stopLoss, account, atMs }, trigger);
  const profit = draftFor(state, { order: takeProfit, account, atMs }, noTrigger);
  const unfit = checkLegs(state, stop, profit);
  if (unfit !== null) return refused(unfit);
  return { result: 'order', order: addLegs(state, stop, profit) };
}

function checkLegs(state: ExchangeState, stop: PaperOrder, profit: PaperOrder): RefusalName | null {
  if (stop.reduceOnly && stop.amount.eq(zero)) return 'reduce_only_no_position';
  if (wouldTake(state, profit)) return 'pair_take_profit_would_take';
  // A stop-loss lies on the other side of the market than its take-profit.
  if (stop.activationCondition !== (stop.side === 'sell' ? 'lte' : 'gte')) return 'pair_stop_loss_wrong_side';
  return canHold(state, stop, amountToHold(state, stop)) ? null : 'collateral_too_small';
}

function addLegs(state: ExchangeState, stop: PaperOrder, profit: PaperOrder): PaperOrder {
  const pairId = takeId(state);
  const stopLoss = addOrder(state, stop);
  addPair(state, pairId, stopLoss, addOrder(state, profit));
  holdForPair(state, stopLoss, stopLoss.createdAtMs);
  // One request, one id, although both legs are orders.
  state.acceptedOrderIds.push(stopLoss.orderId);
  return stopLoss;
}
