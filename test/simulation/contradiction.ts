import type { Random } from '../../lib/base/random.ts';
import type { EncodedResponse } from '../../lib/paper/server/exchange.ts';
import { pickOne } from './dice.ts';

type Report = Readonly<Record<string, unknown>>;
type Change = (order: Report) => Report;

const otherMarket: Change = (order) => ({ market: order['market'] === 'BTC_USDT' ? 'ETH_USDT' : 'BTC_USDT' });

/** Changes that make the response to a create report another order. */
const otherOrders: readonly [Change, ...Change[]] = [
  otherMarket,
  (order) => ({ side: order['side'] === 'buy' ? 'sell' : 'buy' }),
  // More than anybody asks for: a smaller amount of an order that only reduces is one that the exchange has cut.
  (order) => ({ amount: `1000000${String(order['amount'])}` }),
  // An order without a limit price reports none, and then nobody compares it.
  (order) => (hasPrice(order) ? { price: `1${String(order['price'])}` } : otherMarket(order)),
];

function hasPrice({ price }: Report): boolean {
  return typeof price === 'string' && Number(price) > 0;
}

/**
 * Changes that make the response to a cancellation report another order, even if only one of its ids is
 * known.
 */
const otherTargets: readonly [Change, ...Change[]] = [
  otherMarket,
  (order) =>
    Object.fromEntries(
      Object.entries(order).flatMap(([name, value]): [string, unknown][] => {
        if (/^order_?id$/i.test(name)) return [[name, Number(value) + 1_000_000]];
        return /^client_?order_?id$/i.test(name) ? [[name, `${String(value)}-other`]] : [];
      }),
    ),
];

/** Changes an acceptance so that it reports another order; null when the response is not an acceptance. */
export function contradictResponse(
  { status, body }: EncodedResponse,
  isCreate: boolean,
  random: Random,
): EncodedResponse | null {
  if (status !== 200) return null;
  const order: Report = JSON.parse(body);
  const change = isCreate ? pickOne(random, otherOrders) : pickOne(random, otherTargets);
  return { status, body: JSON.stringify({ ...order, ...change(order) }) };
}
