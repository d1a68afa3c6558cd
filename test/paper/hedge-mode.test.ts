import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { parseDecimal } from '../../lib/base/decimal.ts';
import { type PaperExchange, startPaperExchange } from '../../lib/paper/server/server.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { createPost, type Post, receive } from './paper-client.ts';

const clock = createManualClock(1_790_000_000_000);
const createPath = '/api/v4/order/collateral/stop-limit';
const limitPath = '/api/v4/order/collateral/limit';
const conditionalPath = '/api/v4/conditional-orders';
let folder: string;
let paper: PaperExchange;
let post: Post;

async function open(dialect: 'documented' | 'live' = 'live'): Promise<void> {
  const journalPath = join(folder, 'paper.sqlite');
  paper = await startPaperExchange({ port: 0, dialect, clock, walk: false, journalPath });
  post = createPost(paper.url);
}

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'paper-hedge-'));
});

afterEach(async () => {
  await paper.close();
  rmSync(folder, { recursive: true });
});

async function postHedge(body: unknown) {
  const response = await fetch(`${paper.url}/control/hedge`, { method: 'POST', body: JSON.stringify(body) });
  return receive(response);
}

const order = { market: 'BTC_PERP', side: 'buy', amount: '1', price: '61500', activation_price: '61000' };
const account = () => paper.control.state().accounts['main'];

/** Fills at once at the last price, 60000. */
function take(side: 'buy' | 'sell', positionSide: string, amount = '1', fields = {}) {
  const price = side === 'buy' ? '60500' : '59500';
  return post(limitPath, { market: 'BTC_PERP', side, amount, price, positionSide, ...fields });
}

function setLastPrice(price: string): void {
  paper.control.setPrice('BTC_PERP', parseDecimal(price));
}

const mismatch = {
  status: 422,
  body: {
    code: 114,
    message: 'Validation failed',
    errors: { hedgeMode: ["Order's position side does not match user's setting"] },
  },
};

const opposite = {
  status: 422,
  body: {
    code: 115,
    message: 'Validation failed',
    errors: { hedgeMode: ['Order would result in a new position in the opposite direction'] },
  },
};

describe('an account in one-way mode', () => {
  beforeEach(() => open());

  test.each(['LONG', 'SHORT'])('is refused an order of the position side %s', async (positionSide) => {
    expect(await post(createPath, { ...order, positionSide })).toEqual(mismatch);
    expect(await post(createPath, { ...order, market: 'BTC_USDT', positionSide })).toEqual(mismatch);
  });

  test.each([{}, { positionSide: 'BOTH' }])('places orders with %j', async (fields) => {
    expect(await post(createPath, { ...order, ...fields })).toMatchObject({
      status: 200,
      body: { positionSide: 'BOTH' },
    });
  });
});

