import { beforeEach, describe, expect, test } from '@jest/globals';
import { parseDecimal } from '../../lib/base/decimal.ts';
import type { OrderRequest } from '../../lib/model/order.ts';
import type { CommandResult } from '../../lib/paper/engine/command-result.ts';
import type { NewOrder } from '../../lib/paper/engine/creating.ts';
import { applyCommand } from '../../lib/paper/engine/engine.ts';
import { createExchangeState, type ExchangeState } from '../../lib/paper/engine/exchange-state.ts';
import { moveOrder } from '../../lib/paper/engine/order-life.ts';
import { describeState, type OrderState } from '../../lib/paper/server/state.ts';

let state: ExchangeState;
let atMs: number;

beforeEach(() => {
  state = createExchangeState();
  atMs = 1_000;
});

type OrderText = Partial<Record<keyof OrderRequest, string>>;

/** By default a buy of 1 BTC with a trigger price of 61000 and a limit price of 61500. */
function create(fields: OrderText = {}, account = 'main'): CommandResult {
  const type = 'stop_limit';
  const activationPrice = parseDecimal(fields.activationPrice ?? '61000');
  return apply({ type, ...readFields(fields), activationPrice }, account);
}

/** By default a buy of 1 BTC at 59000, below the last price. */
function createLimit(fields: Omit<OrderText, 'activationPrice'> = {}, account = 'main'): CommandResult {
  return apply({ type: 'limit', ...readFields({ price: '59000', ...fields }) }, account);
}

function apply(order: NewOrder, account: string): CommandResult {
  atMs += 1;
  return applyCommand(state, { kind: 'create', atMs, account, order });
}

function readFields(fields: OrderText) {
  const { market = 'BTC_USDT', side = 'buy', clientOrderId = '', stopLoss, takeProfit } = fields;
  return {
    market,
    side: side === 'buy' ? 'buy' : 'sell',
    amount: parseDecimal(fields.amount ?? '1'),
    price: parseDecimal(fields.price ?? '61500'),
    stopLoss: stopLoss === undefined ? undefined : parseDecimal(stopLoss),
    takeProfit: takeProfit === undefined ? undefined : parseDecimal(takeProfit),
    clientOrderId,
    stp: 'no',
  } as const;
}

function trade(price: string, volume?: string, market = 'BTC_USDT'): CommandResult {
  atMs += 1;
  return applyCommand(state, {
    kind: 'trade',
    atMs,
    market,
    price: parseDecimal(price),
    volume: volume === undefined ? null : parseDecimal(volume),
  });
}

function cancel(orderId: number, account = 'main', market = 'BTC_USDT'): CommandResult {
  atMs += 1;
  return applyCommand(state, { kind: 'cancel', atMs, account, market, orderId });
}

function order(index: number): OrderState | undefined {
  return describeState(state).orders[index];
}

function collateral(ticker: string, account = 'main') {
  return describeState(state).accounts[account]?.collateral[ticker];
}

function position(market = 'BTC_PERP', account = 'main') {
  const held = describeState(state).accounts[account]?.positions[market];
  return held === undefined ? undefined : [held.amount, held.basePrice, held.margin];
}

/** Leaves the account USDT alone, so that its equity does not depend on prices. */
function holdOnlyUsdt(): void {
  for (const ticker of ['BTC', 'ETH', 'SOL'])
    applyCommand(state, {
      kind: 'set_funds',
      atMs,
      account: 'main',
      of: 'collateral',
      ticker,
      amount: parseDecimal('0'),
    });
}

const firstId = 10_000_000_001;

