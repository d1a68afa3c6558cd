import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { parseDecimal } from '../../lib/base/decimal.ts';
import { type PaperExchange, startPaperExchange } from '../../lib/paper/server/server.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { createPost, type Post, type Received, refusal, secondKey } from './paper-client.ts';

const clock = createManualClock(1_790_000_000_000);
let folder: string;
let paper: PaperExchange;
let post: Post;

const open = () =>
  startPaperExchange({
    port: 0,
    dialect: 'live',
    clock,
    walk: false,
    journalPath: join(folder, 'paper.sqlite'),
  });

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'paper-modify-'));
  paper = await open();
  post = createPost(paper.url);
});

afterEach(async () => {
  await paper.close();
  rmSync(folder, { recursive: true });
});

const modifyPath = '/api/v4/order/modify';
const limitPath = '/api/v4/order/collateral/limit';
const triggerPath = '/api/v4/order/collateral/trigger-market';
const stopLimitPath = '/api/v4/order/collateral/stop-limit';
const ofMarket = { market: 'BTC_USDT' };
const limit = { ...ofMarket, side: 'buy', amount: '1', price: '50000' };

const idOf = ({ body }: Received) => (body as { orderId: number }).orderId;
const place = async (path: string, fields: object) => idOf(await post(path, { ...limit, ...fields }));
const modify = (fields: object) => post(modifyPath, { ...ofMarket, ...fields });
const trade = (price: string, volume?: string) =>
  paper.control.setPrice(
    'BTC_USDT',
    parseDecimal(price),
    volume === undefined ? undefined : parseDecimal(volume),
  );
const orderOf = (orderId: number) => paper.control.state().orders.find((order) => order.orderId === orderId);

describe('a modified order', () => {
  test('has a new id and its client order id, and the old one is cancelled', async () => {
    const orderId = await place(limitPath, { clientOrderId: 'mine', reduceOnly: false });

    const modified = await modify({ orderId, price: '51000', amount: '0.5' });

    expect(modified).toEqual({
      status: 200,
      body: {
        orderId: orderId + 1,
        clientOrderId: 'mine',
        market: 'BTC_USDT',
        side: 'buy',
        type: 'margin limit',
        timestamp: 1_790_000_000,
        feeAsset: 'USDT',
        dealMoney: '0',
        dealStock: '0',
        dealFee: '0',
        amount: '0.5',
        left: '0.5',
        price: '51000',
        status: 'OPEN',
        stp: 'no',
        postOnly: false,
        ioc: false,
        rpi: false,
        positionSide: 'BOTH',
        reduceOnly: false,
      },
    });
    expect(orderOf(orderId)).toMatchObject({ status: 'cancelled', reserved: '0' });
    // 25 500 and the taker fee.
    expect(paper.control.state().accounts['main']?.collateral['USDT']?.reserved).toBe('25525.5');
    expect(paper.control.state().acceptedCreates).toBe(1);
  });

  test('is named by either id, and keeps what the request leaves out', async () => {
    const orderId = await place(limitPath, { clientOrderId: 'mine', postOnly: true, stp: 'cn' });

    const first = await modify({ clientOrderId: 'mine', price: '51000' });
    const second = await modify({ orderId: String(idOf(first)), amount: '2' });

    expect([idOf(first), idOf(second)]).toEqual([orderId + 1, orderId + 2]);
    expect(second.body).toMatchObject({
      clientOrderId: 'mine',
      amount: '2',
      price: '51000',
      postOnly: true,
      stp: 'cn',
    });
  });

  test('stands behind the others of its price', async () => {
    const first = await place(limitPath, {});
    const second = await place(limitPath, {});
    const modified = idOf(await modify({ orderId: first, price: '50000' }));

    trade('50000', '1');

    expect([orderOf(second)?.status, orderOf(modified)?.status]).toEqual(['filled', 'open']);
  });

  test('that was filled in part goes on with the rest, and its fills stay with the old one', async () => {
    const orderId = await place(limitPath, {});
    trade('50000', '0.4');

    const modified = idOf(await modify({ orderId, price: '49000' }));

    expect(orderOf(orderId)).toMatchObject({ status: 'cancelled', filled: '0.4' });
    expect(orderOf(modified)).toMatchObject({ status: 'open', amount: '0.6', filled: '0' });
  });

  test('can fill at once', async () => {
    const orderId = await place(limitPath, {});

    expect((await modify({ orderId, price: '60000' })).body).toMatchObject({
      status: 'FILLED',
      dealStock: '1',
      dealMoney: '60000',
    });
  });

  test('may use the funds that the old one reserved, and no more', async () => {
    for (const ticker of ['BTC', 'ETH', 'SOL'])
      paper.control.setFunds('main', 'collateral', ticker, parseDecimal('0'));
    paper.control.setFunds('main', 'collateral', 'USDT', parseDecimal('51051'));
    const orderId = await place(limitPath, {});

    const tooMuch = await modify({ orderId, price: '51000.01' });
    const modified = await modify({ orderId, price: '51000' });

    expect(tooMuch).toEqual(refusal('amount', 'Not enough balance.', 17));
    expect(modified.status).toBe(200);
    expect(paper.control.state().accounts['main']?.collateral['USDT']).toEqual({
      available: '0',
      reserved: '51051',
    });
  });

  test('that only reduces stays so, and is cut to the position', async () => {
    await post('/api/v4/order/collateral/market', { ...ofMarket, side: 'buy', amount: '1' });
    const orderId = await place(limitPath, { side: 'sell', price: '70000', reduceOnly: true, amount: '0.5' });

    expect((await modify({ orderId, amount: '3' })).body).toMatchObject({ amount: '1', reduceOnly: true });
  });

  test('survives a restart', async () => {
    const orderId = await place(limitPath, { clientOrderId: 'mine' });
    await modify({ orderId, price: '51000' });
    const state = paper.control.state();
    await paper.close();

    paper = await open();

    expect(paper.control.state()).toEqual(state);
  });
});

