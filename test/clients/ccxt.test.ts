import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { parseDecimal } from '../../lib/base/decimal.ts';
import { type PaperExchange, startPaperExchange } from '../../lib/paper/server/server.ts';
import { type Ccxt, type CcxtRecord, connectCcxt } from './ccxt.ts';

/**
 * ccxt is written for the real exchange. What it can do here without a change but the address, it can do there; it
 * rounds to JavaScript numbers, so amounts are round.
 */
let paper: PaperExchange;
let ccxt: Ccxt;

beforeEach(async () => {
  paper = await startPaperExchange({ port: 0, dialect: 'live', walk: false });
  ccxt = await connectCcxt(paper.url, 'paper-key', 'paper-secret');
  await ccxt.loadMarkets();
});

afterEach(() => paper.close());

const spot = 'BTC/USDT';
const swap = 'BTC/USDT:USDT';
const idOf = ({ id }: CcxtRecord) => String(id);

describe('ccxt', () => {
  test('loads the markets and currencies', async () => {
    const markets = await ccxt.loadMarkets();

    expect(Object.keys(markets).toSorted()).toEqual(
      [spot, swap, 'DBTC/DUSDT', 'ETH/USDT', 'SOL/USDT'].toSorted(),
    );
    expect(markets[spot]).toMatchObject({
      id: 'BTC_USDT',
      type: 'spot',
      margin: true,
      active: true,
      taker: 0.001,
      precision: { amount: 0.000001, price: 0.01 },
      limits: { amount: { min: 0.00001 }, cost: { min: 5.05 } },
    });
    expect(markets[swap]).toMatchObject({ id: 'BTC_PERP', type: 'swap', linear: true, contractSize: 1 });
    expect(Object.keys(ccxt.currencies).toSorted()).toEqual(
      ['BTC', 'DBTC', 'DUSDT', 'ETH', 'SOL', 'UAH', 'USDT'].toSorted(),
    );
  });

  test('reads what the markets do', async () => {
    paper.control.setPrice('BTC_USDT', parseDecimal('61500'), parseDecimal('2'));

    expect(await ccxt.fetchTicker(spot)).toMatchObject({
      bid: 61_499.99,
      ask: 61_500,
      last: 61_500,
      baseVolume: 2,
      quoteVolume: 123_000,
      percentage: 2.5,
    });
    expect(await ccxt.fetchTickers([spot])).toMatchObject({ [spot]: { last: 61_500, quoteVolume: 123_000 } });
    expect(await ccxt.fetchTickers([swap], { type: 'swap' })).toMatchObject({
      [swap]: { bid: 59_999.9, ask: 60_000, indexPrice: 60_000 },
    });
    const { asks, bids } = await ccxt.fetchOrderBook(spot, 2);
    expect({ asks, bids }).toEqual({
      asks: [
        [61_500, 1],
        [61_561.5, 1.04],
      ],
      bids: [
        [61_499.99, 1],
        [61_438.49, 1.04],
      ],
    });
    expect(await ccxt.fetchTrades(spot)).toMatchObject([{ price: 61_500, amount: 2, cost: 123_000 }]);
    expect(await ccxt.fetchFundingRates()).toMatchObject({ [swap]: { fundingRate: 0 } });
  });

  test('reads the status, the clock and the fees', async () => {
    expect(await ccxt.fetchStatus()).toMatchObject({ status: 'ok' });
    expect(await ccxt.v4PublicGetPlatformStatus()).toEqual({ status: 'system operational' });
    expect(Math.abs((await ccxt.fetchTime()) - Date.now())).toBeLessThan(60_000);
    expect(await ccxt.fetchTradingFees()).toMatchObject({ [spot]: { maker: 0.001, taker: 0.001 } });
    expect(await ccxt.v4PrivatePostMarketFee()).toMatchObject({ taker: '0.1', futures_taker: '0.035' });
    expect(await ccxt.fetchDepositWithdrawFees()).toMatchObject({ BTC: { withdraw: { fee: 0.0004 } } });
    expect(await ccxt.v4PublicGetCollateralMarkets()).toMatchObject({
      result: ['BTC_USDT', 'ETH_USDT', 'SOL_USDT'],
    });
  });

  test('places a limit order, finds it, and cancels it', async () => {
    const placed = await ccxt.createOrder(spot, 'limit', 'buy', 0.01, 50_000, { clientOrderId: 'mine-1' });

    const open = {
      id: idOf(placed),
      clientOrderId: 'mine-1',
      status: 'open',
      price: 50_000,
      remaining: 0.01,
    };
    expect(placed).toMatchObject(open);
    expect(await ccxt.fetchOpenOrders(spot)).toMatchObject([open]);
    expect(await ccxt.fetchOrder(idOf(placed), spot)).toMatchObject(open);
    expect(await ccxt.fetchBalance()).toMatchObject({ USDT: { free: 999_500, used: 500, total: 1_000_000 } });
    expect(await ccxt.cancelOrder(idOf(placed), spot)).toMatchObject({ status: 'canceled' });
    expect(await ccxt.fetchOpenOrders(spot)).toEqual([]);
    expect(await ccxt.fetchOrder(idOf(placed), spot)).toMatchObject({ status: 'canceled', filled: 0 });
  });

  test('sends limit orders that only make or only take', async () => {
    const maker = await ccxt.createOrder(spot, 'limit', 'sell', 0.01, 61_000, { postOnly: true });
    const taker = await ccxt.createOrder(spot, 'limit', 'buy', 0.01, 60_100, { timeInForce: 'IOC' });

    expect(maker).toMatchObject({ status: 'open', timeInForce: 'PO' });
    expect(taker).toMatchObject({ status: 'closed', timeInForce: 'IOC', filled: 0.01, average: 60_000 });
    await expect(
      ccxt.createOrder(spot, 'limit', 'buy', 0.01, 60_100, { postOnly: true }),
    ).rejects.toMatchObject({
      message: expect.stringContaining("couldn't be executed as a maker order"),
    });
  });

  test('buys for an amount of money and sells an amount, and reads the fills and the balance', async () => {
    const bought = await ccxt.createMarketBuyOrderWithCost(spot, 600);
    const sold = await ccxt.createOrder(spot, 'market', 'sell', 0.005);

    expect(bought).toMatchObject({ status: 'closed', filled: 0.01, cost: 600 });
    expect(sold).toMatchObject({ status: 'closed', filled: 0.005, average: 59_999.99 });
    expect(await ccxt.fetchMyTrades(spot)).toMatchObject([
      { order: idOf(bought), side: 'buy', amount: 0.01, takerOrMaker: 'taker', fee: { currency: 'BTC' } },
      { order: idOf(sold), side: 'sell', amount: 0.005, price: 59_999.99, fee: { currency: 'USDT' } },
    ]);
    expect(await ccxt.fetchOrderTrades(idOf(bought), spot)).toMatchObject([{ amount: 0.01, price: 60_000 }]);
    expect(await ccxt.fetchClosedOrders(spot)).toMatchObject([{ id: idOf(bought) }, { id: idOf(sold) }]);
    // 0.00001 BTC and 0.29999995 USDT of fees.
    expect(await ccxt.fetchBalance()).toMatchObject({
      BTC: { total: 10.00499 },
      USDT: { total: 999_699.69995005 },
    });
  });

  test('places stop orders, which wake when their trigger price is reached', async () => {
    const limit = await ccxt.createOrder(spot, 'limit', 'buy', 0.01, 61_500, { triggerPrice: 61_000 });
    const market = await ccxt.createOrder(spot, 'market', 'sell', 0.01, undefined, { triggerPrice: 59_000 });

    expect(await ccxt.fetchOpenOrders(spot)).toMatchObject([
      { id: idOf(limit), type: 'limit', triggerPrice: 61_000, status: 'open' },
      { id: idOf(market), type: 'market', triggerPrice: 59_000, status: 'open' },
    ]);
    paper.control.setPrice('BTC_USDT', parseDecimal('61000'));
    paper.control.setPrice('BTC_USDT', parseDecimal('58900'));
    expect(await ccxt.fetchOpenOrders(spot)).toEqual([]);
    expect(await ccxt.fetchClosedOrders(spot)).toMatchObject([
      { id: idOf(limit), filled: 0.01, side: 'buy' },
      { id: idOf(market), filled: 0.01, side: 'sell' },
    ]);
  });

  test('changes orders, which have another id then', async () => {
    const limit = await ccxt.createOrder(spot, 'limit', 'buy', 0.01, 50_000, { clientOrderId: 'mine-1' });
    const stop = await ccxt.createOrder(spot, 'market', 'sell', 0.01, undefined, { triggerPrice: 59_000 });
    const buyStop = await ccxt.createOrder(spot, 'market', 'buy', 600, undefined, { triggerPrice: 61_000 });

    const edited = await ccxt.editOrder(idOf(limit), spot, 'limit', 'buy', 0.02, 51_000);
    const moved = await ccxt.editOrder(idOf(stop), spot, 'market', 'sell', 0.02, undefined, {
      triggerPrice: 58_000,
    });
    const dearer = await ccxt.editOrder(idOf(buyStop), spot, 'market', 'buy', 700);

    expect(edited).toMatchObject({ clientOrderId: 'mine-1', status: 'open', amount: 0.02, price: 51_000 });
    expect(moved).toMatchObject({ type: 'market', amount: 0.02, triggerPrice: 58_000 });
    expect(dearer).toMatchObject({ side: 'buy', triggerPrice: 61_000, info: { amount: '700' } });
    const open = await ccxt.fetchOpenOrders(spot);
    expect(open.map(idOf).toSorted()).toEqual([edited, moved, dearer].map(idOf).toSorted());
    expect(open.map(idOf)).not.toContain(idOf(limit));
    expect(await ccxt.fetchOrder(idOf(limit), spot)).toMatchObject({ status: 'canceled' });
    await expect(ccxt.editOrder(idOf(limit), spot, 'limit', 'buy', 0.02, 52_000)).rejects.toMatchObject({
      name: 'OrderNotFound',
    });
  });

  test('opens a perpetual position with leverage, protects it, and closes it', async () => {
    expect(await ccxt.setLeverage(5)).toMatchObject({ leverage: 5 });
    const entry = await ccxt.createOrder(swap, 'market', 'buy', 0.1);
    const exit = await ccxt.createOrder(swap, 'limit', 'sell', 0.1, 65_000, { reduceOnly: true });
    const stop = { triggerPrice: 55_000, reduceOnly: true };
    const protection = await ccxt.createOrder(swap, 'market', 'sell', 0.1, undefined, stop);

    expect(entry).toMatchObject({ status: 'closed', filled: 0.1, average: 60_000 });
    expect(await ccxt.fetchPositions()).toMatchObject([
      { symbol: swap, entryPrice: 60_000, collateral: 1200, info: { amount: '0.1', positionSide: 'BOTH' } },
    ]);
    const open = await ccxt.fetchOpenOrders(swap);
    expect(open.map(idOf)).toEqual([idOf(exit), idOf(protection)]);

    await ccxt.createOrder(swap, 'market', 'sell', 0.1, undefined, { reduceOnly: true });

    expect(await ccxt.fetchPositions()).toEqual([]);
    expect(await ccxt.fetchPositionHistory(swap)).toMatchObject([
      { entryPrice: 0, realizedPnl: -2.1099965 },
      { entryPrice: 60_000, realizedPnl: -2.1 },
    ]);
    expect(await ccxt.v4PrivatePostCollateralAccountSummary()).toMatchObject({ leverage: 5 });
  });

  test('trades on margin, and reads the collateral balance', async () => {
    const margin = { marginMode: 'cross' };

    const bought = await ccxt.createOrder('ETH/USDT', 'market', 'buy', 1, undefined, margin);
    const resting = await ccxt.createOrder('ETH/USDT', 'limit', 'sell', 1, 3300, margin);

    expect(bought).toMatchObject({ status: 'closed', filled: 1, cost: 3000, fee: { cost: 3 } });
    expect(await ccxt.fetchPositions()).toMatchObject([{ symbol: 'ETH/USDT', entryPrice: 3000 }]);
    expect(await ccxt.fetchOpenOrders()).toMatchObject([{ id: idOf(resting), symbol: 'ETH/USDT' }]);
    expect(await ccxt.fetchBalance({ type: 'swap' })).toMatchObject({ USDT: { total: 999_997 } });
  });

  test('reads the main balance', async () => {
    expect(await ccxt.fetchBalance({ account: 'main' })).toMatchObject({ USDT: { total: 25_000.75 } });
  });

  test('cancels all orders of a market on one account', async () => {
    await ccxt.createOrder(spot, 'limit', 'buy', 0.01, 50_000);
    await ccxt.createOrder(spot, 'limit', 'buy', 0.01, 51_000);
    const margin = await ccxt.createOrder(spot, 'limit', 'buy', 0.01, 50_000, { marginMode: 'cross' });

    await ccxt.cancelAllOrders(spot);

    expect((await ccxt.fetchOpenOrders(spot)).map(idOf)).toEqual([idOf(margin)]);
  });

  test.each([
    [
      'an order without funds',
      'InsufficientFunds',
      () => ccxt.createOrder(spot, 'limit', 'buy', 100, 59_000),
    ],
    ['the cancellation of an unknown order', 'OrderNotFound', () => ccxt.cancelOrder('1', spot)],
    ['a lookup of an unknown order', 'OrderNotFound', () => ccxt.fetchOrder('1', spot)],
    [
      'an amount that is too small',
      'InvalidOrder',
      () => ccxt.createOrder(spot, 'limit', 'buy', 0.000001, 50_000),
    ],
  ])('knows the refusal of %s as %s', async (_, name, ask) => {
    await expect(ask()).rejects.toMatchObject({ name });
  });
});
