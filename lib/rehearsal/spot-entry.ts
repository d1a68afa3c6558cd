import { ceilToStep, type Decimal, floorToStep, minimum, one, parseDecimal, zero } from '../base/decimal.ts';
import { orderDeals } from '../exchange/endpoints/order-deals.ts';
import { tradeBalance } from '../exchange/endpoints/trade-balance.ts';
import { cancelNamed } from './end-sent.ts';
import { stopAt } from './rehearsal-book.ts';
import { type AskedOrder, sendOrder } from './send-order.ts';
import {
  askUntilSeen,
  noPrices,
  type Prices,
  readPrices,
  type Stage,
  smallestAmount,
  type TrialStep,
} from './stage.ts';

const stopRate = parseDecimal('0.95');
const limitRate = parseDecimal('0.99');

/** The smallest guarded buy on spot, and the stop-loss that the relay places itself there. */
export const spotEntry: TrialStep = {
  name: '6',
  title: 'buy the smallest amount, place a stop-loss for it, cancel that, and sell',
  async run(stage) {
    const prices = await readPrices(stage);
    if (prices === null) return stopAt(noPrices);
    const sent = await sendOrder(stage, '6', buyAt(stage, prices));
    if (sent.kind !== 'placed') return stopAt(`the buy: ${sent.text}`);
    const { orderId, filled } = sent.order;
    if (filled.eq(zero)) return stopAt('the buy has filled nothing; try again');
    const deals = await askUntilSeen(stage, () => readDeals(stage, orderId));
    if (deals === null) return stopAt('the list of deals does not show a buy that has filled');
    const held = await askUntilSeen(stage, () => readHeld(stage, filled));
    if (held === null) return stopAt('the balance does not show what was bought');
    const stop = await sendOrder(stage, '6', stopAtPrice(stage, prices, held.value.amount));
    if (stop.kind !== 'placed') return stopAt(`the stop-loss of what was bought: ${stop.text}`);
    await cancelNamed(stage, { market: stage.market.name, orderId: stop.order.orderId });
    const { feeAsset } = deals.value;
    return { passed: true, found: { dealAfterMs: deals.afterMs, feeIn: feeAsset, stop: 'taken' } };
  },
};

function buyAt({ market, book, slippageRate }: Stage, { ask, bid }: Prices): AskedOrder {
  // What is left after the fee must be enough for the sale.
  const amount = smallestAmount(bid.times(stopRate).times(limitRate).times(stopRate), market);
  if (book.notes.rehearsed['3']?.found['ioc'] === 'refused')
    return { type: 'spot_stock_market', side: 'buy', amount };
  const price = floorToStep(ask.times(one.plus(slippageRate)), market.priceStep);
  return { type: 'spot_limit', side: 'buy', amount, price, ioc: true };
}

function stopAtPrice({ market }: Stage, { bid }: Prices, amount: Decimal): AskedOrder {
  const activationPrice = ceilToStep(bid.times(stopRate), market.priceStep);
  const price = ceilToStep(activationPrice.times(limitRate), market.priceStep);
  return { type: 'spot_stop_limit', side: 'sell', amount, price, activationPrice };
}

async function readDeals({ client, market, limits }: Stage, orderId: number) {
  const { records } = await client.call(orderDeals, { orderId }, limits);
  const [first] = records;
  return first === undefined ? null : { feeAsset: first.feeAsset ?? market.quote };
}

async function readHeld({ client, market, limits }: Stage, filled: Decimal) {
  const { available = zero } = (await client.call(tradeBalance, {}, limits))[market.base] ?? {};
  const amount = floorToStep(minimum(available, filled), market.amountStep);
  // The fee may have been taken of it.
  return amount.gt(filled.times(limitRate)) ? { amount } : null;
}
