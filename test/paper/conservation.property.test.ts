import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { ceilToStep, type Decimal, formatDecimal, parseDecimal, zero } from '../../lib/base/decimal.ts';
import { isQuoteSized } from '../../lib/model/order.ts';
import { summaryOf } from '../../lib/paper/engine/collateral.ts';
import { applyCommand } from '../../lib/paper/engine/engine.ts';
import {
  type Balance,
  createExchangeState,
  type ExchangeState,
  isSpotOrder,
  type OcoPair,
  type PaperOrder,
} from '../../lib/paper/engine/exchange-state.ts';
import { marketNamed } from '../../lib/paper/engine/markets.ts';
import { positionKeyOf } from '../../lib/paper/engine/positions.ts';
import { describeState } from '../../lib/paper/server/state.ts';
import { runs } from '../support/runs.ts';
import { accounts, commandOf, randomSteps, type Step } from './random-commands.ts';

/** Sums by key, without those that are zero, as text. */
function sumUp(parts: Iterable<readonly [key: string, amount: Decimal]>): Record<string, string> {
  const sums = new Map<string, Decimal>();
  for (const [key, amount] of parts) sums.set(key, (sums.get(key) ?? zero).plus(amount));
  const sorted = [...sums].filter(([, sum]) => !sum.eq(zero)).sort(([a], [b]) => a.localeCompare(b));
  return Object.fromEntries(sorted.map(([key, sum]) => [key, formatDecimal(sum)]));
}

/** Every balance: `main spot USDT` and so on. */
function* balancesOf(state: ExchangeState): Iterable<readonly [name: string, ticker: string, Balance]> {
  for (const [account, { spot, collateral }] of state.accounts)
    for (const [kind, balances] of Object.entries({ spot, collateral: collateral.balances }))
      for (const [ticker, balance] of balances) yield [`${account} ${kind} ${ticker}`, ticker, balance];
}

const everything = {
  BTC: '40',
  DBTC: '20',
  DUSDT: '2000000',
  ETH: '400',
  SOL: '4000',
  USDT: '4000000',
};

/** Nothing is lost or made: every ticker has the same total over all balances, the counterparty and the fees. */
function checkTotals(state: ExchangeState): void {
  const held = [...balancesOf(state)].map(
    ([, ticker, { available, reserved }]) => [ticker, available.plus(reserved)] as const,
  );
  expect(sumUp([...held, ...state.counterparty, ...state.fees])).toEqual(everything);
}

const eightPlaces = parseDecimal('0.00000001');

/** What an open order has to reserve at the leverage of its account. */
function reserveOf(state: ExchangeState, order: PaperOrder): Decimal {
  const { account, market, side, heldAmount: held } = order;
  if (isQuoteSized(order) || (isSpotOrder(order) && side === 'sell')) return held;
  const notional = held.times(order.price ?? order.activationPrice ?? zero);
  if (isSpotOrder(order)) return notional;
  const { takerFeeRate, maxLeverage } = marketNamed(market);
  const { leverage = 1 } = state.accounts.get(account)?.collateral ?? {};
  const margin = notional.div(String(Math.min(leverage, maxLeverage)));
  return ceilToStep(margin, eightPlaces).plus(notional.times(takerFeeRate));
}

/** Each balance reserves what its open orders reserve, and no spot balance is overdrawn. */
function checkReserves(state: ExchangeState): void {
  const reserved = [...balancesOf(state)].map(([name, , balance]) => [name, balance.reserved] as const);
  const byOrders = [...state.open.values()].map((order) => {
    const { base, quote } = marketNamed(order.market);
    const kind = isSpotOrder(order) ? 'spot' : 'collateral';
    const ticker = isSpotOrder(order) && order.side === 'sell' ? base : quote;
    return [`${order.account} ${kind} ${ticker}`, order.reserved] as const;
  });
  expect(sumUp(reserved)).toEqual(sumUp(byOrders));
  const open = [...state.open.values()];
  // One comparison of all: thousands of states are checked, and each `expect` costs more than a state.
  expect(open.map(({ reserved: amount }) => formatDecimal(amount))).toEqual(
    open.map((order) => formatDecimal(reserveOf(state, order))),
  );
  const overdrawn = [...balancesOf(state)].filter(
    ([name, , { available, reserved: amount }]) =>
      amount.lt(zero) || (name.includes(' spot ') && available.lt(zero)),
  );
  expect(overdrawn).toEqual([]);
}

