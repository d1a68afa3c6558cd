import { floorToStep, parseDecimal } from '../../lib/base/decimal.ts';
import { paperKeys } from '../../lib/paper/engine/accounts.ts';
import { marketNamed } from '../../lib/paper/engine/markets.ts';
import { override } from '../support/override.ts';
import { pickOne, rollChance, rollWhole } from './dice.ts';
import type { HandOrder, SimulatedExchange } from './exchange.ts';
import type { Ground } from './grounds.ts';
import { type History, isCreate } from './history.ts';
import { handPrefix } from './own-orders.ts';
import type { PositionRun } from './position-runs.ts';
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

const mostTrades = 3;

/** Schedules orders of the owner that fill at once and change the positions of strategies. */
export function scheduleHandTrades(
  { stage, exchange, settings }: SimulatedWorld,
  { random, held }: PositionRun,
  untilMs: number,
): void {
  const { loop, history } = stage;
  const count = rollWhole(random, 0, mostTrades);
  for (let number = 1; number <= count; number += 1) {
    const ground = pickOne(random, held);
    const market = settings.tickers[ground.ticker] ?? '';
    const trade = drawTrade(ground, pickOne(random, ['buy', 'sell'] as const), rollWhole(random, 1, 4));
    loop.schedule(rollWhole(random, 0, untilMs - loop.nowMs), () => {
      exchange.placeByHand({ ...trade, market, clientOrderId: `${handPrefix}trade-${number}` }, loop.nowMs);
      history.note(loop.nowMs, 'owner', `trades in ${market}`, 'owner: trade by hand');
    });
  }
}

/** Of the orders that only reduce, the share before which the owner trades by hand. */
const meddlingRate = 0.15;

/** Of them, the share before which the price leaves the bound of a market order: it fills in part, or not at all. */
const flightRate = 0.15;

/**
 * An exchange on which the owner sometimes reduces or turns a position just before an order that reduces it arrives, and on
 * which the price sometimes runs away from that order.
 */
export function withMeddling(
  exchange: SimulatedExchange,
  { random, rests }: PositionRun,
  history: History,
): SimulatedExchange {
  let count = 0;
  return override(exchange, {
    async serve(request, atMs, lagMs) {
      const account = paperKeys.get(request.headers['X-TXC-APIKEY'] ?? '')?.account;
      const order = isCreate(request.path) ? (JSON.parse(request.body ?? '{}') as Reduction) : null;
      if (order?.reduceOnly === true && account !== undefined && rollChance(random, meddlingRate)) {
        count += 1;
        const { market, side } = order;
        const amount = floorToStep(
          parseDecimal(order.amount).times(pickOne(random, ['0.5', '1', '1.5'])),
          marketNamed(market).amountStep,
        );
        const price = marketNamed(market).startPrice.times(side === 'buy' ? '1.03' : '0.97');
        const trade = {
          account,
          type: 'limit',
          market,
          side,
          amount: amount.toFixed(),
          price: price.toFixed(0),
        } as const;
        exchange.placeByHand({ ...trade, clientOrderId: `${handPrefix}meddling-${count}` }, atMs);
        history.note(atMs, 'owner', `trades in ${market}`, 'owner: trade before a close');
      }
      if (order?.reduceOnly === true && rollChance(rests, flightRate)) {
        const { market, side } = order;
        const price = marketNamed(market).startPrice.times(side === 'buy' ? '1.012' : '0.988');
        exchange.setPrice(market, price.toFixed(0), atMs);
        history.note(
          atMs,
          'exchange',
          `${market} trades at ${price.toFixed(0)}`,
          'exchange: price runs away',
        );
      }
      return await exchange.serve(request, atMs, lagMs);
    },
  });
}

interface Reduction {
  readonly market: string;
  readonly side: 'buy' | 'sell';
  readonly amount: string;
  readonly reduceOnly?: boolean;
}

/** A limit order so far beyond the price that it fills at once. */
function drawTrade(
  { account, price, small, places }: Ground,
  side: 'buy' | 'sell',
  times: number,
): Omit<Place, 'market'> {
  const limit = price * (side === 'buy' ? 1.03 : 0.97);
  return {
    account,
    type: 'limit',
    side,
    amount: ((times * small) / 10 ** places).toFixed(places),
    price: limit.toFixed(0),
  };
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
    history.handCancels.push({ orderId: stop.orderId, atMs: loop.nowMs });
    history.note(loop.nowMs, 'owner', `cancels the stop-loss ${stop.orderId}`, 'owner: cancel by hand');
  });
}
