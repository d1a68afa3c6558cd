import { ceilToStep, floorToStep, parseDecimal } from '../base/decimal.ts';
import { listGroups } from '../exchange/list-groups.ts';
import { listOpenOrders } from '../exchange/list-open-orders.ts';
import type { Order } from '../model/order.ts';
import { cancelNamed } from './end-sent.ts';
import { stopAt } from './rehearsal-book.ts';
import { sendOrder } from './send-order.ts';
import {
  askUntilSeen,
  farPrice,
  noPrices,
  readPrices,
  type Stage,
  smallestAmount,
  type TrialStep,
} from './stage.ts';

const stopLossRate = parseDecimal('0.97');
const takeProfitRate = parseDecimal('1.03');

export const plannedExits: TrialStep = {
  name: '5',
  title: 'place a limit order far below the price with a stop-loss and a take-profit, and cancel it',
  async run(stage) {
    // There the exchange takes neither with an order: the relay places the stop-loss itself.
    if (stage.ground === 'spot') return { passed: true, found: { exits: 'not on spot' } };
    const prices = await readPrices(stage);
    if (prices === null) return stopAt(noPrices);
    const { market } = stage;
    const price = farPrice(prices, market);
    const stopLoss = floorToStep(price.times(stopLossRate), market.priceStep);
    const takeProfit = ceilToStep(price.times(takeProfitRate), market.priceStep);
    const amount = smallestAmount(stopLoss, market);
    const sent = await sendOrder(stage, '5', {
      type: 'limit',
      side: 'buy',
      amount,
      price,
      stopLoss,
      takeProfit,
    });
    if (sent.kind !== 'placed') return stopAt(`an order with a stop-loss and a take-profit: ${sent.text}`);
    const { order } = sent;
    const places = await askUntilSeen(stage, () => findPlaces(stage, order));
    if (places === null) return stopAt('no list shows an order with a stop-loss and a take-profit');
    await cancelNamed(stage, { market: market.name, orderId: order.orderId });
    const gone = await askUntilSeen(stage, async () =>
      (await findPlaces(stage, order)) === null ? { isGone: true } : null,
    );
    if (gone === null)
      return stopAt('an order was cancelled, and the lists show it or its exits all the same');
    const { groups, orders } = places.value;
    const listedIn = [...(groups ? ['conditional-orders'] : []), ...(orders ? ['orders'] : [])].join(', ');
    const named = order.oto === undefined ? 'not in the answer' : 'in the answer, as oto';
    return { passed: true, found: { exits: named, listedIn, listedAfterMs: places.afterMs } };
  },
};

interface Places {
  readonly groups: boolean;
  readonly orders: boolean;
}

/** @returns null when no list shows it */
async function findPlaces({ client, market, limits }: Stage, { orderId }: Order): Promise<Places | null> {
  const { groups } = await listGroups(client, market.name, limits);
  const { orders } = await listOpenOrders(client, market.name, limits);
  const inGroups = groups.some((group) => group.kind === 'oto' && group.primary.orderId === orderId);
  const inOrders = orders.some((order) => order.orderId === orderId);
  return inGroups || inOrders ? { groups: inGroups, orders: inOrders } : null;
}
