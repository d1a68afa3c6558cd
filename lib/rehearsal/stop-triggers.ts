import { ceilToStep, type Decimal, floorToStep, parseDecimal, zero } from '../base/decimal.ts';
import type { Order } from '../model/order.ts';
import { stopAt } from './rehearsal-book.ts';
import { type SendResult, sendOrder } from './send-order.ts';
import {
  farPrice,
  noPrices,
  type Prices,
  readPrices,
  type Stage,
  smallestAmount,
  type TrialStep,
} from './stage.ts';

/** Far enough that no trade of the next seconds reaches it. */
const aboveRate = parseDecimal('1.1');
const belowRate = parseDecimal('0.9');

/**
 * The exchange's documents disagree: one derives the direction from the side of the order, another from the last price. A
 * buy below the last price tells. Its limit price lies so low that it fills nothing, even if it triggers at once.
 */
export const stopTriggers: TrialStep = {
  name: '4',
  title: 'place a buy stop-limit order on each side of the last price, and cancel both',
  async run(stage) {
    const prices = await readPrices(stage);
    if (prices === null) return stopAt(noPrices);
    const { priceStep } = stage.market;
    const above = await sendStop(stage, prices, ceilToStep(prices.last.times(aboveRate), priceStep));
    if (above.kind !== 'placed') return stopAt(`a buy stop-limit order above the last price: ${above.text}`);
    const usual = above.order.activationCondition;
    if (usual !== 'gte')
      return stopAt(
        `a buy stop above the last price should wait for a rise; the exchange says "${usual ?? 'nothing'}"`,
      );
    const below = await sendStop(stage, prices, floorToStep(prices.last.times(belowRate), priceStep));
    return judgeBelow(below);
  },
};

function judgeBelow(below: SendResult) {
  if (below.kind === 'unclear') return stopAt(`a buy stop-limit order below the last price: ${below.text}`);
  if (below.kind === 'refused')
    return below.fields.some((field) => field.toLowerCase().startsWith('activation'))
      ? { passed: true as const, found: { trigger: 'by_side', answer: below.text } }
      : stopAt(`a buy stop-limit order below the last price: ${below.text}`);
  const { order } = below;
  if (order.filled.gt(zero)) return stopAt('a buy far below the price has filled');
  const trigger = triggerOf(order);
  return trigger === null
    ? stopAt('the exchange does not say which way a buy stop below the last price waits')
    : { passed: true as const, found: { trigger } };
}

function triggerOf({ activationCondition, activated }: Order): 'by_price' | 'by_side' | null {
  if (activationCondition === 'gte' || activated === true) return 'by_side';
  return activationCondition === 'lte' ? 'by_price' : null;
}

async function sendStop(stage: Stage, prices: Prices, activationPrice: Decimal): Promise<SendResult> {
  const price = farPrice(prices, stage.market);
  const amount = smallestAmount(price, stage.market);
  const type = stage.ground === 'spot' ? 'spot_stop_limit' : 'stop_limit';
  return await sendOrder(stage, '4', { type, side: 'buy', amount, price, activationPrice });
}
