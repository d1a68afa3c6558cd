import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { type Decimal, formatDecimal, parseDecimal, zero } from '../../lib/base/decimal.ts';
import { applyCommand, type Command, type NewOrder } from '../../lib/paper/engine.ts';
import {
  collateralAccountOf,
  createExchangeState,
  type ExchangeState,
} from '../../lib/paper/exchange-state.ts';
import { describeState } from '../../lib/paper/state.ts';

const spotMarkets = ['BTC_USDT', 'ETH_USDT'] as const;
const perpetualMarkets = ['BTC_PERP'] as const;
const accounts = ['main', 'second'] as const;
const startPrices: Record<string, number> = { BTC_USDT: 60_000, ETH_USDT: 3_000, BTC_PERP: 60_000 };

/** Prices are whole units of the quote currency, within a quarter of the first price. */
const percentArbitrary = fc.integer({ min: 75, max: 125 });

function priceAt(market: string, percent: number): Decimal {
  return parseDecimal(String(((startPrices[market] ?? 0) * percent) / 100));
}

const thousandth = parseDecimal('0.001');

function commandsOf(markets: readonly [string, ...string[]]): fc.Arbitrary<readonly Step[]> {
  const market = fc.constantFrom(...markets);
  const account = fc.constantFrom(...accounts);
  const amount = fc.integer({ min: 1, max: 12_000 });
  const exit = fc.option(percentArbitrary);
  const create = fc.record({
    kind: fc.constant('create' as const),
    market,
    account,
    amount,
    side: fc.constantFrom('buy' as const, 'sell' as const),
    price: percentArbitrary,
    // Null: an order without a trigger.
    activation: fc.option(percentArbitrary),
    stopLoss: exit,
    takeProfit: exit,
    positionSide: fc.constantFrom('LONG' as const, 'SHORT' as const),
  });
  const cancel = fc.record({ kind: fc.constant('cancel' as const), nth: fc.nat() });
  const trade = fc.record({
    kind: fc.constant('trade' as const),
    market,
    price: percentArbitrary,
    volume: fc.option(amount),
  });
  return fc.array(
    fc.oneof(
      { weight: 4, arbitrary: create },
      { weight: 1, arbitrary: cancel },
      { weight: 5, arbitrary: trade },
    ),
    { minLength: 1, maxLength: 60 },
  );
}

type Step =
  | {
      readonly kind: 'create';
      readonly market: string;
      readonly account: string;
      readonly amount: number;
      readonly side: 'buy' | 'sell';
      readonly price: number;
      readonly activation: number | null;
      readonly stopLoss: number | null;
      readonly takeProfit: number | null;
      /** In hedge mode. */
      readonly positionSide: 'LONG' | 'SHORT';
    }
  | { readonly kind: 'cancel'; readonly nth: number }
  | {
      readonly kind: 'trade';
      readonly market: string;
      readonly price: number;
      readonly volume: number | null;
    };

const amountOf = (thousandths: number) => parseDecimal(String(thousandths)).times(thousandth);

function commandOf(step: Step, state: ExchangeState, atMs: number): Command | null {
  if (step.kind === 'trade') {
    const price = priceAt(step.market, step.price);
    const volume = step.volume === null ? null : amountOf(step.volume);
    return { kind: 'trade', atMs, market: step.market, price, volume };
  }
  if (step.kind === 'cancel') {
    const open = [...state.open.values()];
    const order = open[step.nth % Math.max(1, open.length)];
    if (order === undefined) return null;
    return { kind: 'cancel', atMs, account: order.account, market: order.market, orderId: order.orderId };
  }
  const { market, side, account } = step;
  const priceIfAny = (percent: number | null) => (percent === null ? undefined : priceAt(market, percent));
  const fields = {
    market,
    side,
    amount: amountOf(step.amount),
    price: priceAt(market, step.price),
    stopLoss: priceIfAny(step.stopLoss),
    takeProfit: priceIfAny(step.takeProfit),
    positionSide: collateralAccountOf(state, account).isHedged ? step.positionSide : undefined,
    clientOrderId: '',
    stp: 'no',
  };
  const order: NewOrder =
    step.activation === null
      ? { kind: 'limit', ...fields }
      : { kind: 'stop_limit', ...fields, activationPrice: priceAt(market, step.activation) };
  return { kind: 'create', atMs, account, order };
}

