import type { Random } from '../../lib/base/random.ts';
import type { OrderKindName } from '../../lib/model/order.ts';
import { pickOne, rollChance, rollWhole } from './dice.ts';
import type { Ground } from './grounds.ts';

/** What the fields of one order are drawn from. */
export interface OrderDraw {
  readonly random: Random;
  readonly ground: Ground;
  readonly kind: OrderKindName;
  /** Makes prices and base amounts unique; from 1 to 99. */
  readonly number: number;
  /** Whether sizes may be shares of what the account holds; the written API cannot read that. */
  readonly hasShares: boolean;
  /** Whether the order must name the position that it changes. */
  readonly isHedged: boolean;
  /**
   * The distance of the limit price beyond the stop price, as a part of the limit price; absent: 1 unit.
   */
  readonly reach: number | undefined;
}

interface SidedDraw extends OrderDraw {
  readonly isBuy: boolean;
}

type Fields = Readonly<Record<string, unknown>>;

/** Draws the fields of an order, without its id and time. */
export function drawOrderFields(draw: OrderDraw): Fields {
  const { random, ground } = draw;
  const reduces = ground.tradesOn !== 'spot' && rollChance(random, 0.22);
  // Most positions are long, so most reductions sell.
  const isBuy = rollChance(random, reduces ? 0.25 : 0.68);
  const sided = { ...draw, isBuy };
  const flags = rollChance(random, 0.1) ? { stp: pickOne(random, ['no', 'cn', 'co', 'cb']) } : {};
  const prices = drawPrices[draw.kind](sided);
  const action = { ticker: ground.ticker, action: isBuy ? 'buy' : 'sell' };
  const rest = reduces ? drawReduction(sided) : drawEntry(sided);
  const position = draw.isHedged ? { positionSide: isBuy === reduces ? 'SHORT' : 'LONG' } : {};
  return respell(random, { ...action, ...prices, ...flags, ...rest, ...position });
}

/** Draws the prices and flags of each kind. */
export const drawPrices: Readonly<Record<OrderKindName, (draw: SidedDraw) => Fields>> = {
  stop_limit: (draw) => {
    const limit = Math.round(draw.ground.price * (draw.isBuy ? 1.001 : 0.999)) + rollWhole(draw.random, 0, 3);
    const distance = draw.reach === undefined ? 1 : Math.round(limit * draw.reach);
    // A perpetual rounds its limit to its own price, so the stop lies a little further away.
    const away = draw.ground.isCoarse && draw.reach === undefined ? 10 : distance;
    return {
      stopPrice: String(draw.isBuy ? limit - away : limit + away),
      limitPrice: uniquePrice(limit, draw),
      ...(rollChance(draw.random, 0.05) ? { expectTrigger: 'breakout' } : {}),
    };
  },
  // Some orders fill at once and some rest; some of those fill when the price reaches them.
  limit: (draw) => {
    const isResting = rollChance(draw.random, 0.7);
    const factor = draw.isBuy === isResting ? 0.999 : 1.001;
    const limit = Math.round(draw.ground.price * factor) + rollWhole(draw.random, 0, 3);
    const flag = pickOne(draw.random, [{}, {}, {}, {}, { postOnly: true }, { ioc: true }]);
    return { orderType: 'limit', limitPrice: uniquePrice(limit, draw), ...flag };
  },
  market: ({ random, ground }) => {
    const isOpen = ground.account === 'second' && rollChance(random, 0.4);
    const slippage = pickOne(random, ['0.05%', '0.05%', '0.05%', '0.05%', '0.3%', '0.9%']);
    return {
      // Without a kind and without a price it is a market order, too, as accounts are shipped.
      ...(rollChance(random, 0.4) ? {} : { orderType: 'market' }),
      ...(isOpen || (ground.account === 'main' && rollChance(random, 0.3)) ? {} : { maxSlippage: slippage }),
    };
  },
  stop_market: ({ random, isBuy, ground }) => ({
    orderType: 'stop_market',
    stopPrice: (ground.price * (isBuy === rollChance(random, 0.9) ? 1.0006 : 0.9994)).toFixed(2),
    ...(rollChance(random, 0.05) ? { expectTrigger: 'breakout' } : {}),
  }),
};

