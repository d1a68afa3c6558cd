import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { one, parseDecimal } from '../../lib/base/decimal.ts';
import type { Account } from '../../lib/model/account.ts';
import type { Market } from '../../lib/model/market.ts';
import type { LimitSignal, OrderSize } from '../../lib/model/signal.ts';
import { type FreeCollateral, type Holding, sizeFromAccount } from '../../lib/signals/size-from-account.ts';
import { runs } from '../support/runs.ts';
import { account, size, buy as stopBuy } from './sized.ts';

const { stopPrice: _, ...common } = stopBuy;
const share = (quantityPercent: `${string}%`, of: 'balance' | 'position' = 'balance'): OrderSize => ({
  unit: 'percent',
  quantityPercent,
  of,
});
const buy: LimitSignal = { ...common, orderType: 'limit', limitPrice: '50000', size: share('10%') };
const sell: LimitSignal = { ...buy, side: 'sell' };

const collateral = (changes: Partial<Record<'free' | 'leverage' | 'bracket', string>> = {}): Holding => {
  const { free = '1000', leverage = '5', bracket } = changes;
  return {
    of: 'collateral',
    free: parseDecimal(free),
    leverage: parseDecimal(leverage),
    bracket: bracket === undefined ? null : parseDecimal(bracket),
  };
};
const noFee = { takerFeeRate: parseDecimal('0') };

describe('a share of the free collateral', () => {
  test('is divided by what one unit needs: its margin and the taker fee', () => {
    // 100 / (50000 x (1/5 + 0.00055)) = 0.00997…
    expect(size(buy, {}, account, { holding: collateral() })).toMatchObject({ order: { amount: '0.009' } });
    // 100 / (50000 x 1/5) = 0.01
    expect(size(buy, noFee, account, { holding: collateral() })).toMatchObject({ order: { amount: '0.01' } });
  });

  test('of 100 % with leverage 1 costs no more than the free collateral', () => {
    const all = { ...buy, size: share('100%') };

    expect(size(all, {}, account, { holding: collateral({ leverage: '1' }) })).toMatchObject({
      order: { amount: '0.019' },
    });
  });

  test('is in USDT, so in a market with another quote currency it is denied', () => {
    const inBtc: Partial<Market> = { name: 'ETH_BTC', base: 'ETH', quote: 'BTC', isFutures: false };

    expect(
      size(buy, inBtc, account, { holding: collateral({ free: '10000' }), tradesOn: 'margin' }),
    ).toMatchObject({ denial: { rule: 'collateral_currency', limit: 'USDT', actual: 'BTC' } });
  });

  test('beyond the bracket of the leverage counts with a leverage of 10', () => {
    // 1000 of margin: 20 for 1000 at 50, and 980 for 9800 at 10.
    const wide = collateral({ free: '1000', leverage: '50', bracket: '1000' });

    expect(size({ ...buy, size: share('100%') }, noFee, account, { holding: wide })).toMatchObject({
      order: { amount: '0.216' },
    });
  });

  test('that is used up is denied as too small, with both numbers', () => {
    expect(size(buy, {}, account, { holding: collateral({ free: '-3' }) })).toMatchObject({
      denial: { rule: 'amount_rounds_to_zero', limit: '0.001', actual: '0' },
    });
    expect(size(buy, {}, account, { holding: collateral({ free: '150' }) })).toMatchObject({
      denial: { rule: 'min_amount', limit: '0.002', actual: '0.001' },
    });
  });

  test('whatever the numbers, needs no more than that share, and one step more would', () => {
    const cents = (least: number, most: number) =>
      fc
        .integer({ min: least, max: most })
        .map((value) => parseDecimal(String(value)).div(parseDecimal('100')));
    let sized = 0;
    fc.assert(
      fc.property(
        cents(100, 10_000_000),
        cents(1, 10_000),
        fc.constantFrom('1', '2', '3', '5', '10', '20', '50', '100'),
        cents(100, 10_000_000),
        fc.option(cents(100, 100_000_000)),
        fc.constantFrom('0', '0.00035', '0.001'),
        (free, percent, leverage, unitPrice, bracket, feeRate) => {
          const takerFeeRate = parseDecimal(feeRate);
          const holding: FreeCollateral = {
            of: 'collateral',
            free,
            leverage: parseDecimal(leverage),
            bracket,
          };
          const asked = sizeFromAccount(
            { ...buy, size: { unit: 'percent', quantityPercent: `${percent.toFixed()}%`, of: 'balance' } },
            holding,
            { unitPrice, takerFeeRate },
          );
          if (!asked.ok) return;
          sized += 1;
          const budget = free.times(percent).div(parseDecimal('100'));
          const costOf = (amount: typeof free) => {
            const notional = amount.times(unitPrice);
            const inside = bracket === null || notional.lt(bracket) ? notional : bracket;
            const rest = notional.minus(inside);
            const restLeverage = parseDecimal(Number(leverage) < 10 ? leverage : '10');
            return inside
              .div(holding.leverage)
              .plus(rest.div(restLeverage))
              .plus(notional.times(takerFeeRate));
          };
          const hair = parseDecimal('1e-20');

          expect(costOf(asked.asked).lte(budget.times(one.plus(hair)))).toBe(true);
          expect(costOf(asked.asked.times(one.plus(parseDecimal('1e-10')))).gt(budget)).toBe(true);
        },
      ),
      { seed: 20_261_122, numRuns: runs(1_000) },
    );
    expect(sized).toBe(runs(1_000));
  });
});