describe('a limit order', () => {
  test('that does not cross the last price rests, and reserves its notional and the taker fee', () => {
    createLimit();

    expect(order(0)).toMatchObject({
      type: 'limit',
      status: 'open',
      activated: true,
      price: '59000',
      activationPrice: null,
      remaining: '1',
      reserved: '59059',
    });
  });

  test('that rests fills at its own price when a trade reaches it', () => {
    createLimit();

    trade('58500', '0.4');
    expect(order(0)).toMatchObject({ status: 'partially_filled', remaining: '0.6', filledNotional: '23600' });
    trade('59000');

    expect(order(0)).toMatchObject({
      status: 'filled',
      remaining: '0',
      filledNotional: '59000',
      reserved: '0',
    });
  });

  test.each([
    ['a buy above the lowest ask', { side: 'buy', price: '61000' }, '60000', '60'],
    ['a buy at the lowest ask', { side: 'buy', price: '60000' }, '60000', '60'],
    ['a sell below the highest bid', { side: 'sell', price: '59000' }, '59999.99', '59.99999'],
  ])('that crosses the book fills at once at the best price: %s', (_, fields, filledNotional, fee) => {
    const { result } = createLimit(fields);

    expect(result).toBe('order');
    expect(order(0)).toMatchObject({
      status: 'filled',
      remaining: '0',
      filled: '1',
      filledNotional,
      // As a taker.
      fee,
      reserved: '0',
      updatedAtMs: 1_001,
    });
  });

  test('that fills at once leaves the client order id free for another', () => {
    createLimit({ price: '61000', clientOrderId: 'a' });

    expect(createLimit({ price: '61000', clientOrderId: 'a' }).result).toBe('order');
    expect(createLimit({ clientOrderId: 'b' }).result).toBe('order');
    expect(createLimit({ clientOrderId: 'b' })).toEqual({
      result: 'refused',
      refusal: 'client_order_id_used',
    });
  });

  test('that fills at once places its take-profit and stop-loss as a pair', () => {
    createLimit({ price: '61000', stopLoss: '58000', takeProfit: '63000' });

    expect([order(1), order(2)]).toMatchObject([
      { type: 'stop_limit', side: 'sell', activationPrice: '58000', activated: false, status: 'open' },
      { type: 'limit', side: 'sell', price: '63000', status: 'open' },
    ]);
  });

  test('that fills at once triggers a stop-loss that the price has already passed', () => {
    createLimit({ price: '61000', stopLoss: '60500' });

    expect(order(1)).toMatchObject({ type: 'stop_limit', side: 'sell', activated: true, status: 'filled' });
  });

  test('affects no stops of others and no resting orders', () => {
    create();
    createLimit({ side: 'sell', price: '62000', amount: '2' });

    createLimit({ price: '61000' });

    expect([order(0), order(1), order(2)]).toMatchObject([
      { type: 'stop_limit', activated: false, status: 'open' },
      { type: 'limit', remaining: '2', status: 'open' },
      { type: 'limit', status: 'filled' },
    ]);
  });

  test('is refused when the account cannot pay for it', () => {
    holdOnlyUsdt();

    expect(createLimit({ amount: '20' })).toEqual({ result: 'refused', refusal: 'collateral_too_small' });
  });
});

describe('a stop-limit order waiting', () => {
  test('gets an id above 32 bits and reserves its notional and the taker fee in the quote currency', () => {
    create();

    expect(order(0)).toEqual({
      orderId: firstId,
      account: 'main',
      clientOrderId: '',
      market: 'BTC_USDT',
      side: 'buy',
      positionSide: 'BOTH',
      type: 'stop_limit',
      status: 'open',
      endReason: null,
      activated: false,
      amount: '1',
      remaining: '1',
      price: '61500',
      activationPrice: '61000',
      postOnly: false,
      ioc: false,
      reduceOnly: false,
      filled: '0',
      filledNotional: '0',
      fee: '0',
      reserved: '61561.5',
      createdAtMs: 1_001,
      updatedAtMs: 1_001,
    });
    expect(collateral('USDT')).toEqual({ available: '938438.5', reserved: '61561.5' });
  });

  test('reserves the quote currency when it sells, too', () => {
    create({ side: 'sell', activationPrice: '59000', price: '58500', amount: '2' });

    expect(collateral('BTC')).toEqual({ available: '10', reserved: '0' });
    expect(collateral('USDT')).toEqual({ available: '882883', reserved: '117117' });
  });

  test.each([
    ['above the last price, so a rise triggers it', '61000', '60999.99', '61000'],
    ['below the last price, so a fall triggers it', '59000', '59000.01', '59000'],
  ])(
    'is triggered in the direction from the last price, not by its side: %s',
    (_, activationPrice, tooLittle, enough) => {
      create({ activationPrice, price: '50000' });

      expect(trade(tooLittle)).toEqual({ result: 'traded', touched: false });
      expect(order(0)?.activated).toBe(false);
      expect(trade(enough)).toEqual({ result: 'traded', touched: true });
      expect(order(0)).toMatchObject({
        orderId: firstId,
        activated: true,
        status: 'open',
        updatedAtMs: 1_003,
      });
    },
  );

  test('is refused with the last price as trigger price, which has no direction', () => {
    expect(create({ activationPrice: '60000' })).toEqual({
      result: 'refused',
      refusal: 'activation_at_last_price',
    });
    expect(order(0)).toBeUndefined();
  });

  test('is refused when the free margin is too small by the smallest amount', () => {
    holdOnlyUsdt();
    create({ amount: '16' });

    const refused = create({ amount: '0.243919' });
    const accepted = create({ amount: '0.243918' });

    expect(refused).toEqual({ result: 'refused', refusal: 'collateral_too_small' });
    expect(accepted.result).toBe('order');
  });

  test('is not affected by trades in another market', () => {
    create();

    trade('62000', undefined, 'ETH_USDT');

    expect(order(0)?.activated).toBe(false);
  });
});

