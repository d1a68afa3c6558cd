import type { TrialAnswers } from '../account/rehearsed.ts';
import { endedOrder } from '../exchange/endpoints/ended-order.ts';
import { openOrder } from '../exchange/endpoints/open-order.ts';
import { ExchangeError, isHistoryNotFound } from '../exchange/errors.ts';
import type { Order, OrderRequest } from '../model/order.ts';
import { cancelNamed } from './end-sent.ts';
import { stopAt } from './rehearsal-book.ts';
import { type SendResult, sendOrder, sendSameOrder } from './send-order.ts';
import { askUntilSeen, farBuy, noPrices, readPrices, type Stage, type TrialStep } from './stage.ts';

export const restingLimit: TrialStep = {
  name: '2',
  title: 'place a post-only limit order far below the price, send its client order id again, and cancel it',
  async run(stage) {
    const prices = await readPrices(stage);
    if (prices === null) return stopAt(noPrices);
    const sent = await sendOrder(stage, '2', { ...farBuy(stage, prices), postOnly: true });
    if (sent.kind !== 'placed') return stopAt(`a post-only limit order far below the price: ${sent.text}`);
    const { order } = sent;
    const listed = await askUntilSeen(stage, () => findOpen(stage, order));
    if (listed === null) return stopAt('the list of open orders does not show an order that was accepted');
    const { name } = stage.market;
    const again = await sendSameOrder(stage, sent.request);
    const refusal = judgeSecond(again);
    if (refusal === null)
      return stopAt(
        'the exchange took a second order with a client order id that is open: that id names no order any more',
      );
    const cancelled = await cancelNamed(stage, { market: name, orderId: order.orderId });
    if (cancelled === null) return stopAt('the exchange says that an order it lists as open is not open');
    return {
      passed: true,
      found: { listedAfterMs: listed.afterMs, sameId: refusal, ...(await readEnd(stage, order)) },
    };
  },
};

/** The exchange refuses it with code 36, which the client takes for a sign that such an order exists. */
function judgeSecond(again: SendResult): string | null {
  if (again.kind === 'placed') return null;
  return /\bcode 36\b/.test(again.text) ? 'refused with code 36' : again.text;
}

async function findOpen({ client, limits }: Stage, { market, orderId }: Order): Promise<object | null> {
  const { records } = await client.call(openOrder, { market }, limits);
  return records.find((order) => order.orderId === orderId) ?? null;
}

/** A partner's history has no cancelled orders. */
async function readEnd(stage: Stage, order: Order): Promise<TrialAnswers> {
  const ended = await askUntilSeen(stage, () => findEnded(stage, order));
  return ended === null
    ? { cancelledInHistory: false }
    : { cancelledInHistory: true, historyAfterMs: ended.afterMs };
}

async function findEnded(
  { client, limits }: Stage,
  { market, clientOrderId }: Pick<OrderRequest, 'market' | 'clientOrderId'>,
): Promise<object | null> {
  try {
    const { records } = await client.call(endedOrder, { market, clientOrderId }, limits);
    return records.find((order) => order.clientOrderId === clientOrderId) ?? null;
  } catch (error) {
    if (error instanceof ExchangeError && isHistoryNotFound(error)) return null;
    throw error;
  }
}
