import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { type Decimal, formatDecimal, zero } from '../../lib/base/decimal.ts';
import type { Transport } from '../../lib/base/wire.ts';
import { createExchangeClient, type ExchangeClient } from '../../lib/exchange/client.ts';
import { collateralBalance } from '../../lib/exchange/endpoints/collateral-balance.ts';
import { collateralSummary } from '../../lib/exchange/endpoints/collateral-summary.ts';
import { executedHistory } from '../../lib/exchange/endpoints/executed-history.ts';
import { futures } from '../../lib/exchange/endpoints/futures.ts';
import { openPositions } from '../../lib/exchange/endpoints/open-positions.ts';
import { orderBook } from '../../lib/exchange/endpoints/order-book.ts';
import { tradeBalance } from '../../lib/exchange/endpoints/trade-balance.ts';
import { listConditionalOrders } from '../../lib/exchange/list-conditional-orders.ts';
import { listOpenOrders } from '../../lib/exchange/list-open-orders.ts';
import { paperKeysOf } from '../../lib/paper/engine/accounts.ts';
import type { CreateCommand } from '../../lib/paper/engine/creating.ts';
import {
  collateralAccountOf,
  type ExchangeState,
  tradingAccountOf,
} from '../../lib/paper/engine/exchange-state.ts';
import { paperMarkets } from '../../lib/paper/engine/markets.ts';
import { openTrading, type Trading } from '../../lib/paper/engine/trading.ts';
import { createPaperCore, encodeResponse } from '../../lib/paper/server/exchange.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { runs } from '../support/runs.ts';
import { accounts, commandOf, randomSteps, type Step } from './random-commands.ts';

const startMs = 1_790_000_000_000;

function play(steps: readonly Step[], isHedged: boolean): Trading {
  const trading = openTrading(null);
  for (const account of accounts)
    trading.execute({ kind: 'set_hedge_mode', atMs: startMs, account, isHedged });
  for (const [index, step] of steps.entries()) {
    const command = commandOf(step, trading.state, startMs + index);
    if (command !== null) trading.execute(command.kind === 'create' ? named(command, index) : command);
  }
  return trading;
}

/** Every third order has no client order id, and every other one has that of the order before it. */
function named(command: CreateCommand, index: number): CreateCommand {
  const clientOrderId = index % 3 === 0 ? '' : `order-${Math.floor(index / 2)}`;
  return { ...command, order: { ...command.order, clientOrderId } };
}

/** The relay's own client, without a network. */
function connect(trading: Trading, account: string): ExchangeClient {
  const core = createPaperCore({ dialect: 'live', trading });
  const clock = createManualClock(startMs + 60_000);
  const transport: Transport = {
    async send({ method, path, headers, body }) {
      const lowerCase = Object.fromEntries(
        Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]),
      );
      const atMs = clock.nowMs();
      const request = { method, target: path, headers: lowerCase, body: Buffer.from(body ?? ''), atMs };
      return { kind: 'answered', ...encodeResponse(await core.handle(request)) };
    },
    close: () => undefined,
  };
  const credentials = paperKeysOf(account);
  return createExchangeClient({
    address: 'https://exchange.test',
    dialect: 'live',
    credentials,
    clock,
    transport,
  });
}

const marketNames = [...paperMarkets.keys()];
const sum = (values: readonly Decimal[]) =>
  formatDecimal(values.reduce((total, value) => total.plus(value), zero));

async function checkBalances(client: ExchangeClient, state: ExchangeState, account: string): Promise<void> {
  const { spot, collateral } = tradingAccountOf(state, account);
  const spotBalances = await client.call(tradeBalance, {});
  for (const [ticker, { available, reserved }] of spot)
    expect([ticker, spotBalances[ticker] ?? { available: zero, freeze: zero }]).toEqual([
      ticker,
      { available, freeze: reserved },
    ]);
  for (const { asset, balance } of await client.call(collateralBalance, {})) {
    const held = collateral.balances.get(asset);
    expect([asset, balance]).toEqual([asset, held?.available.plus(held.reserved)]);
  }
  const { equity, pnl, margin, freeMargin, leverage } = await client.call(collateralSummary, {});
  expect(formatDecimal(freeMargin)).toBe(formatDecimal(equity.plus(pnl).minus(margin)));
  expect(leverage).toBe(collateral.leverage);
}