describe('an activated order', () => {
  test('whose limit crosses the price fills at that price and pays the taker fee', () => {
    create();

    trade('61200');

    expect(order(0)).toMatchObject({
      status: 'filled',
      remaining: '0',
      filled: '1',
      filledNotional: '61200',
    });
    expect(order(0)).toMatchObject({ fee: '61.2', reserved: '0' });
    expect(collateral('USDT')).toEqual({ available: '999938.8', reserved: '0' });
    expect(collateral('BTC')).toEqual({ available: '10', reserved: '0' });
    expect(position('BTC_USDT')).toEqual(['1', '61200', '61200']);
    expect(describeState(state)).toMatchObject({ counterparty: { USDT: '0' }, fees: { USDT: '61.2' } });
  });

  test('whose limit does not cross rests, and fills at its own price for the maker fee', () => {
    create({ price: '60500' });

    trade('61000');
    trade('60500.01');
    expect(order(0)).toMatchObject({ status: 'open', activated: true });
    trade('60000');

    expect(order(0)).toMatchObject({ status: 'filled', filledNotional: '60500', fee: '60.5' });
  });

  test('that sells opens a short position and pays the fee', () => {
    create({ side: 'sell', activationPrice: '59000', price: '58000' });

    trade('58900');

    expect(order(0)).toMatchObject({ status: 'filled', filledNotional: '58900', fee: '58.9' });
    expect(collateral('USDT')).toEqual({ available: '999941.1', reserved: '0' });
    expect(position('BTC_USDT')).toEqual(['-1', '58900', '58900']);
  });

  test('fills no more than the volume of the trade, and the rest stays in the book as maker', () => {
    create();

    trade('61200', '0.4');
    expect(order(0)).toMatchObject({ status: 'partially_filled', remaining: '0.6', filledNotional: '24480' });
    trade('61400', '0.5');
    expect(order(0)).toMatchObject({ status: 'partially_filled', remaining: '0.1', filledNotional: '55230' });
    trade('61500', '7');

    expect(order(0)).toMatchObject({
      status: 'filled',
      remaining: '0',
      filledNotional: '61380',
      reserved: '0',
    });
    expect(position('BTC_USDT')).toEqual(['1', '61380', '61380']);
  });

  test('waits behind better prices, and behind older orders of the same price', () => {
    create({ price: '58000', activationPrice: '60500', clientOrderId: 'far' });
    create({ price: '59000', activationPrice: '60500', clientOrderId: 'near-old' });
    create({ price: '59000', activationPrice: '60500', clientOrderId: 'near-young' });
    trade('60500');

    trade('58000', '1.5');

    const left = describeState(state).orders.map((each) => [each.clientOrderId, each.remaining]);
    expect(left).toEqual([
      ['far', '1'],
      ['near-old', '0'],
      ['near-young', '0.5'],
    ]);
  });

  test('has priority by the time it entered the book, not by its id', () => {
    create({ price: '59000', activationPrice: '60800', clientOrderId: 'created first' });
    create({ price: '59000', activationPrice: '60500', clientOrderId: 'activated first' });
    trade('60500');
    trade('60800');

    trade('59000', '1');

    expect(order(0)?.status).toBe('open');
    expect(order(1)?.status).toBe('filled');
  });

  test('is still triggered when the volume is used up', () => {
    create({ clientOrderId: 'a' });
    create({ clientOrderId: 'b' });

    trade('61200', '1');

    expect(order(0)?.status).toBe('filled');
    expect(order(1)).toMatchObject({ status: 'open', activated: true });
  });
});

