import { beforeEach, describe, expect, test } from '@jest/globals';
import { parseDecimal } from '../../lib/base/decimal.ts';
import type { OrderRequest, OrderType } from '../../lib/model/order.ts';
import type { CommandResult } from '../../lib/paper/engine/command-result.ts';
import { applyCommand } from '../../lib/paper/engine/engine.ts';
import { createExchangeState, type ExchangeState } from '../../lib/paper/engine/exchange-state.ts';
import { describeState, type OrderState } from '../../lib/paper/server/state.ts';

let state: ExchangeState;
let atMs: number;

beforeEach(() => {
  state = createExchangeState();
  atMs = 1_000;
});

type Fields = Partial<Omit<OrderRequest, 'amount' | 'price' | 'activationPrice' | 'type' | 'stp'>> & {
  readonly amount?: string;
  readonly price?: string;
  readonly activationPrice?: string;
  readonly account?: string;
};

/** By default a buy of 1 BTC of the account `main`. */
function place(type: OrderType, { account = 'main', ...fields }: Fields = {}): CommandResult {
  atMs += 1;
  const { amount = '1', price, activationPrice, ...others } = fields;
  return applyCommand(state, {
    kind: 'create',
    atMs,
    account,
    order: {
      type,
      market: 'BTC_USDT',
      side: 'buy',
      amount: parseDecimal(amount),
      clientOrderId: '',
      stp: 'no',
      ...(price === undefined ? {} : { price: parseDecimal(price) }),
      ...(activationPrice === undefined ? {} : { activationPrice: parseDecimal(activationPrice) }),
      ...others,
    },
  });
}

function trade(price: string, volume?: string): void {
  atMs += 1;
  applyCommand(state, {
    kind: 'trade',
    atMs,
    market: 'BTC_USDT',
    price: parseDecimal(price),
    volume: volume === undefined ? null : parseDecimal(volume),
  });
}

function order(index: number): OrderState | undefined {
  return describeState(state).orders[index];
}

const spot = (ticker: string, account = 'main') => describeState(state).accounts[account]?.spot[ticker];
const held = (account = 'main') => describeState(state).accounts[account]?.positions['BTC_USDT'];
const deals = () =>
  state.deals.map(({ account, role, amount, price, fee, feeAsset }) =>
    [account, role, amount.toFixed(), price.toFixed(), fee.toFixed(), feeAsset].join(' '),
  );

const limits = ['limit', 'spot_limit'] as const;
const markets = ['market', 'spot_stock_market'] as const;

describe.each(limits)('a %s order', (type) => {
  test('fills level by level, never beyond its limit, and the rest rests', () => {
    place(type, { amount: '3', price: '60060' });

    expect(order(0)).toMatchObject({
      status: 'partially_filled',
      filled: '2.04',
      filledNotional: '122462.4',
    });
    expect(order(0)?.remaining).toBe('0.96');
    expect(state.deals.map(({ price }) => price.toFixed())).toEqual(['60000', '60060']);
    expect(state.open.size).toBe(1);
  });

  test('that is ioc never rests: what does not fill at once is cancelled', () => {
    place(type, { amount: '3', price: '60060', ioc: true });
    place(type, { price: '59000', ioc: true });
    place(type, { price: '60000', ioc: true });

    expect([order(0), order(1), order(2)]).toMatchObject([
      { status: 'cancelled', endReason: null, filled: '2.04', remaining: '0.96', reserved: '0' },
      { status: 'cancelled', endReason: null, filled: '0', remaining: '1', reserved: '0' },
      { status: 'filled', filled: '1' },
    ]);
  });

  test('that is post-only is refused where it would take, and rests elsewhere', () => {
    const refusal = type === 'limit' ? 'collateral_would_take' : 'spot_would_take';

    expect(place(type, { price: '60000', postOnly: true })).toEqual({ result: 'refused', refusal });
    expect(place(type, { price: '59999.99', postOnly: true }).result).toBe('order');
    trade('59999.99');
    expect(state.deals).toMatchObject([{ role: 'maker' }]);
  });

  test('stops at the taker band, 5 % from the best price, and the rest is cancelled', () => {
    for (const account of ['spot', 'collateral'] as const)
      applyCommand(state, {
        kind: 'set_funds',
        atMs,
        account: 'main',
        of: account,
        ticker: 'USDT',
        amount: parseDecimal('90000000'),
      });
    place(type, { amount: '130', price: '70000' });

    expect(order(0)).toMatchObject({ status: 'cancelled', endReason: 'CANCELED_TAKER_BAND', filled: '102' });
    expect(state.deals.at(-1)?.price.toFixed()).toBe('63000');
  });

  test('meets the resting order of another account at the price of that order', () => {
    place(type, { account: 'second', side: 'sell', price: '60030', amount: '0.5' });
    place(type, { amount: '2', price: '60100' });

    expect(deals().map((deal) => deal.split(' ').slice(0, 4).join(' '))).toEqual([
      'main taker 1 60000',
      'second maker 0.5 60030',
      'main taker 0.5 60030',
      'main taker 0.5 60060',
    ]);
    expect(order(0)?.status).toBe('filled');
  });
});

describe.each(markets)('a %s order', (type) => {
  test('walks the book, so that more costs more', () => {
    place(type);
    place(type, { amount: '3' });

    expect([order(0), order(1)]).toMatchObject([
      { status: 'filled', filledNotional: '60000', price: null },
      { status: 'filled', filledNotional: '180177.6' },
    ]);
  });

  test('sells at the bids', () => {
    place(type, { side: 'sell', amount: '2' });

    expect(order(0)).toMatchObject({ status: 'filled', filledNotional: '119939.98' });
  });

  test('is refused when the book asks more than the account can pay', () => {
    const refusal = type === 'market' ? 'collateral_too_small' : 'balance_too_small';

    expect(place(type, { amount: '40' })).toEqual({ result: 'refused', refusal });
    expect(state.deals).toEqual([]);
  });
});