describe('a modified stop', () => {
  test.each(['activationPrice', 'activation_price'])('gets a new trigger price as %s', async (name) => {
    const orderId = await place(triggerPath, { side: 'sell', activation_price: '55000' });

    const { body } = await modify({ orderId, [name]: '57000' });
    trade('56900');

    expect(body).toMatchObject({
      type: 'trigger margin market',
      activation_price: '57000',
      activationCondition: 'lte',
      activated: 0,
    });
    expect(orderOf(orderId + 1)).toMatchObject({ status: 'filled' });
  });

  test('gets the direction of its trigger from the last price', async () => {
    const orderId = await place(stopLimitPath, { activation_price: '61000', price: '62000' });

    const { body } = await modify({ orderId, activationPrice: '59000' });

    expect(body).toMatchObject({ activation_price: '59000', activationCondition: 'lte', price: '62000' });
  });

  test('that buys for money on spot is changed by its total', async () => {
    const orderId = await place('/api/v4/order/stop_market', { amount: '600', activation_price: '61000' });

    const refused = await modify({ orderId, amount: '700' });
    const { body } = await modify({ orderId, total: '700' });

    expect(refused).toEqual(refusal('amount', 'Total field should be set for a buy stop market order.'));
    expect(body).toMatchObject({ type: 'stop market', amount: '700', left: '700' });
  });

  test('that was activated goes on resting at its new price', async () => {
    const orderId = await place(stopLimitPath, { side: 'sell', activation_price: '55000', price: '54000' });
    trade('50000');

    const refused = await modify({ orderId, activationPrice: '53000' });
    const { body } = await modify({ orderId, price: '53000' });
    trade('53000');

    expect(refused).toMatchObject({
      status: 400,
      body: { code: 158, errors: { activationPrice: ['Order is already activated.'] } },
    });
    expect(body).toMatchObject({ activated: 1, price: '53000', activation_price: '55000' });
    expect(orderOf(orderId + 1)).toMatchObject({ status: 'filled', filledNotional: '53000' });
  });
});