describe('cancelling', () => {
  test('releases the reserved funds, also of a partially filled order', () => {
    create();
    trade('61200', '0.4');

    const result = cancel(firstId);

    expect(result).toMatchObject({ result: 'order', order: { status: 'cancelled', endReason: null } });
    expect(order(0)).toMatchObject({ remaining: '0.6', reserved: '0' });
    expect(collateral('USDT')).toEqual({ available: '999975.52', reserved: '0' });
  });

  test.each([
    ['an order that never existed', 7, 'main', 'BTC_USDT'],
    ["somebody else's order", firstId, 'second', 'BTC_USDT'],
    ['an order of another market', firstId, 'main', 'ETH_USDT'],
  ])('finds nothing for %s', (_, orderId, account, market) => {
    create();

    expect(cancel(orderId, account, market)).toEqual({ result: 'refused', refusal: 'order_not_found' });
    expect(order(0)?.status).toBe('open');
  });

  test('finds nothing the second time, nor after a fill', () => {
    create();
    create();
    cancel(firstId);
    trade('61200');

    expect(cancel(firstId)).toEqual({ result: 'refused', refusal: 'order_not_found' });
    expect(cancel(firstId + 1)).toEqual({ result: 'refused', refusal: 'order_not_found' });
  });

  test('an order that ended cannot change its status', () => {
    const created = create();
    if (created.result !== 'order') throw new Error('not created');
    cancel(firstId);

    expect(() => moveOrder(state, created.order, 'filled', atMs)).toThrow(
      'order 10000000001 is cancelled and cannot become filled',
    );
  });
});

describe('client order ids', () => {
  test('are unique among the open orders of an account and market, and reusable after the end', () => {
    create({ clientOrderId: 'x' });

    expect(create({ clientOrderId: 'x' })).toEqual({ result: 'refused', refusal: 'client_order_id_used' });
    expect(create({ clientOrderId: 'X' }).result).toBe('order');
    expect(create({ clientOrderId: 'x' }, 'second').result).toBe('order');
    expect(create({ clientOrderId: 'x', market: 'BTC_PERP', amount: '0.001' }).result).toBe('order');
    cancel(firstId);
    expect(create({ clientOrderId: 'x' }).result).toBe('order');
  });

  test('may be absent in any number of orders', () => {
    create();

    expect(create().result).toBe('order');
    expect(describeState(state)).toMatchObject({
      acceptedCreates: 2,
      acceptedOrderIds: [firstId, firstId + 1],
    });
  });
});

