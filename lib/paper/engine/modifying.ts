import { type CommandResult, refused } from './command-result.ts';
import { addChecked, checkDraft, draftFor, type NewOrder, type OrderTrigger, triggerOf } from './creating.ts';
import { type ExchangeState, isSpotOrder, type PaperOrder } from './exchange-state.ts';
import { checkPositionSide } from './hedge-mode.ts';
import { moveOrder } from './order-life.ts';
import type { RefusalName } from './refusals.ts';

/** Replaces an open order by a new one with another id. */
export interface ModifyCommand {
  readonly kind: 'modify';
  readonly atMs: number;
  readonly account: string;
  readonly orderId: number;
  /** The new order. Its market, type, side and client order id are those of the old one. */
  readonly order: NewOrder;
}

/**
 * Cancels an open order and places another in its stead, behind the others of its price. What was filled already stays
 * with the old one. A refused modification leaves the old one as it is.
 *
 * @see https://docs.whitebit.com/api-reference/spot-trading/modify-order
 */
export function modifyOrder(state: ExchangeState, command: ModifyCommand): CommandResult {
  const { account, orderId, order: asked, atMs } = command;
  const old = state.open.get(orderId);
  if (old?.account !== account || old.market !== asked.market) return refused('order_not_found');
  const unfit = checkModifiable(old) ?? checkSide(state, account, asked);
  if (unfit !== null) return refused(unfit);
  const trigger = triggerAfter(state, old, asked);
  if (trigger === null) return refused('activation_at_last_price');
  const draft = draftFor(state, { order: asked, account, atMs }, trigger);
  draft.activated = old.activated;
  // For the checks it stands in the place of the old order, whose funds and offers are as good as free.
  const refusal = checkDraft(state, { ...draft, orderId, reserved: old.reserved });
  if (refusal !== null) return refused(refusal);
  moveOrder(state, old, 'cancelled', atMs);
  return { result: 'order', order: addChecked(state, draft) };
}

/** Neither the legs of pairs nor orders with planned exits can be modified, nor exits that the exchange made. */
export function checkModifiable({ parentId, ocoId, oto }: PaperOrder): RefusalName | null {
  if (parentId !== null) return 'modify_exit';
  return ocoId !== null || oto !== null ? 'modify_conditional' : null;
}

function checkSide(state: ExchangeState, account: string, asked: NewOrder): RefusalName | null {
  return isSpotOrder(asked) ? null : checkPositionSide(state, account, asked);
}

/** A trigger price that stays keeps its direction. */
function triggerAfter(state: ExchangeState, old: PaperOrder, asked: NewOrder): OrderTrigger | null {
  const { activationPrice, activationCondition } = old;
  const stays = activationPrice === null || asked.activationPrice?.eq(activationPrice);
  return stays ? { activationPrice, activationCondition } : triggerOf(state, asked);
}