describe('a share of a spot balance', () => {
  const market = { name: 'BTC_USDT', isFutures: false, isCollateral: false };
  const onSpot = (currency: string, available: string) => ({
    tradesOn: 'spot' as const,
    holding: { of: 'spot' as const, currency, available: parseDecimal(available) },
  });

  test('is quote money for a buy and base units for a sell', () => {
    expect(size(buy, market, account, onSpot('USDT', '5000'))).toMatchObject({
      order: { type: 'spot_limit', amount: '0.01' },
    });
    expect(size(sell, market, account, onSpot('BTC', '0.0599'))).toMatchObject({
      order: { type: 'spot_limit', amount: '0.005' },
    });
  });
});

describe('a share of the position', () => {
  const position = (amount: string, positionSide: 'LONG' | 'SHORT' | 'BOTH' = 'BOTH') => ({
    amount: parseDecimal(amount),
    positionSide,
  });
  const holding = (...positions: ReturnType<typeof position>[]) => ({
    holding: { of: 'position' as const, positions },
  });
  const half: LimitSignal = { ...sell, size: share('50%', 'position') };

  test('only reduces it', () => {
    expect(size(half, {}, account, holding(position('0.0299')))).toMatchObject({
      ok: true,
      order: { side: 'sell', amount: '0.014', reduceOnly: true },
    });
    expect(size({ ...half, side: 'buy' }, {}, account, holding(position('-0.0299')))).toMatchObject({
      ok: true,
      order: { side: 'buy', amount: '0.014', reduceOnly: true },
    });
  });

  test.each([
    ['no position', [], 'none', 'BTC_PERP has no open position'],
    ['a short one', [position('-0.02')], '-0.02', 'the open position in BTC_PERP is -0.02'],
  ])('is denied to a sell with %s', (_, positions, actual, held) => {
    expect(size(half, {}, account, holding(...positions))).toMatchObject({
      denial: {
        rule: 'no_position',
        limit: 'a long position',
        actual,
        message: expect.stringContaining(held),
      },
    });
  });

  test('in hedge mode names the side of the position that it reduces', () => {
    const both = holding(position('0.02', 'LONG'), position('-0.03', 'SHORT'));

    expect(size(half, {}, account, both)).toMatchObject({
      order: { amount: '0.01', positionSide: 'LONG', reduceOnly: true },
    });
    expect(size({ ...half, positionSide: 'SHORT' }, {}, account, both)).toMatchObject({
      denial: { rule: 'no_position' },
    });
  });
});

