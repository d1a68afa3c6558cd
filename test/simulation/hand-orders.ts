import { pickOne, rollWhole } from './dice.ts';
import type { HandOrder } from './exchange.ts';
import { handPrefix } from './own-orders.ts';
import type { SimulatedWorld } from './simulated-world.ts';

/** Orders far from the price, so that they stay open until somebody cancels them. */
const orders: readonly [Place, ...Place[]] = [
  { account: 'main', type: 'limit', market: 'BTC_USDT', side: 'buy', amount: '0.01', price: '40000' },
  { account: 'main', type: 'limit', market: 'BTC_PERP', side: 'sell', amount: '0.01', price: '90000' },
  { account: 'second', type: 'spot_limit', market: 'SOL_USDT', side: 'buy', amount: '1', price: '100' },
];
type Place = Omit<HandOrder, 'clientOrderId'>;

const mostOrders = 3;

/** Schedules orders that the owner places on the exchange's own page: the relay does not know them. */
export function scheduleHandOrders({ stage, exchange }: SimulatedWorld, untilMs: number): void {
  const { loop, random, history } = stage;
  for (let number = 1; number <= mostOrders; number += 1)
    loop.schedule(rollWhole(random, 0, (untilMs - loop.nowMs) / 2), () => {
      const order = pickOne(random, orders);
      exchange.placeByHand({ ...order, clientOrderId: `${handPrefix}${number}` }, loop.nowMs);
      history.note(loop.nowMs, 'owner', `places an order in ${order.market}`, 'owner: order by hand');
    });
}

/** Schedules the cancellation of a stop-loss that the exchange made from an order: its position stays. */
export function scheduleHandCancels({ stage, exchange }: SimulatedWorld, untilMs: number): void {
  const { loop, random, history } = stage;
  loop.schedule(rollWhole(random, 0, untilMs - loop.nowMs), () => {
    const stops = [...exchange.state.open.values()].filter(
      ({ parentId, activationPrice }) => parentId !== null && activationPrice !== null,
    );
    const [stop] = stops;
    if (stop === undefined) return;
    exchange.cancelByHand(stop, loop.nowMs);
    history.note(loop.nowMs, 'owner', `cancels the stop-loss ${stop.orderId}`, 'owner: cancel by hand');
  });
}