/** Ticker → its total over all accounts, the counterparty and the fees. */
function totals(state: ExchangeState): Record<string, string> {
  const sums = new Map<string, Decimal>();
  const add = (ticker: string, amount: Decimal) => sums.set(ticker, (sums.get(ticker) ?? zero).plus(amount));
  for (const { balances, positions } of state.accounts.values()) {
    for (const [ticker, { available, reserved }] of balances) add(ticker, available.plus(reserved));
    for (const { margin } of positions.values()) add('USDT', margin);
  }
  for (const pot of [state.counterparty, state.fees]) for (const [ticker, amount] of pot) add(ticker, amount);
  return Object.fromEntries([...sums].map(([ticker, sum]) => [ticker, formatDecimal(sum)]));
}

const everything = { USDT: '2000000', BTC: '20', ETH: '200', SOL: '2000' };

function heldByOrders(state: ExchangeState, account: string, ticker: string): Decimal {
  let held = zero;
  for (const order of state.open.values()) {
    const holdsBase = order.side === 'sell' && order.market !== 'BTC_PERP';
    const holds = holdsBase ? order.market.slice(0, 3) : 'USDT';
    if (order.account === account && holds === ticker) held = held.plus(order.reserved);
  }
  return held;
}

function checkTotals(state: ExchangeState, canGoBelowZero: boolean): void {
  expect(totals(state)).toEqual(everything);
  for (const [account, { balances }] of state.accounts)
    for (const [ticker, { available, reserved }] of balances) {
      expect(formatDecimal(reserved)).toBe(formatDecimal(heldByOrders(state, account, ticker)));
      if (!canGoBelowZero) expect(available.lt(zero)).toBe(false);
    }
  for (const order of state.orders.values()) {
    expect(formatDecimal(order.remaining.plus(order.filled))).toBe(formatDecimal(order.amount));
    expect(
      order.remaining.lt(zero) || order.heldAmount.lt(zero) || order.heldAmount.gt(order.remaining),
    ).toBe(false);
  }
  for (const { positions } of state.accounts.values())
    for (const { side, amount, margin } of positions.values()) {
      expect(margin.lt(zero)).toBe(false);
      expect(side === 'LONG' ? amount.lt(zero) : side === 'SHORT' && amount.gt(zero)).toBe(false);
    }
}

function cancelAll(state: ExchangeState, atMs: number): void {
  for (let [order] = state.open.values(); order !== undefined; [order] = state.open.values())
    applyCommand(state, {
      kind: 'cancel',
      atMs,
      account: order.account,
      market: order.market,
      orderId: order.orderId,
    });
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

describe.each([
  { name: 'spot', markets: spotMarkets, canGoBelowZero: false, isHedged: false },
  // A short can lose more than its margin, because liquidation is not modelled.
  { name: 'perpetual', markets: perpetualMarkets, canGoBelowZero: true, isHedged: false },
  { name: 'hedged perpetual', markets: perpetualMarkets, canGoBelowZero: true, isHedged: true },
  {
    name: 'mixed',
    markets: [...spotMarkets, ...perpetualMarkets] as const,
    canGoBelowZero: true,
    isHedged: false,
  },
])('any sequence of $name orders', ({ markets, canGoBelowZero, isHedged }) => {
  test('keeps the total of every asset, and reserves nothing once no order is open', () => {
    fc.assert(
      fc.property(commandsOf([...markets]), (steps) => {
        const state = play(steps, isHedged, (each) => checkTotals(each, canGoBelowZero));

        cancelAll(state, steps.length + 1);

        checkTotals(state, canGoBelowZero);
        for (const { balances } of state.accounts.values())
          for (const { reserved } of balances.values()) expect(formatDecimal(reserved)).toBe('0');
      }),
      { seed: 20_261, numRuns: 150 },
    );
  });

  test('gives the same state when the commands are replayed', () => {
    fc.assert(
      fc.property(commandsOf([...markets]), (steps) => {
        const first = play(steps, isHedged, () => {});
        const second = play(steps, isHedged, () => {});

        expect(describeState(second)).toEqual(describeState(first));
      }),
      { seed: 20_262, numRuns: 40 },
    );
  });
});