describe('what spot trading does not have is denied by name', () => {
  const market = { name: 'BTC_USDT', isFutures: false, isCollateral: true };
  const onSpot = { tradesOn: 'spot' } as const;
  const plain: LimitSignal = { ...buy, size: { unit: 'base', quantity: '0.01' } };
  const alarming: Account = { ...account, protection: 'alarm' };

  test.each([
    [{ stopLoss: '40000' }, 'stopLoss'],
    [{ takeProfit: '2%' }, 'takeProfit'],
    [{ positionSide: 'LONG' }, 'positionSide'],
    [{ size: share('10%', 'position') }, 'of: position'],
    [{ reduceOnly: true }, 'reduceOnly'],
  ] as const)('%j', (changes, actual) => {
    expect(size({ ...plain, ...changes }, market, alarming, onSpot)).toMatchObject({
      denial: { rule: 'not_on_spot', actual },
    });
  });

  test.each([
    [alarming, /set it in relay.config.ts, or send a stop_limit order of the other side after the entry$/],
    [{ ...account, region: 'eu' }, /takes only stop-market orders in the region .*: set stopKind: 'market'/],
  ] as const)('and the message names what to do: %#', (account, message) => {
    expect(size({ ...plain, stopLoss: '2%' }, market, account, onSpot)).toMatchObject({
      denial: { message: expect.stringMatching(message) },
    });
  });

  const keeping: Account = { ...account, protection: 'keep' };
  const kept = (changes: object, by: Account = keeping) => size({ ...plain, ...changes }, market, by, onSpot);

  test('but a stop-loss of a buy, where the relay keeps it: the order itself has none', () => {
    const sized = kept({ stopLoss: '2%' });

    expect(sized).toMatchObject({ ok: true, order: { type: 'spot_limit' } });
    expect(sized).not.toHaveProperty('order.stopLoss');
  });

  test.each([
    ['a take-profit', { takeProfit: '60000' }, 'not_on_spot'],
    ['several take-profits', { takeProfits: [{ price: '2%', share: '50%' }] }, 'not_on_spot'],
    ['a trailing stop-loss', { trailing: '2%' }, 'not_on_spot'],
    ['the stop-loss of a sale', { side: 'sell', stopLoss: '60000' }, 'not_on_spot'],
    ['a stop-loss at the price of the buy', { stopLoss: '50000' }, 'stop_loss_side'],
    [
      'one that is worth too little',
      { stopLoss: '26000', size: { unit: 'base', quantity: '0.002' } },
      'stop_loss_too_small',
    ],
  ] as const)('%s is denied there, too', (_, changes, rule) => {
    const least = { ...market, minTotal: parseDecimal('60') };

    expect(size({ ...plain, ...changes }, least, keeping, onSpot)).toMatchObject({ denial: { rule } });
  });

  test('and in a region without stop-limit orders a stop-loss with a limit price', () => {
    const inRegion: Account = { ...keeping, region: 'eu' };

    expect(kept({ stopLoss: '2%' }, inRegion)).toMatchObject({
      denial: { rule: 'not_on_spot', message: expect.stringContaining("stopKind: 'market'") },
    });
    expect(kept({ stopLoss: '2%' }, { ...inRegion, stopKind: 'market' })).toMatchObject({ ok: true });
  });

  test('but a reduce-only sell is a plain sell: it reduces what is held in any case', () => {
    const order = size({ ...plain, side: 'sell', reduceOnly: true }, market, account, onSpot);

    expect(order).toEqual({
      ok: true,
      order: {
        type: 'spot_limit',
        market: 'BTC_USDT',
        side: 'sell',
        amount: '0.01',
        price: '50000',
        clientOrderId: 'tr-1',
      },
    });
  });
});

test.each([
  ['futures', { isFutures: false }, 'market_trades_elsewhere'],
  ['margin', { isFutures: true }, 'market_trades_elsewhere'],
  ['margin', { isFutures: false, isCollateral: false }, 'market_not_collateral'],
] as const)('a market that trades on %s and is listed as %j is denied', (tradesOn, changes, rule) => {
  const plain: LimitSignal = { ...buy, size: { unit: 'base', quantity: '0.01' } };

  expect(size(plain, changes, account, { tradesOn })).toMatchObject({ denial: { rule } });
});
