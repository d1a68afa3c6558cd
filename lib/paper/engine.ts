import type { Decimal } from '../base/decimal.ts';
import type { OrderRequest } from '../model/order.ts';
import { amountToHold, canHold, setHold } from './balances.ts';
import { checkPositionSide, type SetHedgeModeCommand, setHedgeMode } from './hedge-mode.ts';
import { matchTrade, meetLastPrice } from './matching.ts';
import { addOrder, draftOrder } from './order-life.ts';
import type { RefusalName } from './refusals.ts';
import { endOrder } from './stop-loss-take-profit.ts';
import { applyTreasuryCommand, type TreasuryCommand } from './treasury.ts';
import {
  type ClientOrderKey,
  lastPriceOf,
  ordersByClientOrderId,
  type PaperOrder,
  type World,
} from './world.ts';

/** An order as asked for, its fields checked against its market; an empty client order id stands for none. */
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

/** One trade of the market at large. */
export interface TradeCommand {
  readonly kind: 'trade';
  readonly atMs: number;
  readonly market: string;
  readonly price: Decimal;
  /** How much of the orders here it can fill, in base units; null is without bounds. */
  readonly volume: Decimal | null;
}

/** Everything that can happen to the world. The same commands on a new world always make the same world. */
export type Command = CreateCommand | CancelCommand | TradeCommand | SetHedgeModeCommand | TreasuryCommand;

export type CommandResult =
  | { readonly result: 'order'; readonly order: PaperOrder }
  | { readonly result: 'refused'; readonly refusal: RefusalName }
  /** `touched` is whether any order changed; if none did, only the last price has. */
  | { readonly result: 'traded'; readonly touched: boolean }
  | { readonly result: 'set' };

/**
 * Changes the world as the command says; a refused command changes nothing.
 *
 * @throws RangeError when a balance, a fee, a payment or a mode cannot be as the command says
 */
export function applyCommand(world: World, command: Command): CommandResult {
  switch (command.kind) {
    case 'create':
      return createOrder(world, command);
    case 'cancel':
      return cancelOrder(world, command);
    case 'trade':
      return { result: 'traded', touched: matchTrade(world, command) };
    case 'set_hedge_mode':
      setHedgeMode(world, command);
      return { result: 'set' };
    case 'set_balance':
    case 'set_fee':
    case 'pay_interest':
      applyTreasuryCommand(world.treasury, command);
      return { result: 'set' };
  }
}

function createOrder(world: World, command: CreateCommand): CommandResult {
  const { order: asked, account, atMs } = command;
  if (findOpenByClientOrderId(world, { ...asked, account }) !== undefined)
    return { result: 'refused', refusal: 'client_order_id_used' };
  const misplaced = checkPositionSide(world, account, asked);
  if (misplaced !== null) return { result: 'refused', refusal: misplaced };
  const activation = activationOf(world, asked);
  if (activation === null) return { result: 'refused', refusal: 'activation_at_last_price' };
  const { kind, stopLoss = null, takeProfit = null, positionSide = 'BOTH', ...fields } = asked;
  const draft = draftOrder({
    ...fields,
    account,
    positionSide,
    ...activation,
    type: kind,
    createdAtMs: atMs,
  });
  const units = amountToHold(world, draft);
  if (!canHold(world, draft, units)) return { result: 'refused', refusal: 'balance_too_small' };
  const order = addOrder(world, draft, { stopLoss, takeProfit });
  setHold(world, order, units);
  world.acceptedOrderIds.push(order.orderId);
  meetLastPrice(world, order);
  return { result: 'order', order };
}

type Activation = Pick<PaperOrder, 'activationPrice' | 'activationCondition'>;

/** What the order waits for, if it waits; null for an activation price at the last price, which has no direction. */
function activationOf(world: World, asked: NewOrder): Activation | null {
  if (!('activationPrice' in asked)) return { activationPrice: null, activationCondition: null };
  const { activationPrice, market } = asked;
  const lastPrice = lastPriceOf(world, market);
  if (activationPrice.eq(lastPrice)) return null;
  // The direction comes from where the price stands, not from the side.
  return { activationPrice, activationCondition: activationPrice.gt(lastPrice) ? 'gte' : 'lte' };
}

function cancelOrder(world: World, command: CancelCommand): CommandResult {
  const order = world.open.get(command.orderId);
  if (order?.account !== command.account || order.market !== command.market)
    return { result: 'refused', refusal: 'order_not_found' };
  // No trade comes with a cancellation: exits for a filled part wait for the next one.
  endOrder(world, order, command.atMs);
  return { result: 'order', order };
}

/** The one open order with this client order id; ended orders leave their ids free for others. */
export function findOpenByClientOrderId(world: World, key: ClientOrderKey): PaperOrder | undefined {
  if (key.clientOrderId === '') return undefined;
  return ordersByClientOrderId(world, key).find((order) => world.open.has(order.orderId));
}
