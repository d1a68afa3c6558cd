import type { Decimal } from '../base/decimal.ts';
import type { OrderRequest } from '../model/order.ts';
import { amountToHold, canHold, setHold } from './balances.ts';
import {
  type ClientOrderKey,
  type ExchangeState,
  lastPriceOf,
  ordersByClientOrderId,
  type PaperOrder,
} from './exchange-state.ts';
import { checkPositionSide, type SetHedgeModeCommand, setHedgeMode } from './hedge-mode.ts';
import { applyMainAccountCommand, type MainAccountCommand } from './main-account.ts';
import { matchTrade, meetLastPrice } from './matching.ts';
import { addOrder, draftOrder } from './order-life.ts';
import type { RefusalName } from './refusals.ts';
import { endOrder } from './stop-loss-take-profit.ts';

/** A requested order whose fields were checked against its market. An empty client order id means none. */
export type NewOrder = OrderRequest & { readonly stp: string };

export interface CreateCommand {
  readonly kind: 'create';
  readonly atMs: number;
  readonly account: string;
  readonly order: NewOrder;
}

export interface CancelCommand {
  readonly kind: 'cancel';
  readonly atMs: number;
  readonly account: string;
  readonly market: string;
  readonly orderId: number;
}

/** One trade in the market, between others. */
export interface TradeCommand {
  readonly kind: 'trade';
  readonly atMs: number;
  readonly market: string;
  readonly price: Decimal;
  /** How much of the resting orders it can fill, in base units; null means unlimited. */
  readonly volume: Decimal | null;
}

/**
 * Every change of the exchange state. Replaying the same commands on a new state always gives the same state.
 */
export type Command = CreateCommand | CancelCommand | TradeCommand | SetHedgeModeCommand | MainAccountCommand;

export type CommandResult =
  | { readonly result: 'order'; readonly order: PaperOrder }
  | { readonly result: 'refused'; readonly refusal: RefusalName }
  /** `touched` is whether any order changed; if none did, only the last price has. */
  | { readonly result: 'traded'; readonly touched: boolean }
  | { readonly result: 'set' };

/**
 * Applies a command to the state. A refused command changes nothing.
 *
 * @throws RangeError when a balance, a transfer fee, an interest payment or a hedge mode cannot be set
 */
export function applyCommand(state: ExchangeState, command: Command): CommandResult {
  switch (command.kind) {
    case 'create':
      return createOrder(state, command);
    case 'cancel':
      return cancelOrder(state, command);
    case 'trade':
      return { result: 'traded', touched: matchTrade(state, command) };
    case 'set_hedge_mode':
      setHedgeMode(state, command);
      return { result: 'set' };
    case 'set_balance':
    case 'set_fee':
    case 'pay_interest':
      applyMainAccountCommand(state.mainAccount, command);
      return { result: 'set' };
  }
}

function createOrder(state: ExchangeState, command: CreateCommand): CommandResult {
  const { order: asked, account, atMs } = command;
  if (findOpenByClientOrderId(state, { ...asked, account }) !== undefined)
    return { result: 'refused', refusal: 'client_order_id_used' };
  const misplaced = checkPositionSide(state, account, asked);
  if (misplaced !== null) return { result: 'refused', refusal: misplaced };
  const activation = activationOf(state, asked);
  if (activation === null) return { result: 'refused', refusal: 'activation_at_last_price' };
  const { type, stopLoss = null, takeProfit = null, positionSide = 'BOTH', ...fields } = asked;
  const draft = draftOrder({
    ...fields,
    account,
    positionSide,
    ...activation,
    type,
    createdAtMs: atMs,
  });
  const units = amountToHold(state, draft);
  if (!canHold(state, draft, units)) return { result: 'refused', refusal: 'balance_too_small' };
  const order = addOrder(state, draft, { stopLoss, takeProfit });
  setHold(state, order, units);
  state.acceptedOrderIds.push(order.orderId);
  meetLastPrice(state, order);
  return { result: 'order', order };
}

type Activation = Pick<PaperOrder, 'activationPrice' | 'activationCondition'>;

/**
 * The trigger of the order, if it has one; null if the trigger price equals the last price and has no
 * direction.
 */
function activationOf(state: ExchangeState, asked: NewOrder): Activation | null {
  const { activationPrice, market } = asked;
  if (activationPrice === undefined) return { activationPrice: null, activationCondition: null };
  const lastPrice = lastPriceOf(state, market);
  if (activationPrice.eq(lastPrice)) return null;
  // The direction follows from the last price, not from the side.
  return { activationPrice, activationCondition: activationPrice.gt(lastPrice) ? 'gte' : 'lte' };
}

function cancelOrder(state: ExchangeState, command: CancelCommand): CommandResult {
  const order = state.open.get(command.orderId);
  if (order?.account !== command.account || order.market !== command.market)
    return { result: 'refused', refusal: 'order_not_found' };
  // A cancellation is no trade: the take-profit and stop-loss of a filled part can only fill at the next
  // trade.
  endOrder(state, order, command.atMs);
  return { result: 'order', order };
}

/** The open order with this client order id. The ids of ended orders may be reused. */
export function findOpenByClientOrderId(state: ExchangeState, key: ClientOrderKey): PaperOrder | undefined {
  if (key.clientOrderId === '') return undefined;
  return ordersByClientOrderId(state, key).find((order) => state.open.has(order.orderId));
}
