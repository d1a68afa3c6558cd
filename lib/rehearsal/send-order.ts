import type { RehearsalStep } from '../account/rehearsed.ts';
import { formatDecimal } from '../base/decimal.ts';
import { describeFailure, ExchangeError } from '../exchange/errors.ts';
import type { Order, OrderRequest } from '../model/order.ts';
import { prepareOrder } from '../orders/order-types.ts';
import type { Stage } from './stage.ts';

/** What became of an order of the rehearsal. */
export type SendResult =
  | { readonly kind: 'placed'; readonly order: Order; readonly request: OrderRequest }
  /** The exchange refused it, and has no such order. `fields`: what it complains of. */
  | { readonly kind: 'refused'; readonly text: string; readonly fields: readonly string[] }
  /** Nobody knows whether there is such an order. */
  | { readonly kind: 'unclear'; readonly text: string };

/** The client order ids of rehearsals begin so: whoever sees such an order knows whose it is. */
const idPrefix = 'rehearse';

/** An order of a rehearsal, without its names. */
export type AskedOrder = Omit<OrderRequest, 'market' | 'clientOrderId'>;

/**
 * Writes the order down, then sends it once. Where the exchange refuses it because the account is in hedge mode, another one
 * names the side of the position that it opens.
 *
 * @throws RelayError `store_unavailable`: nothing was sent
 */
export async function sendOrder(stage: Stage, step: RehearsalStep, asked: AskedOrder): Promise<SendResult> {
  const result = await sendNoted(stage, step, asked);
  const wantsSide = result.kind === 'refused' && result.fields.includes('hedgeMode');
  if (!wantsSide || stage.ground !== 'futures' || asked.positionSide !== undefined) return result;
  return await sendNoted(stage, step, { ...asked, positionSide: asked.side === 'buy' ? 'LONG' : 'SHORT' });
}

async function sendNoted(stage: Stage, step: RehearsalStep, asked: AskedOrder): Promise<SendResult> {
  const { book, clock, market } = stage;
  const atMs = clock.nowMs();
  const clientOrderId = nextId(step, atMs, book.noted);
  const text = (price: AskedOrder['stopLoss']) => (price === undefined ? null : formatDecimal(price));
  await book.note({
    clientOrderId,
    market: market.name,
    side: asked.side,
    step,
    atMs,
    stopLoss: text(asked.stopLoss),
    takeProfit: text(asked.takeProfit),
    ...(asked.positionSide === undefined ? {} : { positionSide: asked.positionSide }),
  });
  const result = await send(stage, { ...asked, market: market.name, clientOrderId });
  if (result.kind === 'refused') await book.forget([{ clientOrderId }]);
  return result;
}

/** Sends a second order with the client order id of one that is open. The exchange should refuse it. */
export async function sendSameOrder(stage: Stage, asked: OrderRequest): Promise<SendResult> {
  return await send(stage, asked);
}

async function send({ client, limits }: Stage, request: OrderRequest): Promise<SendResult> {
  try {
    const order = await prepareOrder(client, request).send(limits);
    const isAsked =
      order.clientOrderId === request.clientOrderId &&
      order.market === request.market &&
      order.side === request.side;
    if (isAsked) return { kind: 'placed', order, request };
    return { kind: 'unclear', text: 'the response reports another order than the one that was sent' };
  } catch (error) {
    if (!(error instanceof ExchangeError)) throw error;
    const { failure } = error;
    const text = describeFailure(failure);
    if (failure.kind === 'rejected') return { kind: 'refused', text, fields: Object.keys(failure.errors) };
    return failure.kind === 'not_sent' ? { kind: 'refused', text, fields: [] } : { kind: 'unclear', text };
  }
}

/** Unique among the open orders of the market, and within what the exchange takes. */
function nextId(step: RehearsalStep, atMs: number, count: number): string {
  return `${idPrefix}-${step}-${atMs.toString(36)}-${count}`;
}