/** The last digits identify the order: no two limit prices of a run are equal, whatever the ids of the orders. */
function uniquePrice(price: number, { number, ground }: OrderDraw): string {
  if (ground.isCoarse) return (Math.floor(price / 10) * 10 + number / 10).toFixed(1);
  return `${price}.${String(number).padStart(2, '0')}`;
}

function drawEntry(draw: SidedDraw): Fields {
  const { random, ground, isBuy, kind } = draw;
  const isSpot = ground.tradesOn === 'spot';
  const roll = random();
  // The exchange sizes such a buy in the quote currency only.
  const isQuoteOnly = isSpot && isBuy && kind === 'stop_market' && rollChance(random, 0.9);
  const size =
    isQuoteOnly || roll < 0.2
      ? drawQuote(draw)
      : roll < mostShares(draw)
        ? drawShare(random)
        : drawBase(draw);
  if (rollChance(random, 0.55) || (isSpot && !isBuy)) return size;
  if (isSpot) return { ...size, stopLoss: pickOne(random, [String(ground.price * 0.9), '8%', '0.3%']) };
  return { ...size, ...drawStopLossAndTakeProfit(draw) };
}

function mostShares({ hasShares }: OrderDraw): number {
  return hasShares ? 0.42 : 0.22;
}

/** The amount identifies the order where no price does. */
function drawBase({ random, kind, ground: { small, large, places }, number }: OrderDraw): Fields {
  const isLarge = rollChance(random, kind === 'market' ? 0.5 : 0.2);
  const steps = (isLarge ? large : small) + number;
  return { quantity: (steps / 10 ** places).toFixed(places) };
}

function drawQuote({ number }: OrderDraw): Fields {
  return { quoteQuantity: String(150 + number) };
}

function drawShare(random: Random): Fields {
  const share = pickOne(random, ['1%', '2.5%', '8%', '15%']);
  return pickOne(random, [{ quantityPercent: share }, { quantity: share }]);
}

function drawStopLossAndTakeProfit({ random, ground: { price }, isBuy }: SidedDraw): Fields {
  const [loss, profit] = isBuy ? [0.9, 1.1] : [1.1, 0.9];
  return pickOne<Fields>(random, [
    { stopLoss: String(price * loss), takeProfit: String(price * profit) },
    { stopLoss: '8%', takeProfit: '9%' },
    { stopLoss: '5%' },
  ]);
}

/** An order that may only reduce a position, in the ways in which alerts say so. */
function drawReduction(draw: SidedDraw): Fields {
  const { random, isBuy, hasShares } = draw;
  const share = pickOne(random, ['25%', '50%', '100%']);
  const flagged: readonly [() => Fields, ...(() => Fields)[]] = [
    () => ({ ...drawBase(draw), reduceOnly: true }),
    () => ({ ...drawBase(draw), action: isBuy ? 'exit_short' : 'exit_long' }),
  ];
  if (!hasShares) return pickOne(random, flagged)();
  return pickOne(random, [
    ...flagged,
    () => ({ quantityPercent: share, of: 'position' }),
    () => ({ quantity: share, of: 'position', sentiment: 'flat' }),
  ])();
}

/** The words of other relays that mean the same. */
const otherWords: Readonly<Record<string, readonly [string, ...string[]]>> = {
  ticker: ['symbol', 'pair', 'tv_instrument'],
  action: ['side', 'order'],
  quantity: ['qty', 'contracts', 'Amount'],
  quoteQuantity: ['quote_qty'],
  quantityPercent: ['quantity_percent'],
  orderType: ['type', 'price_type', 'order-type'],
  stopPrice: ['activation_price', 'StopPrice'],
  limitPrice: ['price', 'limit_price'],
  stopLoss: ['sl', 'stop_loss_price'],
  takeProfit: ['tp', 'takeProfitPrice'],
  reduceOnly: ['reduce_only'],
};

/** Writes some alerts in the words of other relays. */
function respell(random: Random, fields: Fields): Fields {
  if (!rollChance(random, 0.15)) return fields;
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => {
      const words = otherWords[name];
      return [words === undefined ? name : pickOne(random, words), value];
    }),
  );
}