describe('a spot order', () => {
  test('that buys spends quote, and pays the fee in what it buys', () => {
    place('spot_stock_market');

    expect(spot('USDT')).toEqual({ available: '940000', reserved: '0' });
    expect(spot('BTC')).toEqual({ available: '10.999', reserved: '0' });
    expect(deals()).toEqual(['main taker 1 60000 0.001 BTC']);
    expect(describeState(state)).toMatchObject({ fees: { BTC: '0.001' } });
    expect(held()).toBeUndefined();
  });

  test('that sells spends base, and pays the fee in quote', () => {
    place('spot_limit', { side: 'sell', price: '60000' });
    expect(spot('BTC')).toEqual({ available: '9', reserved: '1' });

    trade('60000', '0.4');

    expect(spot('BTC')).toEqual({ available: '9', reserved: '0.6' });
    expect(spot('USDT')).toEqual({ available: '1023976', reserved: '0' });
    expect(deals()).toEqual(['main maker 0.4 60000 24 USDT']);
  });

  test('reserves its notional, and nothing of the collateral account', () => {
    place('spot_limit', { price: '59000', amount: '2' });

    expect(spot('USDT')).toEqual({ available: '882000', reserved: '118000' });
    expect(describeState(state).accounts['main']?.collateral['USDT']?.reserved).toBe('0');
  });

  test('is refused for more than the spot balance, whatever the collateral account holds', () => {
    const refused = { result: 'refused', refusal: 'balance_too_small' };

    expect(place('spot_limit', { price: '50000', amount: '20.00001' })).toEqual(refused);
    expect(place('spot_limit', { side: 'sell', price: '70000', amount: '10.00001' })).toEqual(refused);
    expect(place('spot_limit', { price: '50000', amount: '20' }).result).toBe('order');
  });
});

describe('a buy sized in quote units', () => {
  test('buys what its money pays for, and keeps a rest too small for one step', () => {
    place('spot_market', { amount: '100' });

    expect(order(0)).toMatchObject({
      status: 'filled',
      amount: '100',
      filled: '0.001666',
      filledNotional: '99.96',
      remaining: '0.04',
    });
    expect(spot('USDT')).toEqual({ available: '999900.04', reserved: '0' });
  });

  test('walks the book', () => {
    place('spot_market', { amount: '90030' });

    expect(order(0)).toMatchObject({
      status: 'filled',
      filled: '1.5',
      filledNotional: '90030',
      remaining: '0',
    });
  });

  test('that waits for its trigger reserves its money, and fills at the price that triggers it', () => {
    place('spot_stop_market', { amount: '1000', activationPrice: '62000' });
    expect(spot('USDT')).toEqual({ available: '999000', reserved: '1000' });

    trade('62500', '0.000001');

    expect(order(0)).toMatchObject({
      status: 'filled',
      filled: '0.016',
      filledNotional: '1000',
      remaining: '0',
    });
    expect(spot('USDT')).toEqual({ available: '999000', reserved: '0' });
  });
});

describe('a stop-market order on the collateral account', () => {
  test('reserves the margin at its trigger price, and fills whole at the price that triggers it', () => {
    place('stop_market', { activationPrice: '59000', side: 'sell' });
    expect(order(0)?.reserved).toBe('59059');

    trade('58500', '0.1');

    expect(order(0)).toMatchObject({ status: 'filled', filledNotional: '58500', fee: '58.5', reserved: '0' });
    expect(held()).toMatchObject({ amount: '-1', basePrice: '58500', margin: '58500' });
  });
});

describe('a reduce-only order', () => {
  test('is refused without a position, and in the direction of the position', () => {
    const refused = { result: 'refused', refusal: 'reduce_only_no_position' };

    expect(place('market', { reduceOnly: true })).toEqual(refused);
    place('market');
    expect(place('market', { reduceOnly: true })).toEqual(refused);
    expect(place('stop_limit', { reduceOnly: true, price: '62000', activationPrice: '61000' })).toEqual(
      refused,
    );
  });

  test('is trimmed to the position', () => {
    place('market');
    place('market', { side: 'sell', amount: '5', reduceOnly: true });

    expect(order(1)).toMatchObject({ status: 'filled', amount: '1', filled: '1' });
    expect(held()).toBeUndefined();
  });

  test('that waits is cancelled once the position is gone', () => {
    place('market');
    place('stop_market', { side: 'sell', activationPrice: '58000', reduceOnly: true });
    expect(order(1)?.reserved).toBe('0');

    place('market', { side: 'sell' });

    expect(order(1)).toMatchObject({ status: 'cancelled', endReason: 'AUTO_CANCELED_REDUCE_ONLY' });
  });

  test('that waits fills no more than what is left of the position', () => {
    place('market', { amount: '2' });
    place('limit', { side: 'sell', amount: '2', price: '61000', reduceOnly: true });
    place('market', { side: 'sell', amount: '1.5' });

    trade('61000');

    expect(order(1)).toMatchObject({
      status: 'cancelled',
      endReason: 'AUTO_CANCELED_REDUCE_ONLY',
      filled: '0.5',
      remaining: '1.5',
    });
    expect(held()).toBeUndefined();
  });

  test('ends without a reduction when the position has turned', () => {
    place('market');
    place('limit', { side: 'sell', price: '61000', reduceOnly: true });

    place('market', { side: 'sell', amount: '3' });

    expect(order(1)).toMatchObject({ status: 'cancelled', filled: '0' });
    expect(held()).toMatchObject({ amount: '-2' });
  });
});
