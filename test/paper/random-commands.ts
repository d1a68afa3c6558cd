import fc from 'fast-check';
import { ceilToStep, type Decimal, floorToStep, parseDecimal, zero } from '../../lib/base/decimal.ts';
import { isQuoteSized, type OrderType, orderTypes } from '../../lib/model/order.ts';
import { orderSchemas } from '../../lib/model/order-schemas.ts';
import type { NewOrder } from '../../lib/paper/engine/creating.ts';
import type { NewPair } from '../../lib/paper/engine/creating-pairs.ts';
import type { Command } from '../../lib/paper/engine/engine.ts';
import {
  collateralAccountOf,
  type ExchangeState,
  isSpotOrder,
  lastPriceOf,
  type PaperOrder,
} from '../../lib/paper/engine/exchange-state.ts';
import { exitMoments, exitStopKinds } from '../../lib/paper/engine/exit-settings.ts';
import { marketNamed } from '../../lib/paper/engine/markets.ts';
import { leverages } from '../../lib/paper/engine/positions.ts';

export const accounts = ['main', 'second'] as const;

const spotMarkets = ['BTC_USDT', 'ETH_USDT', 'DBTC_DUSDT'] as const;
const collateralMarkets = ['BTC_PERP', 'BTC_USDT', 'ETH_USDT'] as const;
const markets = [...new Set([...spotMarkets, ...collateralMarkets])];

/** In per cent of the market's first price: within a quarter of it. */
const percent = fc.integer({ min: 75, max: 125 });
const account = fc.constantFrom(...accounts);
const side = fc.constantFrom('buy' as const, 'sell' as const);
/** Of 60 000 in quote units, per mille: from 60 up to far more than the book offers within the taker band. */
const size = fc.oneof(
  { weight: 4, arbitrary: fc.integer({ min: 1, max: 4000 }) },
  { weight: 1, arbitrary: fc.integer({ min: 4000, max: 150_000 }) },
);

const create = fc.record({
  kind: fc.constant('create' as const),
  type: fc.constantFrom(...orderTypes),
  nth: fc.nat({ max: 2 }),
  account,
  side,
  size,
  price: percent,
  activation: percent,
  stopLoss: fc.option(percent),
  takeProfit: fc.option(percent),
  flag: fc.constantFrom('none', 'none', 'postOnly', 'ioc'),
  reduceOnly: fc.constantFrom(true, false, false, false),
  /** In hedge mode. */
  positionSide: fc.constantFrom('LONG' as const, 'SHORT' as const),
});
/** An order against an open position: the part of it in per cent, reduce-only or not. */
const reduce = fc.record({
  kind: fc.constant('reduce' as const),
  account,
  nth: fc.nat(),
  type: fc.constantFrom('limit' as const, 'market' as const, 'stop_limit' as const, 'stop_market' as const),
  part: fc.integer({ min: 20, max: 150 }),
  price: percent,
  activation: percent,
  reduceOnly: fc.boolean(),
});
/** A stop-loss and a take-profit so far from the last price, in per cent. */
const pair = fc.record({
  kind: fc.constant('create_pair' as const),
  account,
  nth: fc.nat({ max: 2 }),
  side,
  size,
  profit: fc.integer({ min: 1, max: 12 }),
  stop: fc.integer({ min: 1, max: 12 }),
  reduceOnly: fc.boolean(),
});
const trade = fc.record({
  kind: fc.constant('trade' as const),
  market: fc.constantFrom(...markets),
  price: percent,
  volume: fc.option(size),
});
const cancel = fc.record({ kind: fc.constant('cancel' as const), nth: fc.nat() });
const modify = fc.record({
  kind: fc.constant('modify' as const),
  nth: fc.nat(),
  size,
  price: percent,
  activation: percent,
});
const cancelAll = fc.record({
  kind: fc.constant('cancel_all' as const),
  account,
  types: fc.constantFrom(['spot' as const], ['margin' as const, 'futures' as const]),
});
const close = fc.record({ kind: fc.constant('close_position' as const), account, nth: fc.nat() });
const leverage = fc.record({
  kind: fc.constant('set_leverage' as const),
  account,
  leverage: fc.constantFrom(...leverages),
});