describe('take-profit and stop-loss of a filled order', () => {
  test('are placed as one pair for its amount, which reserves nothing', () => {
    create({ stopLoss: '60000', takeProfit: '64000' });
    expect(describeState(state).otos).toEqual([
      { otoId: firstId + 1, orderId: firstId, stopLoss: '60000', takeProfit: '64000', isOpen: true },
    ]);

    trade('61200');

    expect(order(1)).toMatchObject({
      orderId: firstId + 3,
      type: 'stop_limit',
      side: 'sell',
      amount: '1',
      price: '59400',
      activationPrice: '60000',
      activated: false,
      reserved: '0',
    });
    expect(order(2)).toMatchObject({
      orderId: firstId + 4,
      type: 'limit',
      side: 'sell',
      amount: '1',
      price: '64000',
      activationPrice: null,
      activated: true,
      reserved: '0',
    });
    expect(describeState(state).ocos).toEqual([
      {
        ocoId: firstId + 2,
        account: 'main',
        market: 'BTC_USDT',
        stopLossId: firstId + 3,
        takeProfitId: firstId + 4,
        isOpen: true,
      },
    ]);
    expect(describeState(state).otos[0]?.isOpen).toBe(false);
    expect(describeState(state).acceptedCreates).toBe(1);
    expect(collateral('USDT')).toEqual({ available: '999938.8', reserved: '0' });
  });

  test('cancel each other: the take-profit fills, the stop-loss is cancelled', () => {
    create({ stopLoss: '60000', takeProfit: '64000' });
    trade('61200');

    trade('64500');

    expect(order(1)).toMatchObject({ status: 'cancelled', reserved: '0' });
    expect(order(2)).toMatchObject({ status: 'filled', filledNotional: '64000', fee: '64' });
    expect(describeState(state).ocos[0]?.isOpen).toBe(false);
    expect(position('BTC_USDT')).toBeUndefined();
  });

  test('cancel each other: the stop-loss fills, the take-profit is cancelled', () => {
    create({ stopLoss: '60000', takeProfit: '64000' });
    trade('61200');

    trade('59900');

    expect(order(1)).toMatchObject({ status: 'filled', filledNotional: '59900', fee: '59.9' });
    expect(order(2)?.status).toBe('cancelled');
    expect(position('BTC_USDT')).toBeUndefined();
  });

  test('cancel each other at the first partial fill', () => {
    create({ stopLoss: '60000', takeProfit: '64000' });
    trade('61200');

    trade('64000', '0.25');

    expect(order(1)?.status).toBe('cancelled');
    expect(order(2)).toMatchObject({ status: 'partially_filled', remaining: '0.75', reserved: '0' });
    expect(position('BTC_USDT')).toEqual(['0.75', '61200', '45900']);
  });

  test.each([
    ['stop-loss', 3],
    ['take-profit', 4],
  ])('cancel each other when a request cancels the %s', (_, offset) => {
    create({ stopLoss: '60000', takeProfit: '64000' });
    trade('61200');

    cancel(firstId + offset);

    expect(order(1)?.status).toBe('cancelled');
    expect(order(2)?.status).toBe('cancelled');
    expect(position('BTC_USDT')).toEqual(['1', '61200', '61200']);
  });

  test('where the trade passed the limit of the stop-loss: it is triggered, and rests until the price is back', () => {
    create({ stopLoss: '60000', takeProfit: '64000' });
    trade('61200');

    trade('58000');
    expect(order(1)).toMatchObject({ status: 'open', activated: true });
    expect(order(2)?.status).toBe('open');
    trade('59400');

    expect(order(1)).toMatchObject({ status: 'filled', filledNotional: '59400' });
    expect(order(2)?.status).toBe('cancelled');
  });

  test.each([
    ['stop-loss', { stopLoss: '60000' }, { type: 'stop_limit', activationPrice: '60000' }],
    ['take-profit', { takeProfit: '64000' }, { type: 'limit', price: '64000' }],
  ])('are one ordinary order if there is only a %s', (_, planned, expected) => {
    create(planned);

    trade('61200');

    expect(describeState(state).orders).toHaveLength(2);
    expect(order(1)).toMatchObject({ ...expected, status: 'open', reserved: '0' });
    expect(describeState(state).ocos).toEqual([]);
  });

  test('are placed once the whole order is filled', () => {
    create({ stopLoss: '60000', takeProfit: '64000' });

    trade('61200', '0.4');

    expect(describeState(state).orders).toHaveLength(1);
  });

  test('protect the filled part of an order that is then cancelled', () => {
    create({ stopLoss: '60000', takeProfit: '64000' });
    trade('61200', '0.4');

    cancel(firstId);

    expect(order(1)).toMatchObject({ type: 'stop_limit', amount: '0.4', status: 'open' });
    expect(order(2)).toMatchObject({ type: 'limit', amount: '0.4', status: 'open' });
    expect(collateral('USDT')?.reserved).toBe('0');
  });

  test('are not placed for an order cancelled before any of it filled', () => {
    create({ stopLoss: '60000', takeProfit: '64000' });

    cancel(firstId);

    expect(describeState(state).orders).toHaveLength(1);
  });

  test('are triggered at once by the trade that filled their order', () => {
    create({ price: '60500', stopLoss: '60000', takeProfit: '64000' });
    trade('61000');

    trade('59800');

    expect(order(0)).toMatchObject({ status: 'filled', filledNotional: '60500' });
    expect(order(1)).toMatchObject({ status: 'filled', filledNotional: '59800' });
    expect(order(2)?.status).toBe('cancelled');
  });

  test('of a sell order buy back', () => {
    create({
      side: 'sell',
      activationPrice: '59000',
      price: '58500',
      stopLoss: '60000',
      takeProfit: '55000',
    });

    trade('58900');

    expect(order(1)).toMatchObject({ side: 'buy', price: '60600', activationPrice: '60000', reserved: '0' });
    expect(order(2)).toMatchObject({ side: 'buy', price: '55000', reserved: '0' });
    trade('54000', '0.5');
    expect(order(2)).toMatchObject({ status: 'partially_filled', remaining: '0.5' });
    expect(position('BTC_USDT')).toEqual(['-0.5', '58900', '29450']);
  });

  test('reserve funds for the dearer leg when the position is gone already, and pass them on', () => {
    create({ price: '60500', stopLoss: '60000', takeProfit: '64000' });
    create({ side: 'sell', amount: '0.5', activationPrice: '61200', price: '61000' });
    trade('61000');
    trade('60500', '0.5');
    trade('61200');
    expect(position('BTC_USDT')).toBeUndefined();

    cancel(firstId);

    expect(order(2)).toMatchObject({ type: 'stop_limit', amount: '0.5', reserved: '29729.7' });
    expect(order(3)).toMatchObject({ type: 'limit', amount: '0.5', reserved: '0' });
    trade('64000', '0.2');
    expect(order(3)).toMatchObject({ status: 'partially_filled', remaining: '0.3', reserved: '19219.2' });
  });

  test('are cancelled at once, with the reason, when the account lacks the funds', () => {
    holdOnlyUsdt();
    create({
      side: 'sell',
      activationPrice: '59000',
      price: '59500',
      stopLoss: '60000',
      takeProfit: '55000',
    });
    create({ amount: '0.5', activationPrice: '58800', price: '59000' });
    trade('59000');
    trade('59500', '0.5');
    trade('58800');
    // When take-profit and stop-loss are placed, 29 992 USDT are free; the stop-loss needs 30 330.3.
    create({ amount: '16', price: '60583.1', activationPrice: '70000' });

    cancel(firstId);

    expect(order(3)).toMatchObject({ type: 'stop_limit', amount: '0.5', status: 'cancelled' });
    expect(order(3)?.endReason).toBe('AUTO_CANCELED_USER_MARGIN');
    expect(order(4)).toMatchObject({ type: 'limit', status: 'cancelled', endReason: null });
    expect(describeState(state).ocos[0]?.isOpen).toBe(false);
  });
});