describe('a modification is refused', () => {
  const conditional = refusal('orderId', "Can't modify conditional order", 155);
  const unknown = {
    status: 400,
    body: {
      code: 2,
      message: 'Inner validation failed',
      errors: { orderId: ['Unexecuted order was not found.'] },
    },
  };

  test('of an order that is not open, or not of the account or market', async () => {
    const orderId = await place(limitPath, { clientOrderId: 'mine' });
    const change = { ...ofMarket, orderId, price: '51000' };

    expect(await modify({ orderId: 7, price: '51000' })).toEqual(unknown);
    expect(await modify({ clientOrderId: 'other', price: '51000' })).toEqual(unknown);
    expect(await post(modifyPath, { ...change, market: 'ETH_USDT' })).toEqual(unknown);
    expect(await post(modifyPath, change, secondKey)).toEqual(unknown);
    expect(orderOf(orderId)).toMatchObject({ status: 'open' });
  });

  test('of an order with planned exits, of a pair, and of an exit that the exchange made', async () => {
    const planned = await place(limitPath, { stopLoss: '49000' });
    const pair = await post('/api/v4/order/collateral/oco', {
      ...ofMarket,
      ...{ side: 'sell', amount: '1', price: '66000' },
      ...{ activation_price: '55000', stop_limit_price: '54000', clientOrderId: 'pair' },
    });
    await post(limitPath, { ...limit, price: '60000', stopLoss: '49000' });
    const exit = paper.control.state().orders.at(-1);

    expect(await modify({ orderId: planned, price: '51000' })).toEqual(conditional);
    expect(pair.status).toBe(200);
    expect(await modify({ clientOrderId: 'pair', price: '67000' })).toEqual(conditional);
    expect(await modify({ orderId: exit?.orderId, activationPrice: '48000' })).toEqual(
      refusal('orderId', "Can't modify take profit or stop loss order", 160),
    );
  });

  test.each<[object, string, string, number]>([
    [{}, 'amount', 'At least one of amount, total, price and activationPrice should be set.', 30],
    [{ amount: '1', total: '1' }, 'total', 'Only one of amount and total should be set.', 30],
    [{ total: '1' }, 'total', 'Total field is available for buy stop market orders only.', 30],
    [
      { activationPrice: '55000' },
      'activationPrice',
      'ActivationPrice field is not available for this order type.',
      30,
    ],
    [
      { clientOrderId: 'a', price: '1' },
      'orderId',
      'Only one of OrderId and ClientOrderId should be set.',
      30,
    ],
    [{ orderId: undefined, price: '1' }, 'orderId', 'OrderId field is required.', 30],
    [{ orderId: 'one', price: '1' }, 'orderId', 'OrderId field should be an integer.', 30],
    [{ price: '50000.001' }, 'price', 'Min price step = 0.01', 33],
    [{ amount: '0.000001' }, 'amount', 'Given amount is less than min amount 0.00001', 32],
    [{ amount: '100' }, 'amount', 'Not enough balance.', 17],
  ])('of a limit order with %j', async (fields, key, text, code) => {
    const orderId = await place(limitPath, {});
    const before = paper.control.state();

    expect(await modify({ orderId, ...fields })).toEqual(refusal(key, text, code));
    expect(paper.control.state()).toEqual(before);
  });

  test('of a stop with the price of a limit order, or at the last price', async () => {
    const orderId = await place(triggerPath, { side: 'sell', activation_price: '55000' });

    expect(await modify({ orderId, price: '54000' })).toEqual(
      refusal('price', 'Price field is not available for this order type.'),
    );
    expect(await modify({ orderId, activationPrice: '60000' })).toEqual(
      refusal('activationPrice', 'Activation price should not be equal to the last price'),
    );
  });

  test('of a post-only order that would take, which stays as it is', async () => {
    const orderId = await place(limitPath, { postOnly: true });

    expect(await modify({ orderId, price: '60000' })).toEqual(
      refusal('postOnly', "This order couldn't be executed as a maker order and was canceled.", 14),
    );
    expect(orderOf(orderId)).toMatchObject({ status: 'open', price: '50000' });
  });
});