function checkOrder(order: PaperOrder, isOpen: boolean): void {
  const done = isQuoteSized(order) ? order.filledNotional : order.filled;
  expect(formatDecimal(order.remaining.plus(done))).toBe(formatDecimal(order.amount));
  expect(order.remaining.lt(zero) || order.heldAmount.lt(zero)).toBe(false);
  const mayRest = !order.ioc && (order.price !== null || !order.activated);
  if (isOpen) expect([order.type, mayRest]).toEqual([order.type, true]);
}

/** Deals add up to their orders and positions, keep to limits, and a post-only order never takes. */
function checkDeals(state: ExchangeState): void {
  const byOrder = state.deals.map(({ orderId, amount }) => [String(orderId), amount] as const);
  const filled = [...state.orders.values()].map(({ orderId, filled }) => [String(orderId), filled] as const);
  expect(sumUp(byOrder)).toEqual(sumUp(filled));
  const signed = state.deals.flatMap(({ orderId, account, market, side, amount }) => {
    const order = state.orders.get(orderId);
    if (order === undefined || isSpotOrder(order)) return [];
    const key = `${account} ${positionKeyOf(market, order.positionSide)}`;
    return [[key, side === 'buy' ? amount : amount.neg()] as const];
  });
  expect(sumUp(signed)).toEqual(
    sumUp(
      [...state.accounts].flatMap(([account, { collateral }]) =>
        [...collateral.positions].map(([key, { amount }]) => [`${account} ${key}`, amount] as const),
      ),
    ),
  );
  const beyond = state.deals.filter(({ orderId, side, price, role }) => {
    const order = state.orders.get(orderId);
    const limit = order?.price ?? price;
    const isWorse = side === 'buy' ? price.gt(limit) : price.lt(limit);
    return isWorse || (order?.postOnly === true && role !== 'maker');
  });
  expect(beyond).toEqual([]);
}

/** Margin and free margin follow the formulas of the exchange. */
function checkMargins(state: ExchangeState): void {
  for (const [account, { collateral }] of state.accounts) {
    const { equity, pnl, margin, freeMargin } = summaryOf(state, account);
    let expected = zero;
    for (const { market, side, amount, basePrice } of collateral.positions.values()) {
      const { priceStep, maxLeverage } = marketNamed(market);
      const leverage = String(Math.min(collateral.leverage, maxLeverage));
      expected = expected.plus(ceilToStep(amount.abs().times(basePrice).div(leverage), priceStep));
      expect(amount.eq(zero) || (side === 'LONG' && amount.lt(zero))).toBe(false);
      expect(side === 'SHORT' && amount.gt(zero)).toBe(false);
    }
    for (const { reserved } of collateral.balances.values()) expected = expected.plus(reserved);
    expect(formatDecimal(margin)).toBe(formatDecimal(expected));
    expect(formatDecimal(freeMargin)).toBe(formatDecimal(equity.plus(pnl).minus(margin)));
  }
}

/** A reduce-only order never opens or enlarges a position. */
function checkReduceOnly(state: ExchangeState): void {
  const sizes = new Map<number, Decimal>();
  for (const { positionId, amount, orderId } of state.positionEvents) {
    const before = sizes.get(positionId) ?? zero;
    if (state.orders.get(orderId)?.reduceOnly) expect(amount.abs().lt(before)).toBe(true);
    sizes.set(positionId, amount.abs());
  }
}

/** The profit of a closed position is the difference of what was paid and received, but for rounded base prices. */
function checkProfits(state: ExchangeState): void {
  const longs = new Set(
    state.positionEvents.filter(({ amount }) => amount.gt(zero)).map(({ positionId }) => positionId),
  );
  for (const { positionId, entered, exited, realizedPnl } of state.closedPositions) {
    const gained = exited.notional.minus(entered.notional);
    expect(formatDecimal(exited.amount)).toBe(formatDecimal(entered.amount));
    const difference = realizedPnl.minus(longs.has(positionId) ? gained : gained.neg());
    expect(difference.abs().lt(parseDecimal('0.001'))).toBe(true);
  }
}