describe('a perpetual', () => {
  const perpetual = (fields: OrderText) => create({ market: 'BTC_PERP', ...fields });
  const move = (price: string, volume?: string) => trade(price, volume, 'BTC_PERP');

  test('long has its whole notional as margin and pays the fee in the quote currency', () => {
    perpetual({});

    expect(collateral('USDT')).toEqual({ available: '938478.475', reserved: '61521.525' });
    move('61200');

    expect(position()).toEqual(['1', '61200', '61200']);
    expect(order(0)).toMatchObject({ status: 'filled', fee: '21.42' });
    expect(collateral('USDT')).toEqual({ available: '999978.58', reserved: '0' });
    expect(collateral('BTC')).toEqual({ available: '10', reserved: '0' });
  });

  test('closing order reserves nothing, and pays out the profit', () => {
    perpetual({});
    move('61200');

    perpetual({ side: 'sell', activationPrice: '62000', price: '61900' });
    expect(order(1)?.reserved).toBe('0');
    move('62000');

    expect(position()).toBeUndefined();
    expect(collateral('USDT')).toEqual({ available: '1000756.88', reserved: '0' });
    expect(describeState(state).counterparty).toEqual({ USDT: '-800' });
  });

  test('short profits from a fall, also when it is closed in parts', () => {
    perpetual({ side: 'sell', amount: '2', activationPrice: '59000', price: '58000' });
    move('58500');
    expect(position()).toEqual(['-2', '58500', '117000']);

    perpetual({ amount: '0.5', activationPrice: '57000', price: '57500' });
    move('57000');

    expect(position()).toEqual(['-1.5', '58500', '87750']);
    expect(describeState(state).counterparty).toEqual({ USDT: '-750' });
  });

  test('position has the average of its entries as base price, to eight decimals, and keeps it when a part is closed', () => {
    perpetual({ amount: '0.001' });
    move('61000');
    perpetual({ amount: '0.002', activationPrice: '61000.1', price: '61500' });
    move('61000.1');
    expect(position()).toEqual(['0.003', '61000.06666667', '183.1']);

    perpetual({ side: 'sell', amount: '0.001', activationPrice: '60000', price: '59000' });
    perpetual({ side: 'sell', amount: '0.002', activationPrice: '60000', price: '59000' });
    move('60000', '0.001');

    expect(position()).toEqual(['0.002', '61000.06666667', '122.1']);
    expect(describeState(state).counterparty).toEqual({ USDT: '1.00006666667' });
    move('60000');
    expect(position()).toBeUndefined();
    // The second sell rested at its limit of 59000 and was filled there.
    expect(describeState(state).counterparty).toEqual({ USDT: '5.00020000001' });
  });

  test('order larger than the position closes it and opens the rest in the other direction', () => {
    perpetual({});
    move('61200');

    perpetual({ side: 'sell', amount: '3', activationPrice: '60000', price: '59000' });
    expect(order(1)?.reserved).toBe('118041.3');
    move('60000');

    expect(position()).toEqual(['-2', '60000', '120000']);
    expect(order(1)).toMatchObject({ status: 'filled', reserved: '0' });
    expect(collateral('USDT')?.reserved).toBe('0');
  });

  test('position can be closed by one order only: a second one reserves funds for the position it may open', () => {
    perpetual({});
    move('61200');

    perpetual({ side: 'sell', amount: '0.6', activationPrice: '60000', price: '59000' });
    perpetual({ side: 'sell', amount: '0.6', activationPrice: '60000', price: '59000' });

    expect(order(1)?.reserved).toBe('0');
    expect(order(2)?.reserved).toBe('11804.13');
  });

  test('take-profit and stop-loss close the position, reserve nothing, and count once', () => {
    perpetual({ stopLoss: '60000', takeProfit: '64000' });
    move('61200');
    expect(order(1)).toMatchObject({ side: 'sell', reserved: '0', status: 'open' });
    expect(order(2)).toMatchObject({ side: 'sell', reserved: '0', status: 'open' });

    perpetual({ side: 'sell', amount: '1', activationPrice: '63000', price: '63000' });
    expect(order(3)?.reserved).toBe('63022.05');
    move('64000', '1');

    expect(order(2)?.status).toBe('filled');
    expect(order(1)?.status).toBe('cancelled');
    expect(position()).toBeUndefined();
  });

  test('order that would open more than the account can pay for only closes the position', () => {
    holdOnlyUsdt();
    perpetual({ amount: '10' });
    move('61000');
    perpetual({ side: 'sell', amount: '10', activationPrice: '59500', price: '59000' });
    perpetual({ side: 'sell', amount: '6', activationPrice: '60000', price: '59000' });
    // The second sell closes 6 of the 10, so that the first closes 4 and would open 6.
    move('60000');
    create({ amount: '9', price: '75000', activationPrice: '90000' });

    move('59500');

    expect(order(2)).toMatchObject({ status: 'filled' });
    expect(order(1)).toMatchObject({
      status: 'cancelled',
      endReason: 'AUTO_CANCELED_USER_MARGIN',
      remaining: '6',
    });
    expect(position()).toBeUndefined();
    expect(describeState(state).counterparty).toEqual({ USDT: '12000' });
  });
});