describe('an account in hedge mode', () => {
  beforeEach(async () => {
    await open();
    paper.control.setHedgeMode('main', true);
  });

  test.each(['LONG', 'SHORT'])('places orders of the position side %s', async (positionSide) => {
    const side = positionSide === 'LONG' ? 'buy' : 'sell';

    expect(await post(createPath, { ...order, side, positionSide })).toMatchObject({
      status: 200,
      body: { side, positionSide },
    });
    expect(account()).toMatchObject({ hedgeMode: true });
    expect(paper.control.state().orders).toMatchObject([{ positionSide }]);
  });

  test.each([{}, { positionSide: 'BOTH' }])('is refused a perpetual order with %j', async (fields) => {
    expect(await post(createPath, { ...order, ...fields })).toEqual(mismatch);
  });

  test('trades spot markets as before: the mode applies to perpetual markets only', async () => {
    const spot = { ...order, market: 'BTC_USDT' };

    expect((await post(createPath, spot)).body).toMatchObject({ positionSide: 'BOTH' });
    expect(await post(createPath, { ...spot, positionSide: 'LONG' })).toEqual({
      status: 422,
      body: {
        code: 30,
        message: 'Validation failed',
        errors: { positionSide: ['PositionSide field is available for futures markets only.'] },
      },
    });
  });

  test('has a long and a short position in one market, each with its own margin', async () => {
    await take('buy', 'LONG', '2');
    setLastPrice('60000');
    await take('sell', 'SHORT', '0.5');

    expect(account()?.positions).toEqual({
      // One at 60000 and one a level above, at 60060.
      'BTC_PERP LONG': { positionId: 30_000_000_001, amount: '2', basePrice: '60030', margin: '120060' },
      'BTC_PERP SHORT': { positionId: 30_000_000_002, amount: '-0.5', basePrice: '59999.9', margin: '30000' },
    });
    expect(await post('/api/v4/collateral-account/balance-summary')).toMatchObject({
      // 1 000 000 less the fees of both.
      body: expect.arrayContaining([expect.objectContaining({ asset: 'USDT', balance: '999947.4790175' })]),
    });
  });

  test('closes a position with the opposite side, and reserves nothing for it', async () => {
    await take('sell', 'SHORT');
    await post(createPath, {
      ...order,
      side: 'buy',
      price: '59500',
      activation_price: '59000',
      positionSide: 'SHORT',
    });
    expect(account()?.collateral['USDT']).toEqual({ available: '999979.000035', reserved: '0' });

    setLastPrice('59000');

    expect(account()?.positions).toEqual({});
    // 59999.9 sold and 59000 bought back, less the fees on both.
    expect(account()?.collateral['USDT']).toEqual({ available: '1000958.250035', reserved: '0' });
  });

  test.each([
    ['a sell order for a long position that does not exist', 'sell', 'LONG'],
    ['a buy order for a short position that does not exist', 'buy', 'SHORT'],
  ])('is refused %s, even while the other side has a position', async (_, side, positionSide) => {
    await (positionSide === 'LONG' ? take('sell', 'SHORT') : take('buy', 'LONG'));

    expect(await post(createPath, { ...order, side, positionSide })).toEqual(opposite);
  });

  test('is unchanged after a refused order', async () => {
    const before = paper.control.state();

    await post(createPath, { ...order, side: 'sell', positionSide: 'LONG' });
    await post(createPath, { ...order, amount: '100', positionSide: 'LONG' });

    expect(paper.control.state()).toEqual(before);
  });

  test('is refused an order that closes more than the position', async () => {
    await take('buy', 'LONG');

    expect(await take('sell', 'LONG', '1.001')).toEqual(opposite);
    expect(await take('sell', 'LONG', '1')).toMatchObject({ status: 200, body: { status: 'FILLED' } });
  });

  test('cancels an order whose position was closed before it fills', async () => {
    await take('buy', 'LONG');
    const stop = { ...order, side: 'sell', price: '58500', activation_price: '59000', positionSide: 'LONG' };
    await post(createPath, { ...stop, clientOrderId: 'stop' });
    await take('sell', 'LONG', '0.4');

    setLastPrice('58900');

    expect(account()?.positions).toEqual({});
    expect(
      await post('/api/v4/trade-account/order/history', { market: 'BTC_PERP', clientOrderId: 'stop' }),
    ).toMatchObject({
      body: { BTC_PERP: [{ status: 'AUTO_CANCELED_REDUCE_ONLY', dealStock: '0.6', positionSide: 'LONG' }] },
    });
  });

  test('places stop-loss and take-profit on the side of their order', async () => {
    await take('buy', 'LONG', '1', { stopLoss: '58000', takeProfit: '63000' });
    const placed = await post(conditionalPath);

    setLastPrice('63000');

    const leg = { side: 'sell', positionSide: 'LONG' };
    expect(placed.body).toMatchObject({ records: [{ type: 'oco', stopLoss: leg, takeProfit: leg }] });
    expect(account()?.positions).toEqual({});
  });

  test('keeps its mode and both positions across a restart', async () => {
    await take('buy', 'LONG');
    await take('sell', 'SHORT');
    const before = paper.control.state();
    await paper.close();

    await open();

    expect(paper.control.state()).toEqual(before);
    expect(await take('sell', 'LONG')).toMatchObject({ status: 200 });
    expect(await take('sell', 'BOTH')).toEqual(mismatch);
  });
});

describe('the hedge route', () => {
  beforeEach(() => open('documented'));

  test('switches one account and leaves the others', async () => {
    expect(await postHedge({ account: 'main', hedgeMode: true })).toEqual({
      status: 200,
      body: { account: 'main', hedgeMode: true },
    });

    const { accounts } = paper.control.state();
    expect([accounts['main']?.hedgeMode, accounts['second']?.hedgeMode]).toEqual([true, false]);
    expect(await post(createPath, { ...order, positionSide: 'LONG' })).toMatchObject({
      status: 200,
      body: { positionSide: 'LONG' },
    });
  });

  test('refuses while the account has orders or positions on a perpetual market, and only then', async () => {
    const busy = {
      status: 400,
      body: {
        error:
          'the account cannot change its mode while it has orders or positions on a perpetual market; cancel and close them first',
      },
    };
    await post(createPath, { ...order, market: 'BTC_USDT' });
    expect((await postHedge({ account: 'main', hedgeMode: true })).status).toBe(200);

    await post(createPath, { ...order, positionSide: 'LONG' });
    expect(await postHedge({ account: 'main', hedgeMode: false })).toEqual(busy);
    setLastPrice('61200');
    expect(await postHedge({ account: 'main', hedgeMode: false })).toEqual(busy);
    const closing = { side: 'sell', price: '60500', activation_price: '61000', positionSide: 'LONG' };
    await post(createPath, { ...order, ...closing });
    setLastPrice('60900');
    expect((await postHedge({ account: 'main', hedgeMode: false })).status).toBe(200);
  });

  test.each<[unknown, string]>([
    [{ account: 'main' }, 'hedgeMode'],
    [{ account: 'main', hedgeMode: 'on' }, 'hedgeMode'],
    [{ account: 'third', hedgeMode: true }, 'has no account "third"; it has main, second'],
  ])('says what is wrong with %j', async (body, reason) => {
    expect(await postHedge(body)).toEqual({ status: 400, body: { error: expect.stringContaining(reason) } });
  });
});