const exits = fc.record({
  kind: fc.constant('set_exits' as const),
  change: fc.record({
    madeAt: fc.constantFrom(...exitMoments),
    afterPartial: fc.boolean(),
    reduceOnly: fc.boolean(),
    stopKind: fc.constantFrom(...exitStopKinds),
  }),
});

/** A sequence of requests and trades, on which a state decides what exactly they are. */
export const randomSteps = fc.array(
  fc.oneof(
    { weight: 8, arbitrary: create },
    { weight: 4, arbitrary: reduce },
    { weight: 2, arbitrary: pair },
    { weight: 5, arbitrary: trade },
    { weight: 1, arbitrary: cancel },
    { weight: 1, arbitrary: modify },
    { weight: 1, arbitrary: cancelAll },
    { weight: 1, arbitrary: close },
    { weight: 1, arbitrary: leverage },
    { weight: 1, arbitrary: exits },
  ),
  { minLength: 1, maxLength: 60, size: 'max' },
);

type CreateStep = typeof create extends fc.Arbitrary<infer T> ? T : never;
type PairStep = typeof pair extends fc.Arbitrary<infer T> ? T : never;
type ModifyStep = typeof modify extends fc.Arbitrary<infer T> ? T : never;
type ReduceStep = typeof reduce extends fc.Arbitrary<infer T> ? T : never;
export type Step = typeof randomSteps extends fc.Arbitrary<readonly (infer T)[]> ? T : never;

const hundredth = parseDecimal('0.01');
const thousandth = parseDecimal('0.001');
const unitNotional = parseDecimal('60000');

function priceAt(market: string, percents: number): Decimal {
  return marketNamed(market).startPrice.times(String(percents)).times(hundredth);
}

function notionalOf(thousandths: number): Decimal {
  return unitNotional.times(String(thousandths)).times(thousandth);
}

function amountOf(market: string, thousandths: number): Decimal {
  const { startPrice, amountStep } = marketNamed(market);
  return floorToStep(notionalOf(thousandths).div(startPrice), amountStep);
}

/** Null when the state has nothing to cancel or close. */
export function commandOf(step: Step, state: ExchangeState, atMs: number): Command | null {
  switch (step.kind) {
    case 'create':
      return { kind: 'create', atMs, account: step.account, order: orderOf(step, state) };
    case 'reduce': {
      const order = reducingOrderOf(step, state);
      return order === null ? null : { kind: 'create', atMs, account: step.account, order };
    }
    case 'create_pair':
      return { kind: 'create_pair', atMs, account: step.account, ...legsOf(step, state) };
    case 'trade': {
      const { market } = step;
      const volume = step.volume === null ? null : amountOf(market, step.volume);
      return { kind: 'trade', atMs, market, price: priceAt(market, step.price), volume };
    }
    case 'cancel': {
      const order = pick([...state.open.values()], step.nth);
      if (order === undefined) return null;
      return { kind: 'cancel', atMs, account: order.account, market: order.market, orderId: order.orderId };
    }
    case 'modify': {
      const order = pick([...state.open.values()], step.nth);
      if (order === undefined) return null;
      const { account, orderId } = order;
      return { kind: 'modify', atMs, account, orderId, order: modifiedOf(step, order) };
    }
    case 'close_position': {
      const position = pick([...collateralAccountOf(state, step.account).positions.values()], step.nth);
      if (position === undefined) return null;
      const { market, positionId } = position;
      return { kind: 'close_position', atMs, account: step.account, market, positionId };
    }
    case 'cancel_all':
      return { ...step, atMs, market: null, positionSide: null };
    case 'set_leverage':
    case 'set_exits':
      return { ...step, atMs };
  }
}

function pick<T>(values: readonly T[], nth: number): T | undefined {
  return values[nth % Math.max(1, values.length)];
}