function checkState(state: ExchangeState): void {
  checkTotals(state);
  checkReserves(state);
  for (const order of state.orders.values()) checkOrder(order, state.open.has(order.orderId));
  checkMargins(state);
}

function play(
  steps: readonly Step[],
  isHedged: boolean,
  check: (state: ExchangeState) => void,
): ExchangeState {
  const state = createExchangeState();
  for (const account of accounts) applyCommand(state, { kind: 'set_hedge_mode', atMs: 0, account, isHedged });
  for (const [index, step] of steps.entries()) {
    const command = commandOf(step, state, index + 1);
    if (command !== null) applyCommand(state, command);
    check(state);
  }
  return state;
}

function cancelEverything(state: ExchangeState, atMs: number): void {
  // The end of an order can place its stop-loss and take-profit, which have to be cancelled too.
  while (state.open.size > 0)
    for (const account of accounts)
      applyCommand(state, {
        kind: 'cancel_all',
        atMs,
        account,
        market: null,
        types: ['spot', 'margin', 'futures'],
        positionSide: null,
      });
}

describe.each([
  { mode: 'one-way', isHedged: false },
  { mode: 'hedge', isHedged: true },
])('any sequence of orders of every type in $mode mode', ({ isHedged }) => {
  test('keeps every total, reserve and margin, and reserves nothing once no order is open', () => {
    fc.assert(
      fc.property(randomSteps, (steps) => {
        const state = play(steps, isHedged, checkState);

        cancelEverything(state, steps.length + 1);

        checkState(state);
        for (const [, , { reserved }] of balancesOf(state)) expect(formatDecimal(reserved)).toBe('0');
      }),
      { seed: 20_261, numRuns: runs(40) },
    );
  });

  test('gives deals that add up, right profits, and no reduction that opens or enlarges', () => {
    fc.assert(
      fc.property(randomSteps, (steps) => {
        const state = play(steps, isHedged, () => {});

        checkDeals(state);
        checkProfits(state);
        checkReduceOnly(state);
      }),
      { seed: 20_263, numRuns: runs(500) },
    );
  });

  test('gives the same state when the commands are replayed', () => {
    fc.assert(
      fc.property(randomSteps, (steps) => {
        const first = play(steps, isHedged, () => {});
        const second = play(steps, isHedged, () => {});

        expect(describeState(second)).toEqual(describeState(first));
        expect(second).toEqual(first);
      }),
      { seed: 20_262, numRuns: runs(25) },
    );
  });
});

/** Whether a leg of a pair that a client placed was filled. */
function isFilledPairOf({ orders }: ExchangeState) {
  return ({ stopLossId, takeProfitId }: OcoPair) =>
    [stopLossId, takeProfitId].some((orderId) => {
      const leg = orders.get(orderId);
      return leg?.parentId === null && leg.filled.gt(zero);
    });
}

test('the random sequences reach fills of every type, reductions and every reason to cancel', () => {
  const seen = new Set<string>();
  for (const steps of fc.sample(randomSteps, { seed: 20_263, numRuns: 500 })) {
    const state = play(steps, false, () => {});
    for (const { type, filled, endReason, reduceOnly } of state.orders.values()) {
      if (filled.gt(zero)) seen.add(type);
      if (filled.gt(zero) && reduceOnly) seen.add('reduction');
      if (endReason !== null) seen.add(endReason);
    }
    if (state.deals.some(({ role }) => role === 'maker')) seen.add('maker');
    if (state.closedPositions.length > 0) seen.add('closed position');
    if ([...state.pairs.values()].some(isFilledPairOf(state))) seen.add('pair of a client');
  }

  expect([...seen].sort()).toEqual([
    'AUTO_CANCELED_REDUCE_ONLY',
    'AUTO_CANCELED_USER_MARGIN',
    'CANCELED_TAKER_BAND',
    'closed position',
    'limit',
    'maker',
    'market',
    'pair of a client',
    'reduction',
    'spot_limit',
    'spot_market',
    'spot_stock_market',
    'spot_stop_limit',
    'spot_stop_market',
    'stop_limit',
    'stop_market',
  ]);
});