async function checkPositions(client: ExchangeClient, state: ExchangeState, account: string): Promise<void> {
  const listed = await client.call(openPositions, {});
  const { positions } = collateralAccountOf(state, account);
  expect(
    listed.records.map(({ positionId, market, amount, positionSide }) => ({
      positionId,
      market,
      amount,
      positionSide,
    })),
  ).toEqual(
    [...positions.values()].map(({ positionId, market, amount, side }) => ({
      positionId,
      market,
      amount,
      positionSide: side,
    })),
  );
}

async function checkOrders(client: ExchangeClient, state: ExchangeState, account: string): Promise<void> {
  for (const market of marketNames) {
    const isOfAccount = (item: { account: string; market: string }) =>
      item.account === account && item.market === market;
    const open = await listOpenOrders(client, market, {});
    expect(open.orders.map(({ orderId, remaining, filled }) => ({ orderId, remaining, filled }))).toEqual(
      [...state.open.values()]
        .filter(isOfAccount)
        .toReversed()
        .map(({ orderId, remaining, filled }) => ({ orderId, remaining, filled })),
    );
    const { groups } = await listConditionalOrders(client, market, {});
    const pairs = [...state.pairs.values()].filter((pair) => pair.isOpen && isOfAccount(pair));
    const planned = [...state.open.values()].filter((order) => order.oto !== null && isOfAccount(order));
    expect(groups).toHaveLength(pairs.length + planned.length);
  }
}

/** Orders may share a client order id once the earlier one has ended; their fills are then listed together. */
async function checkFills(client: ExchangeClient, state: ExchangeState, account: string): Promise<void> {
  const named = [...state.orders.values()].filter(
    (order) => order.account === account && order.clientOrderId !== '',
  );
  for (const { market, clientOrderId } of named) {
    const { records: fills } = await client.call(executedHistory, { market, clientOrderId, limit: 500 });
    const orders = named.filter((order) => order.market === market && order.clientOrderId === clientOrderId);
    expect(sum(fills.map(({ amount }) => amount))).toBe(sum(orders.map(({ filled }) => filled)));
    expect(sum(fills.map(({ notional }) => notional))).toBe(sum(orders.map((order) => order.filledNotional)));
    expect(sum(fills.map(({ fee }) => fee))).toBe(sum(orders.map(({ fee }) => fee)));
  }
}

async function checkMarkets(client: ExchangeClient): Promise<void> {
  for (const market of marketNames) {
    const { asks, bids } = await client.call(orderBook, { market, limit: 100 });
    expect(asks.length + bids.length).toBeGreaterThan(0);
  }
  expect(Object.keys(await client.call(futures, {}))).toEqual(['BTC_PERP']);
}

describe.each([
  { mode: 'one-way', isHedged: false },
  { mode: 'hedge', isHedged: true },
])('after any sequence of orders in $mode mode', ({ isHedged }) => {
  test('the relay’s client can read every list, and the lists agree with the state', async () => {
    await fc.assert(
      fc.asyncProperty(randomSteps, async (steps) => {
        const trading = play(steps, isHedged);
        for (const account of accounts) {
          const client = connect(trading, account);
          await checkBalances(client, trading.state, account);
          await checkPositions(client, trading.state, account);
          await checkOrders(client, trading.state, account);
          await checkFills(client, trading.state, account);
          await checkMarkets(client);
        }
      }),
      { seed: 20_263, numRuns: runs(25) },
    );
  });
});
