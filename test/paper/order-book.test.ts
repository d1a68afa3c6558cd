import { beforeEach, describe, expect, test } from '@jest/globals';
import { formatDecimal, parseDecimal } from '../../lib/base/decimal.ts';
import { applyCommand } from '../../lib/paper/engine/engine.ts';
import { createExchangeState, type ExchangeState } from '../../lib/paper/engine/exchange-state.ts';
import { bestPriceFor, bookOf } from '../../lib/paper/engine/order-book.ts';

let state: ExchangeState;

beforeEach(() => {
  state = createExchangeState();
});

function rest(side: 'buy' | 'sell', price: string, amount: string): void {
  applyCommand(state, {
    kind: 'create',
    atMs: 1,
    account: 'second',
    order: {
      type: 'spot_limit',
      market: 'BTC_USDT',
      side,
      amount: parseDecimal(amount),
      price: parseDecimal(price),
      clientOrderId: '',
      stp: 'no',
    },
  });
}

/** The first levels as text. */
function levels(side: 'asks' | 'bids', count: number, market = 'BTC_USDT'): (string | undefined)[][] {
  return bookOf(state, market)
    [side].slice(0, count)
    .map((level) => level.map(formatDecimal));
}

describe('the order book', () => {
  test('has the last price as lowest ask, one step below it the highest bid, and deeper levels 0.1 % apart', () => {
    expect(levels('asks', 3)).toEqual([
      ['60000', '1'],
      ['60060', '1.04'],
      ['60120', '1.08'],
    ]);
    expect(levels('bids', 3)).toEqual([
      ['59999.99', '1'],
      ['59939.99', '1.04'],
      ['59879.99', '1.08'],
    ]);
    expect(bookOf(state, 'BTC_USDT').asks).toHaveLength(60);
  });

  test.each([
    ['ETH_USDT', ['3000', '20'], ['2999.99', '20']],
    ['SOL_USDT', ['150', '400'], ['149.999', '400']],
    ['BTC_PERP', ['60000', '1'], ['59999.9', '1']],
    ['DBTC_DUSDT', ['60000', '1'], ['59999.99', '1']],
  ])('of %s has prices and amounts on the steps of the market', (market, ask, bid) => {
    expect(levels('asks', 1, market)).toEqual([ask]);
    expect(levels('bids', 1, market)).toEqual([bid]);
  });

  test('follows the last price', () => {
    applyCommand(state, {
      kind: 'trade',
      atMs: 1,
      market: 'BTC_USDT',
      price: parseDecimal('50000'),
      volume: null,
    });

    expect(levels('asks', 2)).toEqual([
      ['50000', '1'],
      ['50050', '1.04'],
    ]);
  });

  test('includes the resting orders of all accounts, added up at the same price', () => {
    rest('sell', '60030', '2');
    rest('sell', '60060', '0.5');
    rest('sell', '60060', '0.25');

    expect(levels('asks', 3)).toEqual([
      ['60000', '1'],
      ['60030', '2'],
      ['60060', '1.79'],
    ]);
  });

  test('has no waiting stops in it', () => {
    applyCommand(state, {
      kind: 'create',
      atMs: 1,
      account: 'main',
      order: {
        type: 'stop_limit',
        market: 'BTC_USDT',
        side: 'sell',
        amount: parseDecimal('1'),
        price: parseDecimal('60010'),
        activationPrice: parseDecimal('59000'),
        clientOrderId: '',
        stp: 'no',
      },
    });

    expect(levels('asks', 2)).toEqual([
      ['60000', '1'],
      ['60060', '1.04'],
    ]);
  });

  test('is unchanged by a fill, because the counterparty replaces what is taken', () => {
    rest('buy', '60100', '1.5');

    expect(levels('asks', 1)).toEqual([['60000', '1']]);
  });

  test('gives the best price for either side', () => {
    rest('buy', '59999.995', '1');

    expect(formatDecimal(bestPriceFor(state, 'BTC_USDT', 'buy'))).toBe('60000');
    expect(formatDecimal(bestPriceFor(state, 'BTC_USDT', 'sell'))).toBe('59999.995');
  });
});