function orderOf(step: CreateStep, state: ExchangeState): NewOrder {
  const { type, side } = step;
  const market = (isSpotOrder({ type }) ? spotMarkets : collateralMarkets)[step.nth] ?? 'BTC_USDT';
  const isHedged = collateralAccountOf(state, step.account).isHedged && market === 'BTC_PERP';
  const priceIfAny = (percents: number | null) =>
    percents === null || step.reduceOnly ? undefined : priceAt(market, percents);
  const fields: NewOrder = {
    type,
    market,
    side,
    amount: isQuoteSized({ type, side }) ? notionalOf(step.size) : amountOf(market, step.size),
    price: priceAt(market, step.price),
    activationPrice: priceAt(market, step.activation),
    postOnly: step.flag === 'postOnly',
    ioc: step.flag === 'ioc',
    stopLoss: priceIfAny(step.stopLoss),
    takeProfit: priceIfAny(step.takeProfit),
    positionSide: isHedged ? step.positionSide : undefined,
    reduceOnly: step.reduceOnly,
    clientOrderId: '',
    stp: 'no',
  };
  return fieldsOf(type, fields);
}

function modifiedOf({ size, price, activation }: ModifyStep, order: PaperOrder): NewOrder {
  const {
    type,
    market,
    side,
    postOnly,
    ioc,
    statedSide: positionSide,
    reduceOnly,
    clientOrderId,
    stp,
  } = order;
  return fieldsOf(type, {
    ...{ type, market, side, postOnly, ioc, positionSide, reduceOnly, clientOrderId, stp },
    amount: isQuoteSized({ type, side }) ? notionalOf(size) : amountOf(market, size),
    price: priceAt(market, price),
    activationPrice:
      order.activated && order.activationPrice !== null ? order.activationPrice : priceAt(market, activation),
  });
}

function reducingOrderOf(step: ReduceStep, state: ExchangeState): NewOrder | null {
  const { type, part, reduceOnly } = step;
  const position = pick([...collateralAccountOf(state, step.account).positions.values()], step.nth);
  if (position === undefined) return null;
  const { market, amount, side: positionSide } = position;
  return fieldsOf(type, {
    type,
    market,
    side: amount.gt(zero) ? 'sell' : 'buy',
    amount: ceilToStep(amount.abs().times(String(part)).times(hundredth), marketNamed(market).amountStep),
    price: priceAt(market, step.price),
    activationPrice: priceAt(market, step.activation),
    positionSide,
    reduceOnly,
    clientOrderId: '',
    stp: 'no',
  });
}

function legsOf(
  { account, nth, side, size, profit, stop, reduceOnly }: PairStep,
  state: ExchangeState,
): NewPair {
  const market = collateralMarkets[nth] ?? 'BTC_USDT';
  const isHedged = collateralAccountOf(state, account).isHedged && market === 'BTC_PERP';
  const direction = side === 'sell' ? 1 : -1;
  const near = (percents: number) => {
    const price = lastPriceOf(state, market)
      .times(String(100 + percents))
      .times(hundredth);
    return floorToStep(price, marketNamed(market).priceStep);
  };
  const shared = {
    market,
    side,
    amount: amountOf(market, size),
    positionSide: isHedged ? (side === 'sell' ? 'LONG' : 'SHORT') : undefined,
    reduceOnly,
    clientOrderId: '',
    stp: 'no',
  } as const;
  return {
    stopLoss: {
      ...shared,
      type: 'stop_limit',
      activationPrice: near(-direction * stop),
      price: near(-direction * (stop + 1)),
    },
    takeProfit: { ...shared, type: 'limit', price: near(direction * profit) },
  };
}

/** Without the fields that the type has not. */
function fieldsOf(type: OrderType, order: NewOrder): NewOrder {
  const names = ['type', 'stp', ...Object.keys(orderSchemas[type].shape)];
  return Object.fromEntries(
    Object.entries(order).filter(([name]) => names.includes(name)),
  ) as unknown as NewOrder;
}
